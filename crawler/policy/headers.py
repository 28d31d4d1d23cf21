"""Rules find response headers, and the times in them, here (RFC 9110, RFC 9111)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

Headers = Iterable[tuple[bytes, bytes]]
"""Header lines as they arrived, (name, value)."""

MAX_RETRY_AFTER_SECONDS = 30 * 86_400.0
_EPOCH = 1e9
"""A larger number of seconds is a moment: 30 years of pause, or a day of 2001 or later."""
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE | re.ASCII)

_USER_INFO = re.compile(r"//[^/?#\s@]*@")


def values_of(headers: Headers, name: bytes) -> list[str]:
    """The values of every line of this name (given in lower case), in order, as text."""
    return [value.decode("utf-8", "replace") for key, value in headers if key.lower() == name]


def max_age_seconds(headers: Headers) -> float | None:
    """Freshness that Cache-Control asks for; 0 for no-store and no-cache; None where it says nothing."""
    text = ",".join(values_of(headers, b"cache-control")).lower()
    if "no-store" in text or "no-cache" in text:
        return 0.0
    match = _MAX_AGE.search(text)
    return float(match[1]) if match else None


def retry_after_seconds(headers: Headers, now: float) -> float | None:
    """Seconds for which an answer asks to be left alone, at most 30 days; None where it says nothing readable.

    Retry-After (RFC 9110, section 10.2.3), else X-RateLimit-Reset beside an X-RateLimit-Remaining of 0: seconds since
    the epoch (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api), or a short number of them
    from now on, as others send it. A moment is counted from the Date of the same answer, by the clock that wrote both;
    from `now` where there is none.
    """
    lines = list(headers)
    now = next((at for value in values_of(lines, b"date") if (at := http_date(value)) is not None), now)
    for value in values_of(lines, b"retry-after"):
        if (number := _whole(value)) is not None:
            return min(number, MAX_RETRY_AFTER_SECONDS)
        if (when := http_date(value)) is not None:
            return min(max(when - now, 0.0), MAX_RETRY_AFTER_SECONDS)
    if "0" not in map(str.strip, values_of(lines, b"x-ratelimit-remaining")):
        return None
    ends = [number for value in values_of(lines, b"x-ratelimit-reset") if (number := _whole(value)) is not None]
    pauses = [max(end - now, 1.0) if end >= _EPOCH else end for end in ends]
    return min(max(pauses), MAX_RETRY_AFTER_SECONDS) if pauses else None


def _whole(value: str) -> float | None:
    digits = value.strip()
    return float(digits[:12]) if digits.isascii() and digits.isdigit() else None


def http_date(text: str) -> float | None:
    """Seconds since the epoch for a date of RFC 9110 section 5.6.7, RFC 5322 or ISO 8601; None where unreadable.

    A date without a zone is UTC.
    """
    raw = text.strip()[:64]
    try:
        when = datetime.fromisoformat(raw) if raw[:4].isdigit() else parsedate_to_datetime(raw)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def shown_url(url: str, limit: int = 200) -> str:
    """A URL from outside for a log or a record: escaped, cut, and without user name and password."""
    return escaped(_USER_INFO.sub("//…@", url), limit)


def escaped(text: str, limit: int = 512) -> str:
    """A raw value fit for a record: control characters escaped, at most `limit` UTF-8 bytes."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    return safe.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
