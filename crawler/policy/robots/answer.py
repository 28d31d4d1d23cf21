"""The status of a robots.txt decides what it means, for how long, and how it is stored (RFC 9309, 2.3.1).

2xx                          the rules in the body
404, 410, other 4xx          no rules: everything is allowed
401, 402, 403, 429, 451      a denial: everything is disallowed until the next try (stricter than the RFC)
206, 408, 425, 5xx, nothing, hold: nothing may be fetched until the next try; a last good copy of the rules serves
endless redirects, or one    for up to 30 days
to nowhere or to a page, no
text
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from crawler.policy.headers import max_age_seconds, retry_after_seconds
from crawler.policy.robots import parse as robots
from crawler.wire.media import media_kind

LAST_GOOD_SECONDS = 30 * 86_400.0
"""How long the rules of the last good fetch serve while the host is in trouble (RFC 9309 section 2.3.1.4)."""
MIN_AGE_SECONDS = 60.0
"""A shorter Cache-Control does not make every page fetch robots.txt again."""

_DENIALS = frozenset({401, 402, 403, 429, 451})
_A_PART = 206
_PASSING_4XX = frozenset({408, 425})


class Reading(StrEnum):
    """How a robots.txt answer is read."""

    RULES = "rules"
    NO_RULES = "no_rules"
    DENIED = "denied"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Ages:
    """How long answers are believed, in seconds."""

    good: float = 86_400.0
    error: float = 3_600.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: `status` is None where there was no HTTP response, and `error` says why.

    is_certificate: because the host's certificate is not accepted. is_redirected: it came from another URL than was
    asked for.
    """

    status: int | None = None
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    error: str = ""
    is_certificate: bool = False
    is_redirected: bool = False


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """The answer as all workers share it. Times are in seconds since the epoch.

    With `stale`, `body` and `body_fetched_at` are those of the last good copy, `status` and `detail` of the failed try.
    """

    reading: Reading
    status: int | None
    detail: str
    fetched_at: float
    expires_at: float
    body: bytes = b""
    body_fetched_at: float = 0.0
    stale: bool = False
    is_certificate: bool = False

    @property
    def has_failed(self) -> bool:
        """True where the file could not be read, or was denied: the latest answer of the host says nothing for sure."""
        return self.stale or self.reading in {Reading.HOLD, Reading.DENIED}

    @property
    def sha256(self) -> str | None:
        """Hex digest of the body that decides; None where there is none."""
        return hashlib.sha256(self.body).hexdigest() if self.reading is Reading.RULES else None

    def keep_until(self) -> float:
        """When the shared copy may be forgotten: a body is kept as a last good copy beyond its freshness."""
        return max(self.expires_at, self.body_fetched_at + LAST_GOOD_SECONDS if self.body_fetched_at else 0.0)

    def dump(self) -> bytes:
        """JSON for the shared store."""
        values = dataclasses.asdict(self) | {"body": base64.b64encode(zlib.compress(self.body)).decode()}
        return json.dumps(values, separators=(",", ":")).encode()


def load(blob: bytes) -> RobotsRecord | None:
    """The record of a stored blob; None where it is not one (it is then fetched again)."""
    try:
        values = json.loads(blob)
        body = _inflate(base64.b64decode(values.pop("body"), validate=True))
        record = RobotsRecord(**values | {"body": body, "reading": Reading(values["reading"])})
        numbers = (record.fetched_at, record.expires_at, record.body_fetched_at)
        return record if all(isinstance(n, (int, float)) for n in numbers) else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, zlib.error):
        return None


def _inflate(packed: bytes) -> bytes:
    """What `dump` compressed; never more than it could have been. Raises: zlib.error, ValueError."""
    stream = zlib.decompressobj()
    body = stream.decompress(packed, robots.MAX_BYTES + 1)
    if not stream.eof:
        raise ValueError("the stored body is damaged")
    return body


Reader = Callable[[Answer], tuple[Reading, str]]
"""How the answers for one kind of file are read: the reading, and a detail where it is a denial or a hold."""


def judge(
    answer: Answer, now: float, ages: Ages, previous: RobotsRecord | None = None, read: Reader | None = None
) -> RobotsRecord:
    """The record for a fresh answer. `previous` is the expired record of the same file, for its last good copy.

    `read` replaces the reading of robots.txt for other control files.
    """
    reading, detail = (read or read_robots)(answer)
    if reading is Reading.RULES:
        until = now + _freshness(answer, ages.good)
        return RobotsRecord(reading, answer.status, detail, now, until, answer.body[: robots.MAX_BYTES + 1], now)
    if reading is Reading.NO_RULES:
        return RobotsRecord(reading, answer.status, detail, now, now + _freshness(answer, ages.good))
    until = now + max(ages.error, min(retry_after_seconds(answer.headers, now) or 0.0, ages.good))
    if previous and previous.body_fetched_at > now - LAST_GOOD_SECONDS:
        good, good_at = previous.body, previous.body_fetched_at
        reading = Reading.RULES if reading is Reading.HOLD else reading
        return RobotsRecord(reading, answer.status, detail, now, until, good, good_at, stale=True)
    return RobotsRecord(reading, answer.status, detail, now, until, is_certificate=answer.is_certificate)


def read_robots(answer: Answer) -> tuple[Reading, str]:
    """How an answer for robots.txt is read: the table at the top of this module."""
    status = answer.status
    if status is None:
        return Reading.HOLD, f"robots.txt is out of reach: {answer.error}"[:512]
    if 200 <= status < 300 and status != _A_PART and not answer.error:
        if answer.is_redirected and media_kind("", answer.body) == "html":
            return Reading.HOLD, "robots.txt redirects to a page"
        unreadable = robots.unreadable(answer.body)
        return (Reading.HOLD, unreadable) if unreadable else (Reading.RULES, "")
    if status in _DENIALS:
        return Reading.DENIED, f"robots.txt answered {status}"
    if 400 <= status < 500 and status not in _PASSING_4XX:
        return Reading.NO_RULES, f"robots.txt answered {status}"
    return Reading.HOLD, f"robots.txt answered {status}{': ' + answer.error if answer.error else ''}"[:512]


def _freshness(answer: Answer, longest: float) -> float:
    asked = max_age_seconds(answer.headers)
    return longest if asked is None else min(max(asked, MIN_AGE_SECONDS), longest)
