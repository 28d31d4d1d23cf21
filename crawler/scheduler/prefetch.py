"""Keeps the scheduler's local queue filled, and knows when the crawl has nothing left to do."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from crawler.frontier.model import Batch, Counts, Mode
from crawler.statkeys import LEASED, STANDSTILL
from crawler.times import Moment, moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.statscollectors import StatsCollector

    from crawler.config import FrontierConfig
    from crawler.frontier.client import Frontier
    from crawler.scheduler.engine_view import EngineView
    from crawler.scheduler.hands import Hands
    from crawler.scheduler.in_flight import InFlight
    from crawler.scheduler.put_queue import PutQueue
    from crawler.scheduler.spending import Purse
    from crawler.scheduler.start_urls import StartUrls

logger = logging.getLogger(__name__)

STANDSTILLS = {
    Mode.PAUSE: "the crawl is paused: no URL is handed out until `gristmill frontier resume`",
    Mode.DRAIN: "the crawl is draining: workers end; no URL is handed out until `gristmill frontier resume`",
}
_PAUSED = (
    "all that is left belongs to domains that are paused: the crawl waits until `gristmill frontier resume --domain D` "
    "(`gristmill frontier status` names them)"
)
_POLL = 0.25  # seconds; other workers make URLs ready without telling us
_SHORTEST = 0.002  # seconds
_HURRY = 2.0  # seconds between two requests to bring what waits into the store


class Prefetch:
    """Leases what the engine can start at once, no more: a URL that waits here waits for nobody else.

    `finished`: nothing is queued or leased anywhere, and has not been for FRONTIER_IDLE_SECONDS. `counts`: how full the
    frontier was when it was last asked. `may_begin`: False as long as nobody could judge a page yet.
    """

    def __init__(
        self,
        engine: EngineView,
        stats: StatsCollector,
        config: FrontierConfig,
        frontier: Frontier,
        in_flight: InFlight,
        *,
        start_urls: StartUrls | None,
        put_queue: Callable[[], PutQueue],
        nothing_else: Callable[[], None] = lambda: None,
        may_begin: Callable[[], bool] = lambda: True,
        hands: Hands,
        purse: Purse,
    ) -> None:
        self.finished = False
        self.counts = Counts()
        self._engine = engine
        self._stats = stats
        self._config = config
        self._frontier = frontier
        self._in_flight = in_flight
        self._start_urls = start_urls
        self._put_queue = put_queue
        self._epoch = frontier.connection.epoch
        self._nothing_else, self._may_begin, self._hands = nothing_else, may_begin, hands
        self.purse = purse
        self._hurried = 0.0
        self._stir = asyncio.Event()
        self._idle_since: float | None = None
        self._stopped = False
        self._standstill = ""

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
        return self._stopped or self._engine.closing

    async def run(self) -> None:
        """Fill the queue until the spider closes; then give back what was not begun."""
        await self.purse.begin()
        while not self.closing:
            may_begin = self._may_begin()
            room = self._room() if may_begin else 0
            await self._try_alone()
            if may_begin:
                room = await self.purse.room(room)
            if self.purse.empty:
                self._end_by_budget()
            if room <= 0:
                await self._rest(_POLL)
                continue
            if self._start_urls is not None:
                await self._start_urls.take()
            epoch, asked = self._frontier.connection.epoch, moment()
            in_hand = 0 if self._in_flight.is_idle else 1
            batch = await self._frontier.visits.recall(await self._frontier.lease(room, in_hand))
            await self._remind(asked[0])
            batch = await self.purse.admitted(batch)
            self._accept(batch, epoch, asked)
            await self.purse.took(room, len(batch.leases))
            await self._rest(self._pause_after(batch, room))
        await self._frontier.release(self._in_flight.take_unstarted())

    def _end_by_budget(self) -> None:
        """What is in hand is finished; what waits is left for a run that may spend more."""
        self.finished = not self._in_flight and not self._put_queue().busy
        if self.finished:
            self._engine.wake()

    async def _remind(self, asked: float) -> None:
        """A server that was restarted, or emptied, is told again what it may have forgotten."""
        if self._frontier.connection.epoch == self._epoch:
            self._put_queue().written(asked)
            return
        self._epoch = self._frontier.connection.epoch
        await self._put_queue().put_again()

    def _room(self) -> int:
        """URLs to ask for. One at a time: none before all is known that the page before it says about the order."""
        if self._in_flight.keeps_free:
            return 0
        room = self._engine.room(self._config.max_inflight) - len(self._in_flight.ready)
        return room if self._config.max_inflight > 1 else min(room, 1 - self._in_flight.unfinished)

    async def _try_alone(self) -> None:
        """A URL that a worker died with begins once all else is done; while it is in hand, the frontier hears that."""
        if (suspect := self._in_flight.suspect) is not None:
            if suspect.in_hand and not suspect.ending:
                await self._hands.take([suspect])
        elif self._in_flight.begin_alone():
            self._engine.wake()

    def _accept(self, batch: Batch, epoch: int, asked: Moment | None = None) -> None:
        for lease in batch.leases:
            self._in_flight.add(lease, epoch, asked)
        if batch.leases:
            self._stats.inc_value(LEASED, len(batch.leases))
        if batch.counts is not None:
            self.counts = batch.counts
            self._note_standstill(batch.counts)
        self._note_idleness(batch)
        if batch.leases or self.finished:
            self._engine.wake()

    def _note_standstill(self, counts: Counts) -> None:
        """Say it where nothing is handed out, once each time it begins; the summary says it again."""
        only_paused = counts.mode is Mode.RUN and 0 < counts.paused == counts.pending and not self._in_flight
        said = _PAUSED if only_paused else STANDSTILLS.get(counts.mode, "")
        if said and said != self._standstill:
            logger.warning("%s", said)
        if said != self._standstill:
            self._stats.set_value(STANDSTILL, said)
        self._standstill = said

    def _note_idleness(self, batch: Batch) -> None:
        if batch.counts is None or batch.counts.pending > 0 or self._in_flight or self._put_queue().busy:
            if batch.counts is not None and self._waits_for_delivery(batch.counts):
                self._hurried = time.monotonic()
                self._nothing_else()
            self._idle_since, self.finished = None, False
            return
        self._idle_since = self._idle_since or time.monotonic()
        patience = self._config.idle_seconds
        waited = patience > 0 and time.monotonic() - self._idle_since >= patience
        self.finished = waited or batch.counts.mode is Mode.DRAIN

    def _waits_for_delivery(self, counts: Counts) -> bool:
        """Nothing is queued, and all that this worker has in hand is on its way into the store: the crawl would end."""
        ends = self._config.idle_seconds > 0 or counts.mode is Mode.DRAIN
        rested = time.monotonic() - self._hurried >= _HURRY
        return ends and rested and counts.pending == counts.leased and self._in_flight.only_delivered

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
