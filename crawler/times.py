"""Clocks, and how moments are written (RFC 3339)."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], float]
"""Seconds since the epoch."""
Moment = tuple[float, ...]
"""One reading of several clocks, in seconds."""
Moments = Callable[[], Moment]
_FROZEN_TOO = getattr(time, "CLOCK_BOOTTIME", None)


def moment() -> Moment:
    """Now, by a clock that nobody sets, by the system's, and by one that goes on while the machine is suspended."""
    now = (time.monotonic(), time.time())
    return now if _FROZEN_TOO is None else (*now, time.clock_gettime(_FROZEN_TOO))


def seconds_between(then: Moment, now: Moment) -> float:
    """The longest time that any of the clocks says has passed."""
    return max(late - early for early, late in zip(then, now, strict=True))


def rfc3339(seconds: float, *, timespec: str = "milliseconds") -> str:
    """Seconds since the epoch as RFC 3339 in UTC, to the millisecond unless `timespec` says otherwise."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=timespec).replace("+00:00", "Z")
