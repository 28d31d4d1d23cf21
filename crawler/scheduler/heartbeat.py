"""Looks after the leases in this worker's hands: keeps them alive, and finds those that nobody works on any more."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

    from crawler.frontier.client import Frontier
    from crawler.scheduler.in_flight import Flight, Flights

log = logging.getLogger(__name__)

_INSPECTION = 1.0  # seconds between two looks
_MISSES = 3  # inspections in a row that find nobody


class Custody:
    """Heartbeat and inspection. `recover` is awaited with every flight whose request left the engine unsettled."""

    def __init__(
        self, crawler: Crawler, frontier: Frontier, flights: Flights, recover: Callable[[Flight], Awaitable[None]]
    ) -> None:
        self._crawler = crawler
        self._frontier = frontier
        self._flights = flights
        self._recover = recover

    async def keep_alive(self) -> None:
        """Extend all leases three times in their life; forget those that expired all the same."""
        while True:
            await asyncio.sleep(self._frontier.limits.lease_seconds / 3)
            await self._frontier.synchronize()
            lost = await self._frontier.extend(self._flights.tokens())
            for token in lost:
                self._flights.drop(token)
            if lost:
                self._count("lost", len(lost))
                log.warning("%d leases had expired and went back to the frontier", len(lost))

    async def inspect(self) -> None:
        """An exception in a callback or a pipeline must not keep a URL, nor the crawl from ending."""
        while True:
            await asyncio.sleep(_INSPECTION)
            engine = self._crawler.engine
            if engine is None or engine._slot is None:
                continue
            for flight in self._flights:
                working = flight.request is None or flight.settling or flight.request in engine._slot.inprogress
                flight.missed = 0 if working else flight.missed + 1
                if flight.missed >= _MISSES:
                    self._count("orphaned", 1)
                    log.error("nobody settled %s: it counts as a failed try", flight.lease)
                    await self._recover(flight)

    def _count(self, name: str, n: int) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"frontier/{name}", n)
