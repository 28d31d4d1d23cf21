"""Looks after the leases in this worker's hands: keeps them alive, and finds those that nobody works on any more."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from crawler.statkeys import ORPHANED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.statscollectors import StatsCollector

    from crawler.frontier.client import Frontier
    from crawler.scheduler.engine_view import EngineView
    from crawler.scheduler.hands import Hands
    from crawler.scheduler.in_flight import Flight, InFlight

log = logging.getLogger(__name__)

_INSPECTION = 1.0  # seconds between two looks
_MISSES = 3  # inspections in a row that find nobody


class Heartbeat:
    """Heartbeat and inspection. `recover` is awaited with every flight whose request left the engine unsettled."""

    def __init__(
        self,
        engine: EngineView,
        stats: StatsCollector,
        frontier: Frontier,
        in_flight: InFlight,
        hands: Hands,
        *,
        recover: Callable[[Flight], Awaitable[None]],
    ) -> None:
        self._engine = engine
        self._stats = stats
        self._frontier = frontier
        self._in_flight, self._hands = in_flight, hands
        self._recover = recover

    async def keep_alive(self) -> None:
        """Extend all leases three times in their life; forget those that expired all the same."""
        while True:
            await asyncio.sleep(self._frontier.limits.lease_seconds / 3)
            await self._frontier.synchronize()
            await self._hands.renew()

    async def inspect(self) -> None:
        """An exception in a callback or a pipeline must not keep a URL, nor the crawl from ending.

        A crawl that ends gives back what nobody settled: its own trouble, such as a full disk, is no try of the page.
        """
        while True:
            await asyncio.sleep(_INSPECTION)
            if not self._engine.is_open or self._engine.closing:
                continue
            for flight in self._in_flight:
                working = flight.request is None or flight.settling or self._engine.works_on(flight.request)
                flight.missed = 0 if working else flight.missed + 1
                if flight.missed >= _MISSES:
                    self._stats.inc_value(ORPHANED)
                    log.error("no outcome was recorded for %s; counted as a failed attempt", flight.lease)
                    await self._recover(flight)
