"""Looks after the leases in this worker's hands: keeps them alive, and finds those that nobody works on any more."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from crawler.number import number_of
from crawler.statkeys import LOST, ORPHANED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.statscollectors import StatsCollector

    from crawler.frontier.client import Frontier
    from crawler.scheduler.engine_view import EngineView
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
        *,
        recover: Callable[[Flight], Awaitable[None]],
    ) -> None:
        self._engine = engine
        self._stats = stats
        self._frontier = frontier
        self._in_flight = in_flight
        self._recover = recover

    async def keep_alive(self) -> None:
        """Extend all leases three times in their life; forget those that expired all the same."""
        while True:
            await asyncio.sleep(self._frontier.limits.lease_seconds / 3)
            await self._frontier.synchronize()
            await self.extend()

    async def extend(self) -> None:
        """Extend all leases in hand. One that the server does not know has expired, unless it ends just now."""
        unknown = map(self._in_flight.get, await self._frontier.extend(self._in_flight.tokens()))
        lost = [flight.lease.token for flight in unknown if flight is not None and not flight.ending]
        for token in lost:
            self._in_flight.drop(token)
        if lost:
            self._stats.inc_value(LOST, len(lost))
            log.warning("%s expired: their URLs are back in the queue", number_of(len(lost), "lease"))

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
