"""For requests beside a crawl, at its pace: whose turn it is at a domain or an address, holds, delays, control files.

A guest hands out nothing and leases nothing. It asks the crawl's frontier for a turn as a worker does for a robots.txt,
so all workers and all guests of one crawl share one budget; the crawl's queue, its counts and its end do not change.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scrapy import signals

from crawler.frontier.client import Frontier
from crawler.frontier.configured import limits_of
from crawler.frontier.model import Counts, Mode
from crawler.frontier.overview import waits_for_workers
from crawler.frontier.rules import FOLLOW_SECONDS, visit_rules
from crawler.scheduler.hands import Hands
from crawler.scheduler.in_flight import InFlight
from crawler.scheduler.scheduler import Scheduler
from crawler.scheduler.stopping import stop_crawl
from crawler.scheduler.turned_away import PutBack
from crawler.scheduler.turns import Turns
from crawler.server.errors import FrontierError

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from crawler.frontier.model import Limits

log = logging.getLogger(__name__)


class GuestTurns(Turns):
    """A guest has no queue to put a request back into: it waits for an address as long as for a domain."""

    def _patience_of(self, request: Request) -> float:  # noqa: ARG002  # as of a page's request
        return self._frontier.limits.patience


class GuestScheduler(Scheduler):
    """Scrapy's SCHEDULER for a spider that sends its requests itself (`engine.download_async`)."""

    _limits: Limits
    _mode = Mode.RUN

    # --- Scrapy's interface ------------------------------------------------------------------------------------------
    def has_pending_requests(self) -> bool:
        """Nothing waits here."""
        return False

    def next_request(self) -> Request | None:
        """Nothing comes from here."""
        return None

    def enqueue_request(self, request: Request) -> bool:  # noqa: ARG002  # Scrapy's signature
        """Nothing is queued."""
        return False

    # --- turns -------------------------------------------------------------------------------------------------------
    async def wait_turn(self, url: str) -> None:
        """As a worker's, unless the crawl is paused. Raises: PutBack."""
        self._check_pause()
        await super().wait_turn(url)

    async def turn(self, request: Request) -> None:
        """As a worker's, unless the crawl is paused. Raises: PutBack."""
        self._check_pause()
        await super().turn(request)

    def charge(self, url: str, *, requests: int = 0, received: int = 0, browser_ms: float = 0.0) -> None:
        """A guest spends nothing of the crawl's limits."""

    async def has_pages_for(self, url: str) -> bool:
        """True while workers of the crawl have pages of this URL's politeness scope before them."""
        return await waits_for_workers(self.frontier, self.frontier.scope_of(url))

    @property
    def counts(self) -> Counts:
        """Of the crawl nothing is known here."""
        return Counts()

    def _check_pause(self) -> None:
        if self._mode is Mode.PAUSE:
            raise PutBack(self.frontier.now())

    # --- life --------------------------------------------------------------------------------------------------------
    async def _open(self, spider: Spider) -> None:  # noqa: ARG002  # as the scheduler's
        self._limits = limits_of(self._config)
        try:
            is_known = await self._enter()
        except FrontierError as error:
            self._stop_crawl(error)
            return
        if not is_known:
            log.warning(
                "no crawl %r at this server: the pace is shared with nobody but others like this; give the CRAWL_ID "
                "and the REDIS_URL of the crawl", self.frontier.crawl,
            )  # fmt: skip
        in_flight = InFlight()
        hands = Hands(self._stats, self.frontier, in_flight)
        self._turns = GuestTurns(self.frontier, in_flight, hands, lambda: self._engine.closing)
        self._opened = True
        self._crawler.signals.connect(self._on_answer, signals.request_left_downloader)
        for task in (self._follow(), self._keep_time(), self._turns.wakefulness.watch()):
            self._tasks.spawn(task)

    async def _enter(self) -> bool:
        url = await self._location.enter()
        self.frontier = Frontier(url, self._config.crawl.crawl_id, self._limits, revive=self._location.revive)
        try:
            await self.frontier.open()
            return await self._look()
        except BaseException:
            await self._leave()
            raise

    async def _close(self) -> None:
        if self._opened:
            await self._tasks.cancel()
            await self._leave()

    async def _look(self) -> bool:
        """The rules and the mode of the crawl as they are now. False: there is no such crawl."""
        is_known = await visit_rules(self.frontier, self._limits)
        mode = (await self.frontier.counts()).mode
        if mode is Mode.PAUSE and self._mode is not mode:
            log.warning("the crawl is paused: nothing is asked for until `gristmill frontier resume`")
        self._mode = mode
        return is_known

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(FOLLOW_SECONDS)
            await self._look()

    async def _keep_time(self) -> None:
        while True:
            await asyncio.sleep(self.frontier.limits.lease_seconds / 3)
            await self.frontier.synchronize()

    def _stop_crawl(self, error: BaseException) -> None:
        log.debug("the frontier failed", exc_info=error)
        stop_crawl(self._crawler, str(error) if isinstance(error, FrontierError) else f"the frontier failed: {error!r}")

    def stop(self, error: FrontierError) -> None:
        """The frontier cannot be used."""
        self._stop_crawl(error)

    def _on_answer(self, request: Request) -> None:
        self._turns.left(request)
