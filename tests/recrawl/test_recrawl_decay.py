"""Is what came back still the page that was kept? Rules alone, without a server."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.document import Document, Drop, DropReason, Reason
from crawler.recrawl.decay import DecayLimits, Moves, Past, tombstone
from crawler.recrawl.visit import Intervals, Visit, visit_after

LIMITS = DecayLimits(share=0.25, quality=0.5)
PAST = Past(share=0.4, quality=0.8, characters=4000)
ID = "sha256:" + "12" * 32
WEEKLY = Intervals()


def page(
    share: float | None, quality: float | None, characters: int, verdict: Drop | None = None, **values
) -> Document:
    doc = Document(url="https://a.example/p", crawled_at="2026-03-01T10:00:00Z", content_hash="sha256:" + "ab" * 32)
    doc.extraction_yield, doc.quality_score, doc.char_count = share, quality, characters
    doc.verdict, doc.doc_id = verdict, ID
    for name, value in values.items():
        setattr(doc, name, value)
    return doc


def test_a_page_that_was_never_kept_cannot_decay():
    assert tombstone(page(0.001, 0.1, 10), None, LIMITS) is None


@pytest.mark.parametrize(
    ("share", "quality", "characters", "decayed"),
    [
        (0.4, 0.8, 4000, False),
        (0.05, 0.8, 1000, True),  # little text in much page
        (0.05, 0.8, 3000, False),  # the page around the text grew, the text did not shrink
        (0.3, 0.8, 1000, False),  # a shorter page, no more than that
        (0.4, 0.39, 4000, True),
        (0.4, 0.41, 4000, False),
        (0.4, None, 4000, False),
    ],
)
def test_a_text_far_below_its_own_history_has_decayed(share, quality, characters, decayed):
    found = tombstone(page(share, quality, characters), PAST, LIMITS)
    assert (found is not None) is decayed
    assert found is None or (found.stage, found.reason) == ("recrawl", DropReason.DECAYED)


def test_limits_of_nought_are_off():
    assert tombstone(page(0.001, 0.01, 10), PAST, DecayLimits(0, 0)) is None


@pytest.mark.parametrize(
    ("verdict", "title", "reason"),
    [
        (Drop("extraction", DropReason.TOO_SHORT, "9 words"), "Cookies", DropReason.DECAYED),
        (Drop("extraction", DropReason.TOO_SHORT, "9 words"), "404 Not Found", DropReason.GONE),
        (Drop("quality", DropReason.SOFT_404, "says so"), "Oh dear", DropReason.GONE),
        (Drop("quality", DropReason.LOGIN_WALL, "says so"), "Log in", DropReason.DECAYED),
        (Drop("language", DropReason.LANGUAGE_NOT_WANTED, "sv"), "Sida", None),
        (Drop("optout", DropReason.OPTOUT, "noai"), "No", None),
        (Drop("extraction", DropReason.STAGE_ERROR, "ours"), "Page", None),
    ],
)
def test_what_a_stage_says_of_a_page_that_was_kept_is_its_tombstone(verdict, title, reason):
    found = tombstone(page(0.1, None, 50, verdict, title=title), PAST, LIMITS)
    assert (found.reason if found else None) == reason


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    share=st.integers(0, 0xFFFF).map(lambda n: n / 0xFFFF),
    quality=st.none() | st.integers(0, 254).map(lambda n: n / 254),
    characters=st.integers(0, 2**32 - 1),
    text=st.just(b"") | st.binary(min_size=10, max_size=10),
    duplicate_at=st.integers(0, 2**32 - 1),
    etag=st.none() | st.just('"tag"'),
)
def test_a_visit_remembers_text_history_and_duplicates(share, quality, characters, text, duplicate_at, etag):
    past = Past(share, quality, characters)
    for kept in (past, None):
        made = Visit(1, 2, 3, b"d" * 16, etag=etag, text=text, past=kept, duplicate_at=duplicate_at)
        assert Visit.unpack(made.pack()) == made


def test_a_visit_that_was_stored_before_there_was_a_history_is_still_read():
    made = Visit(1, 2, 3, b"d" * 16, kept=True, reusable=True, etag='"tag"')
    assert len(made.pack()) == 38 + len('"tag"\n')
    assert Visit.unpack(made.pack()).was_kept


def test_the_history_follows_the_page_and_outlives_its_tombstone():
    first = visit_after(None, page(0.4, 0.8, 4000), WEEKLY, 0)
    assert first.past == Past(0.4, 0.8, 4000)
    again = visit_after(first, page(0.2, 0.6, 2000), WEEKLY, 0)
    assert (again.past.share, again.past.quality, again.past.characters) == pytest.approx((0.3, 0.7, 3000))
    gone = visit_after(again, page(None, None, 0, Drop("fetch", DropReason.GONE), content_hash=""), WEEKLY, 0)
    assert gone.past == again.past
    assert gone.was_kept


def test_a_text_is_let_go_by_a_final_verdict_only():
    kept = visit_after(None, page(0.4, 0.8, 4000), WEEKLY, 0)
    assert kept.text == bytes.fromhex("12" * 10)
    for reason in Reason.known():
        after = visit_after(kept, page(None, None, 0, Drop("any", reason)), WEEKLY, 0)
        assert after.text == (b"" if reason.is_final else kept.text), reason


def test_a_duplicate_remembers_when_it_was_judged_and_not_when_it_was_confirmed():
    duplicate = Drop("exact", DropReason.EXACT_DUPLICATE)
    judged = visit_after(None, page(0.4, 0.8, 4000, duplicate), WEEKLY, 0)
    same = page(None, None, 0, Drop("fetch", DropReason.UNCHANGED), crawled_at="2026-04-01T10:00:00Z", content_hash="")
    confirmed = visit_after(judged, same, WEEKLY, 0)
    assert judged.duplicate_at == confirmed.duplicate_at == judged.fetched_at < confirmed.fetched_at


# --- redirects -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("url", "target", "generic"),
    [
        ("https://a.example/x/page", "https://a.example/", True),
        ("https://a.example/x/page", "https://b.example/", True),
        ("https://a.example/x/page", "https://a.example/index.html", True),
        ("https://a.example/x/page", "https://a.example/x/", True),
        ("https://a.example/x/page", "https://a.example/x", True),
        ("https://a.example/x/page.html", "https://a.example/x/index.php", True),
        ("https://a.example/?p=5", "https://a.example/", True),
        ("https://a.example/", "https://www.a.example/", False),
        ("http://a.example/x/page", "https://a.example/x/page", False),
        ("https://a.example/x/page", "https://a.example/x/page/", False),
        ("https://a.example/x/page/", "https://a.example/x/page", False),
        ("https://a.example/x/page", "https://a.example/y/page", False),
        ("https://a.example/xy", "https://a.example/x", False),
        ("https://a.example/x/page", "https://b.example/x/", False),
        ("https://a.example/x/page", "https://a.example/?p=5", False),
    ],
)
def test_a_redirect_to_the_root_or_to_a_section_above_is_generic(url, target, generic):
    assert Moves().is_generic(url, target) is generic


def test_a_target_is_generic_from_the_third_page_on():
    moves = Moves()
    found = [moves.is_generic(f"https://a.example/{n}", "https://a.example/all-gone") for n in range(4)]
    assert found == [False, False, True, True]
    assert not moves.is_generic("https://a.example/9", "https://a.example/its-new-home")
