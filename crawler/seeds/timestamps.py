"""When a page changed, as sitemaps and feeds say it: W3C date-time (ISO 8601 profile) or RFC 2822."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from email.utils import parsedate_to_datetime
from functools import lru_cache

_YEAR_OR_MONTH = re.compile(r"([0-9]{4})(?:-(0[1-9]|1[0-2]))?")


def parse_timestamp(text: str) -> float | None:
    """Seconds since the epoch (UTC where no zone is given), or None where the text is no date. Never raises."""
    text = text.strip()
    if not text or len(text) > 64 or not text.isascii():
        return None
    try:
        moment = _parsed(text)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return seconds if seconds >= 0 else None  # no page is older than the web


@lru_cache(maxsize=8)
def parse_day(text: str) -> float | None:
    """Seconds since the epoch at which a day (`2026-11-01`, UTC) begins; None for none. Raises: ValueError."""
    return datetime.combine(date.fromisoformat(text), time.min, UTC).timestamp() if text else None


def _parsed(text: str) -> datetime:
    if match := _YEAR_OR_MONTH.fullmatch(text):
        return datetime(int(match[1]), int(match[2] or 1), 1, tzinfo=UTC)
    if text[:1].isdigit() and text[4:5] in ("-", ""):
        return datetime.fromisoformat(text)
    return parsedate_to_datetime(text)
