"""Clocks, and how moments are written (RFC 3339)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], float]
"""Seconds since the epoch."""


def rfc3339(seconds: float, *, timespec: str = "milliseconds") -> str:
    """Seconds since the epoch as RFC 3339 in UTC, to the millisecond unless `timespec` says otherwise."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=timespec).replace("+00:00", "Z")
