"""What an answer to /robots.txt means, for how long, and how it survives storage."""

from __future__ import annotations

import base64
import hashlib
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.document import DropReason
from crawler.policy.decide import decide_robots
from crawler.policy.headers import retry_after_seconds
from crawler.policy.robots.answer import LAST_GOOD_SECONDS, Ages, Answer, Reading, judge, load

NOW = 1_000_000_000.0
DAY, HOUR = 86_400.0, 3_600.0
RULES = b"User-agent: *\nDisallow: /x\n"


def record(answer: Answer, previous=None, now: float = NOW):
    return judge(answer, now, Ages(DAY, HOUR), previous)


@pytest.mark.parametrize(
    "status, reading",
    [
        *((status, Reading.RULES) for status in (200, 204)),
        *((status, Reading.NO_RULES) for status in (400, 404, 405, 406, 410, 418)),
        *((status, Reading.DENIED) for status in (401, 402, 403, 429, 451)),
        *((status, Reading.HOLD) for status in (None, 20, 100, 206, 301, 304, 408, 425, 500, 502, 503, 504, 599, 999)),
    ],
)
def test_each_status_has_its_reading(status, reading):
    assert record(Answer(status, RULES)).reading is reading


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><p>Home", b"\n<html>", b"\xef\xbb\xbf<html>", b"<h1>Moved</h1>"])
def test_a_redirect_to_a_page_is_no_permission_and_one_to_a_text_is_read(page):
    found = record(Answer(200, page, is_redirected=True))
    assert (found.reading, found.detail) == (Reading.HOLD, "robots.txt redirects to a page")
    assert record(Answer(200, RULES, is_redirected=True)).reading is Reading.RULES
    assert record(Answer(200, b"", is_redirected=True)).reading is Reading.RULES
    assert record(Answer(404, page, is_redirected=True)).reading is Reading.NO_RULES


def test_a_certificate_that_is_not_accepted_is_held_under_its_own_name():
    found = load(record(Answer(None, error="certificate of a.example not accepted", is_certificate=True)).dump())
    drop = decide_robots(found, None, "/", product_token="Bot", profile="strict", now=NOW).drop
    assert (drop.reason, drop.reason.is_hold) == (DropReason.HOLD_CERTIFICATE, True)
    assert "certificate of a.example not accepted" in drop.detail


def test_good_answers_are_believed_for_a_day_and_errors_for_an_hour():
    assert record(Answer(200, RULES)).expires_at == NOW + DAY
    assert record(Answer(404)).expires_at == NOW + DAY
    assert record(Answer(403)).expires_at == NOW + HOUR
    assert record(Answer(None, error="reset")).expires_at == NOW + HOUR


@pytest.mark.parametrize(
    "value, seconds",
    [
        (b"max-age=600", 600.0),
        (b"public, MAX-AGE=600", 600.0),
        (b"max-age=999999999", DAY),
        (b"max-age=1", 60.0),
        (b"no-cache", 60.0),
        (b"no-store, max-age=600", 60.0),
        (b"max-age=soon", DAY),
        (b"s-maxage=7", DAY),
    ],
)
def test_cache_control_shortens_the_time_but_never_lengthens_it(value, seconds):
    assert record(Answer(200, RULES, ((b"Cache-Control", value),))).expires_at == NOW + seconds


def test_retry_after_lengthens_the_time_until_the_next_try_up_to_a_day():
    for value, seconds in ((b"7200", 2 * HOUR), (b"60", HOUR), (b"99999999", DAY), (b"soon", HOUR)):
        assert record(Answer(503, b"", ((b"Retry-After", value),))).expires_at == NOW + seconds


def test_a_date_to_come_back_is_counted_by_the_clock_that_wrote_it():
    slow = ((b"Date", b"Sat, 08 Sep 2001 12:00:00 GMT"), (b"Retry-After", b"Sat, 08 Sep 2001 12:10:00 GMT"))
    assert retry_after_seconds(slow, NOW) == 600.0
    assert retry_after_seconds(slow[1:], NOW) == 0.0
    assert retry_after_seconds(((b"Date", b"today"), slow[1]), NOW) == 0.0


def test_the_last_good_copy_serves_for_thirty_days_and_then_no_more():
    good = record(Answer(200, RULES))
    stale = record(Answer(503), good, NOW + DAY)
    assert (stale.reading, stale.stale, stale.body, stale.status) == (Reading.RULES, True, RULES, 503)
    assert stale.body_fetched_at == NOW
    later = record(Answer(None, error="x"), stale, NOW + LAST_GOOD_SECONDS - 1)
    assert later.body == RULES
    assert record(Answer(503), later, NOW + LAST_GOOD_SECONDS + 1).reading is Reading.HOLD


def test_a_denial_is_not_overruled_by_a_last_good_copy_but_does_not_lose_it():
    denied = record(Answer(403), record(Answer(200, RULES)), NOW + DAY)
    assert denied.reading is Reading.DENIED
    assert record(Answer(500), denied, NOW + 2 * DAY).body == RULES


def test_a_vanished_robots_txt_makes_its_last_good_copy_forgotten():
    gone = record(Answer(404), record(Answer(200, RULES)), NOW + DAY)
    assert record(Answer(500), gone, NOW + 2 * DAY).reading is Reading.HOLD


def test_a_stored_record_comes_back_as_it_was():
    for answer in (Answer(200, RULES), Answer(404), Answer(403), Answer(None, error="ü\n")):
        made = record(answer)
        assert load(made.dump()) == made
    assert record(Answer(200, RULES)).sha256 == hashlib.sha256(RULES).hexdigest()


def test_the_shared_copy_is_kept_as_long_as_it_can_serve():
    assert record(Answer(200, RULES)).keep_until() == NOW + LAST_GOOD_SECONDS
    assert record(Answer(404)).keep_until() == NOW + DAY


def test_a_large_record_is_stored_small_and_a_stored_bomb_is_fetched_again():
    large = record(Answer(200, RULES * 100_000))
    assert len(large.dump()) < 20_000
    assert load(large.dump()) == large
    bomb = large.dump().replace(_packed(large.body), _packed(b"x" * 5_000_000))
    assert load(bomb) is None


def _packed(body: bytes) -> bytes:
    return base64.b64encode(zlib.compress(body))


@settings(deadline=None, derandomize=True)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_a_damaged_record_is_fetched_again(blob):
    assert load(blob) is None


@pytest.mark.parametrize("blob", [b"{}", b"[]", b"null", b'{"body": 7}', b'{"body": "", "reading": "x"}'])
def test_json_that_is_no_record_is_fetched_again(blob):
    assert load(blob) is None
