"""Hours of the day in which a domain may be crawled, as an allowlist entry gives them: `22:00-06:00 Europe/Berlin`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_HOURS = re.compile(r"([0-2]\d):([0-5]\d)\s*-\s*([0-2]\d):([0-5]\d)(?:\s+(\S{1,64}))?", re.ASCII)
EXPECTED = "expected hours and a time zone such as 22:00-06:00 Europe/Berlin (no zone = UTC)"


@dataclass(frozen=True, slots=True)
class Hours:
    """From `begin` on, until `end`: of the same day, or of the next where `end` is the earlier of the two."""

    begin: time
    end: time
    zone: str

    def __str__(self) -> str:
        return f"{self.begin:%H:%M}-{self.end:%H:%M} {self.zone}"

    def opens_at(self, now: float) -> float:
        """0 while they last, else when they begin next (both in seconds since the epoch)."""
        zone = ZoneInfo(self.zone)
        today = datetime.fromtimestamp(now, UTC).astimezone(zone).date()
        for days in (-1, 0, 1, 2):  # one of these days has a beginning ahead, also where a clock change swallows one
            day = today + timedelta(days=days)
            begin = datetime.combine(day, self.begin, zone).timestamp()
            last = day + timedelta(days=self.end <= self.begin)
            if now < datetime.combine(last, self.end, zone).timestamp():
                return 0.0 if begin <= now else begin
        raise AssertionError("hours begin every day")


@cache
def hours_of(text: str) -> Hours:
    """Read what stands in an allowlist. Raises: ValueError that says what was expected."""
    match = _HOURS.fullmatch(text.strip())
    if match is None or int(match[1]) > 23 or int(match[3]) > 23:
        raise ValueError(EXPECTED)
    begin, end = time(int(match[1]), int(match[2])), time(int(match[3]), int(match[4]))
    if begin == end:
        raise ValueError("expected two different times of the day; without hours a domain may be crawled all day")
    zone = match[5] or "UTC"
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{zone} is not a known time zone; {EXPECTED}") from None
    return Hours(begin, end, zone)
