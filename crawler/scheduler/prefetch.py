"""Keeps the scheduler's local queue filled, and knows when the crawl has nothing left to do."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from crawler.frontier.model import Batch, Counts, Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from crawler.config import FrontierConfig
    from crawler.frontier.client import Frontier
    from crawler.scheduler.in_flight import Flights
    from crawler.scheduler.start_urls import Door

_POLL = 0.25  # seconds; other workers make URLs ready without telling us
_SHORTEST = 0.002  # seconds


class Supply:
    """Leases what the engine can start at once, no more: a URL that waits here waits for nobody else.

    `finished`: nothing is queued or leased anywhere, and has not been for FRONTIER_IDLE_SECONDS. `counts`: how full the
    frontier was when it was last asked.
    """

    def __init__(
        self,
        crawler: Crawler,
        config: FrontierConfig,
        frontier: Frontier,
        flights: Flights,
        *,
        door: Door | None,
        putting: Callable[[], bool],
    ) -> None:
        self.finished = False
        self.counts = Counts()
        self._crawler = crawler
        self._config = config
        self._frontier = frontier
        self._flights = flights
        self._door = door
        self._putting = putting
        self._stir = asyncio.Event()
        self._idle_since: float | None = None
        self._stopped = False

    def stir(self) -> None:
        """Something changed: look again now."""
        self._stir.set()

    def refill(self) -> None:
        """There are new URLs: whatever idleness was noticed before them is over."""
        self._idle_since, self.finished = None, False
        self._stir.set()

    def stop(self) -> None:
        """No more leases."""
        self._stopped = True
        self._stir.set()

    @property
    def closing(self) -> bool:
        """True from the moment the spider begins to close."""
        engine = self._crawler.engine
        slot = engine._slot if engine is not None else None
        return self._stopped or (slot is not None and slot.closing is not None)

    def wake_engine(self) -> None:
        """Let the engine ask for requests, or notice that there are none left."""
        engine = self._crawler.engine
        if engine is not None and engine._slot is not None:
            engine._slot.nextcall.schedule()

    async def run(self) -> None:
        """Fill the queue until the spider closes; then give back what was not begun."""
        while not self.closing:
            room = self._room()
            if room <= 0:
                await self._rest(_POLL)
                continue
            if self._door is not None:
                await self._door.take()
            epoch = self._frontier.connection.epoch
            batch = await self._frontier.recall(await self._frontier.lease(room))
            self._accept(batch, epoch)
            await self._rest(self._pause_after(batch, room))
        await self._frontier.release(self._flights.take_unstarted())

    def _room(self) -> int:
        engine = self._crawler.engine
        if engine is None or engine.paused or engine.scraper.slot is None or engine.needs_backout():
            return 0
        return self._config.max_inflight - len(engine.downloader.active) - len(self._flights.ready)

    def _accept(self, batch: Batch, epoch: int) -> None:
        for lease in batch.leases:
            self._flights.add(lease, epoch)
        if batch.leases and self._crawler.stats is not None:
            self._crawler.stats.inc_value("frontier/leased", len(batch.leases))
        if batch.counts is not None:
            self.counts = batch.counts
        self._note_idleness(batch)
        if batch.leases or self.finished:
            self.wake_engine()

    def _note_idleness(self, batch: Batch) -> None:
        if batch.counts is None or batch.counts.pending > 0 or self._flights or self._putting():
            self._idle_since, self.finished = None, False
            return
        self._idle_since = self._idle_since or time.monotonic()
        patience = self._config.idle_seconds
        waited = patience > 0 and time.monotonic() - self._idle_since >= patience
        self.finished = waited or batch.counts.mode is Mode.DRAIN

    def _pause_after(self, batch: Batch, room: int) -> float:
        if len(batch.leases) >= room:
            return _POLL
        longest = min(_POLL, self._config.idle_seconds / 4 or _POLL)
        if batch.next_ready_at is None:
            return longest
        return min(longest, max(_SHORTEST, batch.next_ready_at - self._frontier.now()))

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stir.wait()
        except TimeoutError:
            return
        self._stir.clear()
        await asyncio.sleep(0)  # what else happens in this turn of the loop is served by the same lease call
