"""The health of a worker: its event loop turns, and the frontier answers it. Kubernetes asks at /live and /ready."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

BEAT_SECONDS = 1.0
LIVE_SECONDS = 60.0
"""A loop that has not turned for so long is stuck: nothing in it may take longer than a fraction of a second, and the
slowest start that was measured (models, a busy machine) held it up for a few seconds."""
READY_PART_OF_LEASE = 0.5
"""A busy worker extends its leases three times in a lease, an idle one asks several times a second. After half a lease
without an answer of the frontier no URL comes in any more, and soon those in hand are given to others."""


class Pulse:
    """Beats in the event loop; other threads read when it last did."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()

    async def beat(self) -> None:
        """Until cancelled."""
        while True:
            self._last = self._clock()
            await asyncio.sleep(BEAT_SECONDS)

    def problem(self) -> str:
        """Why the worker counts as stuck; empty where it does not."""
        age = self._clock() - self._last
        return f"the event loop has not turned for {age:.0f} s" if age > LIVE_SECONDS else ""


def silence(answered_at: float | None, lease_seconds: float, now: float) -> str:
    """Why no leases flow; empty where they do. answered_at: of the frontier; None = it was never asked."""
    if not answered_at:
        return "the frontier has not answered yet"
    age = now - answered_at
    if age > READY_PART_OF_LEASE * lease_seconds:
        return f"the frontier has not answered for {age:.0f} s; a lease ends after {lease_seconds:g} s"
    return ""
