"""The scheduler gives Scrapy's engine leased requests and settles their outcomes with the frontier.

`next_request()` does no I/O: a task keeps a short local queue filled and wakes the engine when something arrives or
becomes due. Everything that goes to the server goes in batches. Every lease handed out ends in exactly one of: settled,
retried, held, put back, or, when the spider closes, released; an inspection catches what fell through.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from redis.exceptions import RedisError
from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import load_object

from crawler.config.limits import Limits
from crawler.frontier.claims import Claims, Identity
from crawler.frontier.client import Frontier
from crawler.frontier.configured import limits_of
from crawler.frontier.model import Counts, Fault, Lease, Mode, PutStatus
from crawler.frontier.rules import follow_rules, join_rules
from crawler.frontier.shapes import ShapeView, parked_kinds
from crawler.frontier.shared import SharedValues
from crawler.policy.facts import Pace
from crawler.runtime import config_of
from crawler.scheduler.acknowledge import Acknowledgements
from crawler.scheduler.ending import Ending
from crawler.scheduler.engine_view import EngineView
from crawler.scheduler.gate import PolitenessGate
from crawler.scheduler.hands import Hands
from crawler.scheduler.heartbeat import Heartbeat
from crawler.scheduler.held import bring_back_held
from crawler.scheduler.in_flight import Flight, InFlight
from crawler.scheduler.prefetch import Prefetch
from crawler.scheduler.put_queue import PutQueue
from crawler.scheduler.revisits import Revisits
from crawler.scheduler.spending import Purse
from crawler.scheduler.spider import JoinsCrawl, NamesUrls
from crawler.scheduler.start_urls import start_urls_of
from crawler.scheduler.stopping import close_soon, stop_crawl
from crawler.scheduler.tasks import Tasks
from crawler.scheduler.turned_away import PutBack
from crawler.scheduler.turns import Turns
from crawler.server.errors import FrontierError, FrontierMisconfigured
from crawler.server.location import ServerLocation
from crawler.times import Clock
from crawler.trouble import of_this_machine
from crawler.urls.canonicalize import Address, address
from crawler.urls.link import Link, link_to
from crawler.urls.traps import trap_reason

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

    from crawler.config import Config
    from crawler.document import Document
    from crawler.scheduler.stopping import close_soon, stop_crawl
from crawler.scheduler.spider import LeasedSpider

log = logging.getLogger(__name__)

_LAST_WORDS = 10.0  # seconds to reach the server when the spider closes


class Scheduler(BaseScheduler):
    """Scrapy's SCHEDULER. The async methods are for spiders, pipelines and middlewares; times are epoch seconds."""

    frontier: Frontier
    ending: Ending
    _spider: LeasedSpider
    _prefetch: Prefetch
    _turns: Turns
    _put_queue: PutQueue
    _revisits: Revisits
    _acknowledgements: Acknowledgements
    _address: Callable[[str], Address | None]

    def __init__(self, crawler: Crawler, config: Config) -> None:
        self._crawler = crawler
        self._engine = EngineView(crawler)
        self._config = config
        self._location = ServerLocation(config)
        self._opened = False
        self._claims: Claims | None = None
        self._in_flight = InFlight()
        self.on_nothing_else: Callable[[], None] = lambda: None  # called while outcomes are all that is waited for
        self._tasks = Tasks(self._stop_crawl)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Called by Scrapy. Raises: ConfigError, FrontierMisconfigured."""
        if crawler.get_downloader_middleware(PolitenessGate) is None:
            raise FrontierMisconfigured(
                "DOWNLOADER_MIDDLEWARES lacks crawler.scheduler.gate.PolitenessGate: requests would ignore what "
                "other workers send to the same host; put it closest to the downloader"
            )
        return cls(crawler, config_of(crawler))

    # --- Scrapy's interface ------------------------------------------------------------------------------------------
    def open(self, spider: Spider) -> Deferred[None]:
        """Connect. Raises (through the Deferred): FrontierUnavailable, FrontierMisconfigured, ServerError."""
        return deferred_from_coro(self._open(spider))

    def close(self, reason: str) -> Deferred[None]:  # noqa: ARG002  # Scrapy's signature
        """Send what waits, give back what was not settled, leave."""
        return deferred_from_coro(self._close())

    def has_pending_requests(self) -> bool:
        """True while this or any other worker has something to do, and FRONTIER_IDLE_SECONDS longer."""
        return (
            not self._prefetch.finished or bool(self._in_flight) or self._put_queue.busy or self._acknowledgements.busy
        )

    def next_request(self) -> Request | None:
        """The next leased URL, None where nothing is at hand."""
        if not self._in_flight.ready or self._prefetch.closing:
            return None
        lease = self._in_flight.ready.popleft()
        flight = self._in_flight.get(lease.token)
        if flight is None:
            return self.next_request()
        flight.request = self._request_of(lease)
        if not self._in_flight.ready:
            self._prefetch.stir()
        return flight.request

    def enqueue_request(self, request: Request) -> bool:
        """Take a request that a spider or a middleware yields: its URL goes into the frontier, nothing else of it.

        Inside the flight of a lease (a redirect, a retry) the frontier decides too: the same URL is a failed try,
        another one is a new URL with the old one in its chain. False: it is not a plain GET of an http(s) URL.
        """
        to = self._address(request.url) if request.method == "GET" and not request.body else None
        if to is None:
            log.warning("refused %s %s: the frontier keeps plain GET requests only", request.method, request.url[:200])
            return False
        self._tasks.spawn(self._take(request, to))
        return True

    # --- for spiders and pipelines -----------------------------------------------------------------------------------
    async def put(self, links: list[Link], parent: str | None = None) -> list[PutStatus]:
        """Add canonical URLs to the frontier; returns once the server has them.

        `parent` is the token of the page they were found on: they are put again where the server was restarted before
        that page is settled.
        """
        flight = self._in_flight.get(parent) if parent else None
        if flight is not None:
            flight.children += links
        return await self._put_queue.put(links, of_page=flight is not None)

    async def settle(
        self, token: str, doc: Document | None = None, delivery: asyncio.Future[None] | None = None
    ) -> None:
        """The URL is finished and everything it produced is durable. Harmless when repeated.

        `doc` is what became of it: remembered for its next visit. With `delivery` the URL is finished and its outcome
        is on its way: the lease lasts until the future is done, and returns to the frontier where it fails.
        """
        try:
            await self._acknowledgements.settle(token, doc, delivery)
        except FrontierError:
            raise
        except Exception as error:  # whatever it is: a page that cannot be settled would be waited for for ever
            self._stop_crawl(error)
            raise

    async def retry(self, token: str, not_before: float | None, reason: str, *, fault: Fault = Fault.URL) -> bool:
        """This try failed. `not_before=None`: exponential back-off with full jitter. `fault`: whose failure it was.

        False: no try is left. Then record the loss and `settle`, which makes it a dead letter.
        """
        return await self._acknowledgements.retry(token, not_before, reason, fault)

    async def hold(self, token: str, until: float, reason: str) -> None:
        """The URL cannot be judged before `until`; it waits aside and does not keep the crawl from ending."""
        await self._acknowledgements.hold(token, until, reason)

    async def claim(self, token: str, predecessor: str) -> None:
        """Take this worker's name for the process `token`; `predecessor` bore it and has certainly ended.

        Raises: NameTakenError where a live worker has it.
        """
        gone = predecessor if self._config.crawl.redis_url is not None else "*"  # our own server: the lock told all
        claims = Claims(self.frontier, Identity(self._config.crawl.worker_id, token, gone))
        await claims.enter()
        self._claims = claims
        self._tasks.spawn(claims.keep())

    async def put_back(self, token: str, not_before: float) -> None:
        """The URL was not tried after all; costs no attempt."""
        await self._acknowledgements.put_back(token, not_before)

    async def respell(self, token: str, link: Link) -> None:
        """The server names the URL in another spelling: it is asked again in that of `link`, at no cost of a try."""
        await self._acknowledgements.respell(token, link)

    async def hasten(self, links: list[Link]) -> None:
        """Pages that a sitemap lists with a change after our last visit are due at once, where RECRAWL is on."""
        if await self._revisits.hasten(links):
            self._prefetch.stir()

    async def texts_freed(self) -> None:
        """A text that several pages have lost its owner: the others are judged again at their next visit."""
        await self._revisits.freed(self.frontier.now())

    async def next_visits(self) -> tuple[int, float | None] | None:
        """How many URLs wait for their next visit and when the first is due; None where RECRAWL is off."""
        return await self.frontier.visits.next_visits() if self._config.frontier.recrawl else None

    async def unfinished(self) -> int:
        """How many URLs wait or are under way, for all workers; 0 where the server is away or answers with errors."""
        if not self._opened:
            return 0
        with suppress(TimeoutError, FrontierError, RedisError):
            async with asyncio.timeout(_LAST_WORDS):
                counts = await self.frontier.counts()
                return counts.queued + counts.leased
        return 0

    async def parked(self) -> tuple[ShapeView, ...]:
        """The kinds of links that are parked, of all workers; none where the server is away or answers with errors."""
        if not self._opened:
            return ()
        with suppress(TimeoutError, FrontierError, RedisError):
            async with asyncio.timeout(_LAST_WORDS):
                return await parked_kinds(self.frontier)
        return ()

    def charge(self, url: str, *, requests: int = 0, received: int = 0, browser_ms: float = 0.0) -> None:
        """Something was spent on a URL, for the limits of its seed; received: bytes."""
        if self._opened and self._prefetch.purse.seeds is not None:
            self._prefetch.purse.seeds.charge(url, requests=requests, received=received, browser_ms=browser_ms)

    async def has_ended(self) -> bool:
        """True where nothing is left for a later run to go on with: one that drains finishes and leaves what waits."""
        if self.has_pending_requests():
            return False
        leaves_work = self.counts.mode is Mode.DRAIN or await self._prefetch.purse.leaves_work()
        return not leaves_work or not await self.unfinished()

    async def block(self, url: str, until: float, reason: str) -> None:
        """No worker asks the URL's politeness scope before `until`."""
        await self.frontier.politeness.block(self.frontier.scope_of(url), until, reason)

    async def wait_turn(self, url: str) -> None:
        """Wait until one extra request may go to the URL's host; it has to follow at once. Raises: PutBack."""
        await self._turns.wait(url)

    async def turn(self, request: Request) -> None:
        """The gate's question: wait until this very request may be sent. Raises: PutBack, Exhausted."""
        await self._turns.turn(request)

    async def before_connecting(self, request: Request, address: str) -> None:
        """The download handler's first question: stand in the line of the address. Raises: PutBack."""
        await self._turns.before_connecting(request, address)

    async def before_writing(self, request: Request, address: str, patience: float) -> None:
        """Its last question, on the connection, which leads to this address. Raises: PutBack."""
        await self._turns.before_writing(request, address, patience)

    def is_in_time(self, request: Request) -> bool:
        """False where the request has to ask `before_writing` again: the machine was busy meanwhile."""
        return self._turns.is_in_time(request)

    def may_be_sent(self, request: Request) -> bool:
        """The wire's last question before it writes a request: False where its turn or its lease has passed."""
        return self._turns.may_be_sent(request)

    @property
    def _stats(self) -> StatsCollector:
        assert self._crawler.stats is not None
        return self._crawler.stats

    @property
    def shared(self) -> SharedValues:
        """What the workers of the crawl tell each other."""
        return self.frontier.shared

    @property
    def epoch(self) -> int:
        """Which server process is told what this worker knows: another one may have lost the last of it."""
        return self.frontier.connection.epoch

    @property
    def is_open(self) -> bool:
        """True once the frontier answers."""
        return self._opened

    @property
    def scopes(self) -> list[str]:
        """Politeness scopes of which this worker has URLs in hand, sorted."""
        return self._in_flight.scopes

    @property
    def counts(self) -> Counts:
        """How full the frontier was when it was last asked; costs nothing."""
        return self._prefetch.counts if self._opened else Counts()

    # --- life --------------------------------------------------------------------------------------------------------
    async def _open(self, spider: Spider) -> None:
        url, limits = await self._location.enter(), limits_of(self._config)
        self.frontier = Frontier(
            url, self._config.crawl.crawl_id, limits, revive=self._location.revive, trap=trap_reason
        )
        self._spider = cast("LeasedSpider", spider)
        self._address = spider.address if isinstance(spider, NamesUrls) else address
        try:
            await self.frontier.open()
            await join_rules(self.frontier, self._config)
            if await self.frontier.control.order_by_value():
                await self.frontier.control.requeue("parked")
        except BaseException:
            await self._leave()
            raise
        if await self._location.was_empty():
            await self.frontier.control.requeue("leased")
        await self.frontier.control.requeue("due")
        self._revisits = Revisits(self._stats, self._config.frontier, self.frontier)
        await self._revisits.begin()
        self._begin()

    def _begin(self) -> None:
        hands = Hands(self._stats, self.frontier, self._in_flight)
        limits = Limits.of(self._crawler.settings)
        purse = Purse(self._config, self._stats, self.frontier, self._in_flight, limits)
        self._turns = Turns(self.frontier, self._in_flight, hands, lambda: self._engine.closing)
        self._prefetch = Prefetch(
            self._engine,
            self._stats,
            self._config.frontier,
            self.frontier,
            self._in_flight,
            start_urls=start_urls_of(self._crawler, self.frontier, self.put, self._address),
            put_queue=lambda: self._put_queue,
            nothing_else=lambda: self.on_nothing_else(),  # noqa: PLW0108  # set later
            may_begin=lambda: not isinstance(self._spider, JoinsCrawl) or self._spider.has_joined,
            hands=hands,
            purse=purse,
        )
        self._put_queue = PutQueue(self.frontier, self._prefetch.refill)
        self._acknowledgements = Acknowledgements(
            self._stats,
            self.frontier,
            self._in_flight,
            self._revisits,
            hands,
            stir=self._prefetch.stir,
            failed=self._stop_crawl,
            backoff=self._config.frontier.retry_backoff_seconds,
            judged=purse.judged,
        )
        self.ending = Ending(self._engine, self._stats, self.frontier.connection, lambda: len(self._in_flight))
        heartbeat = Heartbeat(self._engine, self._stats, self.frontier, self._in_flight, hands, recover=self._recover)
        self._opened = True
        self._crawler.signals.connect(self._on_answer, signals.request_left_downloader)
        held = bring_back_held(self.frontier, self._config.frontier.idle_seconds)
        follow = follow_rules(self.frontier, self._config)
        watch = heartbeat.keep_alive(), heartbeat.inspect(), self.ending.run(), self._turns.wakefulness.watch()
        for task in (self._prefetch.run(), *watch, self._revisits.run(), held, follow):
            self._tasks.spawn(task)

    async def _close(self) -> None:
        if not self._opened:
            return
        self._prefetch.stop()
        try:
            async with asyncio.timeout(_LAST_WORDS):
                await self._put_queue.drain()
                await self._acknowledgements.drain()
                await self._prefetch.purse.leave()
                await self.frontier.release(self._in_flight.tokens())
                if self._claims is not None:
                    await self._claims.leave()
        except (OSError, FrontierError):  # a time-out among them, and a machine without descriptors
            log.warning("the frontier's server is unreachable: unsettled URLs return when their leases expire")
        finally:  # also from a frontier that answers with errors: the engine logs them
            await self._tasks.cancel()
            await self._leave()

    async def _leave(self) -> None:
        await self.frontier.close()
        with suppress(OSError):  # out of descriptors: the caretaker ends an embedded server that nobody uses
            await self._location.leave()

    def _stop_crawl(self, error: BaseException) -> None:
        """A crawl without its frontier would wait for ever."""
        if isinstance(error, FrontierError):
            self.stop(error)
            return
        if sentence := of_this_machine(error):
            stop_crawl(self._crawler, sentence)
            return
        log.error("the frontier failed: the crawl stops", exc_info=error)  # our mistake, so where it was counts
        self.ending.failed()
        if not self._prefetch.closing:
            close_soon(self._crawler, "frontier_error")

    def stop(self, error: FrontierError) -> None:
        """The frontier cannot be used: end the crawl with one sentence, whoever met it first."""
        self.ending.failed()
        if not self._prefetch.closing:
            stop_crawl(self._crawler, str(error), "frontier_error")

    # --- in and out of the engine ------------------------------------------------------------------------------------
    def _request_of(self, lease: Lease) -> Request:
        callback = self._spider.parse_sitemap if lease.kind == "sitemap" else self._spider.parse
        meta = {"lease": lease, "download_slot": lease.scope, "verbatim_url": True}
        return Request(lease.asked, callback=callback, errback=self._on_failure, dont_filter=True, meta=meta)

    def _on_failure(self, failure: Failure) -> Any:
        """What was put back is nobody's failure; everything else is the spider's to record."""
        if isinstance(failure.value, PutBack):
            request: Request = failure.request  # type: ignore[attr-defined]  # set by Scrapy
            return self.put_back(request.meta["lease"].token, failure.value.not_before)
        if isinstance(failure.value, FrontierError):
            return self.stop(failure.value)  # and no word on the page, which goes back with what is in hand
        return self._spider.failed(failure)

    async def _take(self, request: Request, to: Address) -> None:
        lease = request.meta.get("lease")
        if not isinstance(lease, Lease) or self._in_flight.get(lease.token) is None:
            await self.put([link_to(to, priority=request.priority, depth=int(request.meta.get("depth", 0)))])
        elif to.name == lease.url:
            if not await self.retry(lease.token, None, "asked again"):
                self._hand_out_as_exhausted(lease, "asked again")
        else:
            await self.put([lease.link.redirected(to)], lease.token)
            await self.settle(lease.token)

    async def _recover(self, flight: Flight) -> None:
        lease = flight.lease
        if lease.exhausted:
            await self.settle(lease.token)
        elif not await self.retry(lease.token, None, "orphaned"):
            self._hand_out_as_exhausted(lease, "orphaned")

    def _hand_out_as_exhausted(self, lease: Lease, reason: str) -> None:
        lost = replace(lease, exhausted=True, reasons=(*lease.reasons, reason))
        self._in_flight.add(lost, self.frontier.connection.epoch)
        self._engine.wake()

    def _on_answer(self, request: Request) -> None:
        self._turns.left(request)
        self._acknowledgements.answered(request)


def has_frontier(crawler: Crawler) -> bool:
    """True where the crawl runs on this scheduler. (`issubclass` would say yes to every scheduler: Scrapy's base class
    compares method names.)"""
    return _is_ours(crawler.settings["SCHEDULER"])


@cache
def _is_ours(scheduler: str | type[object]) -> bool:
    return Scheduler in load_object(scheduler).__mro__  # remembered: asked for every outcome


def frontier_of(crawler: Crawler) -> Scheduler | None:
    """The scheduler of a running live crawl; None in a replay, which has no frontier."""
    if crawler.engine is None or not has_frontier(crawler):
        return None
    return cast("Scheduler | None", crawler.engine.scheduler)


def clock_of(crawler: Crawler) -> Clock:
    """The time that all workers of a live crawl agree on (the server's), whatever this machine's clock says.

    Every time that is handed to the frontier is read here: a Retry-After counted from another clock would end at once,
    or hours too late. Without a frontier, and before it is open, this machine's clock.
    """

    def now() -> float:
        scheduler = frontier_of(crawler)
        return time.time() if scheduler is None or not scheduler.is_open else scheduler.frontier.now()

    return now


def pace_of(crawler: Crawler) -> Callable[[], Pace | None]:
    """The pace in force, which all workers of a live crawl share; None without a frontier and before it is open."""

    def now() -> Pace | None:
        scheduler = frontier_of(crawler)
        if scheduler is None or not scheduler.is_open:
            return None
        limits = scheduler.frontier.limits
        return Pace(limits.delay, limits.scope_by, limits.concurrency)

    return now
