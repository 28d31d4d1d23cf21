"""A worker that stood still for a while (SIGSTOP, a frozen machine) sends nothing that it was allowed to send before.

Its turns at hosts have passed to others meanwhile, perhaps its leases, too. Two kinds of clocks are asked: one that a
changed system time does not move, and one that goes on while the machine is frozen.
"""

from __future__ import annotations

import asyncio

from crawler.times import Moments, moment, seconds_between

STANDSTILL_SECONDS = 0.5
"""How long the event loop may be held up before the turns that were given out count as passed."""
_TICK = 0.1


class Wakefulness:
    """Counts how often this worker stood still. A number that has changed since a turn was given ends that turn."""

    def __init__(self, moments: Moments = moment) -> None:
        self._moments = moments
        self._latest = moments()
        self._naps = 0

    @property
    def naps(self) -> int:
        """How often it stood still so far, looked at just now."""
        now = self._moments()
        if seconds_between(self._latest, now) > STANDSTILL_SECONDS:
            self._naps += 1
        self._latest = now
        return self._naps

    async def watch(self) -> None:
        """Look as long as the crawl lives: only what is looked at often shows a gap."""
        while True:
            await asyncio.sleep(_TICK)
            _ = self.naps
