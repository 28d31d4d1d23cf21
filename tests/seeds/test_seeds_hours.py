"""Hours of the day in which a domain may be crawled: read, refused, and counted through clock changes."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from crawler.problems import InputError
from crawler.seeds.allowlist import AllowlistEntry, parse_allowlist
from crawler.seeds.hours import hours_of
from crawler.seeds.scope import Scope, ScopeError

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str, zone: object = UTC) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hours", "now", "opens"),
    [
        ("22:00-06:00", "2026-11-22T23:00", None),
        ("22:00-06:00", "2026-11-22T05:59:59", None),
        ("22:00-06:00", "2026-11-22T06:00", "2026-11-22T22:00"),
        ("22:00-06:00", "2026-11-22T21:59:59", "2026-11-22T22:00"),
        ("22:00-06:00", "2026-11-22T22:00", None),
        ("09:00-17:30", "2026-11-22T09:00", None),
        ("09:00-17:30", "2026-11-22T17:30", "2026-11-23T09:00"),
        ("09:00-17:30", "2026-11-22T00:00", "2026-11-22T09:00"),
        ("00:00-06:00", "2026-12-31T23:00", "2027-01-01T00:00"),
    ],
)
def test_a_domain_is_open_from_the_first_time_to_the_second_and_else_waits_for_the_first(hours, now, opens):
    assert hours_of(hours).opens_at(at(now)) == (at(opens) if opens else 0.0)


def test_the_zone_is_that_of_the_site():
    berlin = hours_of("22:00-06:00 Europe/Berlin")
    assert berlin.opens_at(at("2026-07-01T19:59")) == at("2026-07-01T20:00")  # 22:00 in summer
    assert berlin.opens_at(at("2026-12-01T20:30")) == at("2026-12-01T21:00")  # 22:00 in winter


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
@pytest.mark.parametrize("hours", ["02:30-03:30", "22:00-02:30", "02:15-02:45", "03:00-02:00", "01:00-03:00"])
def test_at_a_clock_change_hours_begin_within_a_day_and_are_open_then(day, hours):
    made = hours_of(f"{hours} Europe/Berlin")
    midnight = at(f"{day}T00:00", BERLIN)
    for minutes in range(-600, 36 * 60, 5):
        now = midnight + 60 * minutes
        opens = made.opens_at(now)
        assert opens == 0.0 or now < opens <= now + 26 * 3600
        assert opens == 0.0 or made.opens_at(opens) == 0.0 or day == "2026-03-29"  # 02:15-02:45 is not there that day


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("22-6", "expected hours and a time zone such as 22:00-06:00 Europe/Berlin"),
        ("24:00-06:00", "expected hours"),
        ("22:00-22:00", "expected two different times"),
        ("22:00-06:00 Europe/Berlyn", "not a known time zone"),
        ("22:00-06:00 ../../etc/passwd", "not a known time zone"),
        ("22:00-06:00 /etc/localtime", "not a known time zone"),
    ],
)
def test_hours_that_cannot_be_read_are_named_with_their_line(text, complaint):
    with pytest.raises(InputError) as caught:
        parse_allowlist(f'- domain: a.org\n  tier: A\n  licence: x\n  hours: "{text}"\n'.encode(), "allow.yaml")
    (problem,) = caught.value.problems
    assert problem.startswith("allow.yaml:4:10: hours: ") and complaint in problem


@pytest.mark.parametrize("line", ["priority: 101", "priority: -1", "priority: high", "ttl_days: 0", "ttl_days: soon"])
def test_priorities_and_ages_out_of_range_are_named(line):
    with pytest.raises(InputError, match=rf"allow:1:\d+: {line.partition(':')[0]}: expected"):
        parse_allowlist(f"- {{domain: a.org, tier: A, licence: x, {line}}}".encode(), "allow")


def test_all_of_it_survives_its_way_through_the_frontier_and_is_checked_there():
    (entry,) = parse_allowlist(
        b'- {domain: a.org, tier: A, licence: x, hours: " 22:00 - 06:00", priority: 7, ttl_days: 1.5}'
    )
    assert (entry.hours, entry.priority, entry.ttl_days) == ("22:00-06:00 UTC", 7, 1.5)
    scope = Scope(entries=(entry,), clock=lambda: at("2026-11-22T12:00"))
    stored = scope.to_json()
    assert Scope.from_json(stored).entries == (entry,)
    assert scope.opens_at("https://sub.a.org/x") == (at("2026-11-22T22:00"), "22:00-06:00 UTC")
    assert scope.opens_at("https://b.org/") == (0.0, "")
    for wrong in (stored.replace("22:00-06:00 UTC", "always"), stored.replace('"priority":7', '"priority":"7"')):
        with pytest.raises(ScopeError):
            Scope.from_json(wrong)


def test_an_entry_without_hours_is_open_all_day():
    assert AllowlistEntry("a.org", "A", "x").opens_at(0.0) == 0.0
