"""Between the frontier and Scrapy's engine: leases in, requests out, outcomes back.

`next_request()` does no I/O: a task keeps a short local queue filled and wakes the engine when something arrives or
becomes due. Everything that goes to the server goes in batches. Every lease handed out ends in exactly one of: settled,
retried, held, put back, or, when the spider closes, released; an inspection catches what fell through.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import load_object

from crawler.frontier.batching import Batcher
from crawler.frontier.client import Frontier
from crawler.frontier.errors import FrontierMisconfigured
from crawler.frontier.flights import Flight, Flights
from crawler.frontier.gate import Exhausted, PolitenessGate, PutBack
from crawler.frontier.model import Batch, Candidate, Counts, Lease, Limits, Mode, Nack, PutStatus, Wire
from crawler.frontier.packing import url_hash
from crawler.frontier.server import EmbeddedServer
from crawler.frontier.traps import trap_reason
from crawler.frontier.urls import canonicalize
from crawler.runtime import config_of

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

    from crawler.config import Config

log = logging.getLogger(__name__)

_POLL = 0.25  # seconds; other workers make URLs ready without telling us
_INSPECTION = 1.0  # seconds between two looks for leases nobody works on
_MISSES = 3  # inspections
_LONGEST_BACKOFF = 600.0  # seconds
_REMEMBERED = 100_000  # URL hashes that need not be sent again
_TICKET_SECONDS = 1.0  # how soon after wait_turn() the request has to follow


class Scheduler(BaseScheduler):
    """Scrapy's SCHEDULER. The async methods are for spiders, pipelines and middlewares; times are epoch seconds."""

    frontier: Frontier

    def __init__(self, crawler: Crawler, config: Config) -> None:
        self._crawler = crawler
        self._config = config
        self._server: EmbeddedServer | None = None
        self._opened = self._finished = self._stopped = False
        self._flights = Flights()
        self._stir = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._known: OrderedDict[int, None] = OrderedDict()
        self._tickets: dict[str, float] = {}
        self._idle_since: float | None = None
        self._acks: Batcher[tuple[str, Wire | None], bool] = Batcher(self._send_acks)
        self._finishes: Batcher[tuple[str, Wire | None], None] = Batcher(self._send_finishes)
        self._puts: Batcher[list[Candidate], list[PutStatus]] = Batcher(self._send_puts, most=64)
        self.counts = Counts()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Called by Scrapy. Raises: ConfigError, FrontierMisconfigured."""
        if crawler.get_downloader_middleware(PolitenessGate) is None:
            raise FrontierMisconfigured(
                "DOWNLOADER_MIDDLEWARES lacks crawler.frontier.gate.PolitenessGate: requests would leave without "
                "regard to what other workers send to the same host; put it closest to the downloader"
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
        return not self._finished or bool(self._flights) or self._puts.busy or self._acks.busy

    def next_request(self) -> Request | None:
        """The next leased URL, None where nothing is at hand."""
        if not self._flights.ready or self._is_closing():
            return None
        lease = self._flights.ready.popleft()
        flight = self._flights.get(lease.token)
        if flight is None:
            return self.next_request()
        flight.request = self._request_of(lease)
        if not self._flights.ready:
            self._stir.set()
        return flight.request

    def enqueue_request(self, request: Request) -> bool:
        """Take a request that a spider or a middleware yields: its URL goes into the frontier, nothing else of it.

        Inside the flight of a lease (a redirect, a retry) the frontier decides too: the same URL is a failed try,
        another one is a new URL with the old one in its chain. False: it is not a plain GET of an http(s) URL.
        """
        url = canonicalize(request.url) if request.method == "GET" and not request.body else None
        if url is None:
            log.warning("refused %s %s: the frontier keeps plain GET requests only", request.method, request.url[:200])
            return False
        self._spawn(self._take(request, url))
        return True

    # --- for spiders and pipelines -----------------------------------------------------------------------------------
    async def put(self, candidates: list[Candidate]) -> list[PutStatus]:
        """Add canonical URLs to the frontier; returns once the server has them."""
        hashes = [url_hash(c.url) for c in candidates]
        fresh = [c for c, h in zip(candidates, hashes, strict=True) if h not in self._known]
        answers = iter(await self._puts(fresh) if fresh else ())
        result = [PutStatus.SEEN if h in self._known else next(answers, PutStatus.SEEN) for h in hashes]
        self._remember(h for h, s in zip(hashes, result, strict=True) if s in (PutStatus.QUEUED, PutStatus.SEEN))
        if PutStatus.QUEUED in result:
            self._stir.set()
        return result

    async def settle(self, token: str) -> None:
        """The URL is finished and everything it produced is durable. Harmless when repeated."""
        flight = self._flights.get(token)
        if flight is None or flight.settling:
            return
        flight.settling = True
        if not await self._acks((token, flight.wire(self.frontier.now()))):
            self._count("stale")
        self._flights.drop(token)
        self._stir.set()

    async def retry(self, token: str, not_before: float | None, reason: str) -> bool:
        """This try failed. `not_before=None`: exponential back-off with full jitter.

        False: no try is left. Then record the loss and `settle`, which makes it a dead letter.
        """
        flight = self._flights.get(token)
        if flight is None:
            return True
        now = self.frontier.now()
        at = not_before if not_before is not None else now + self._backoff(flight.lease.attempt)
        answer = await self.frontier.nack(token, at, reason, wire=flight.wire(now))
        if answer is Nack.EXHAUSTED:
            return False
        self._let_go(flight)
        return True

    async def hold(self, token: str, until: float, reason: str) -> None:
        """The URL cannot be judged before `until`; it waits aside and does not keep the crawl from ending."""
        flight = self._flights.get(token)
        if flight is not None:
            await self.frontier.hold(token, until, reason, wire=flight.wire(self.frontier.now()))
            self._let_go(flight)

    async def put_back(self, token: str, not_before: float) -> None:
        """The URL was not tried after all; costs no attempt."""
        flight = self._flights.get(token)
        if flight is not None:
            await self.frontier.nack(token, not_before, "", counted=False, wire=flight.wire(self.frontier.now()))
            self._let_go(flight)

    async def block(self, url: str, until: float, reason: str) -> None:
        """No worker asks the URL's politeness scope before `until`."""
        await self.frontier.block(self.frontier.scope_of(url), until, reason)

    async def wait_turn(self, url: str) -> None:
        """Wait until one extra request may go to the URL's host; it has to follow at once. Raises: PutBack."""
        scope = self.frontier.scope_of(url)
        for flight in self._flights.of_scope(scope):
            if self._owns_fresh_slot(flight):
                flight.slot_used = True
                break
        else:
            at, _ = await self.frontier.claim(scope, 0)
            await self._sleep_until(at)
        self._tickets[scope] = time.monotonic()

    async def turn(self, request: Request) -> None:
        """The gate's question: wait until this very request may be sent. Raises: PutBack, Exhausted."""
        lease = request.meta.get("lease")
        flight = self._flights.get(lease.token) if isinstance(lease, Lease) else None
        if flight is None:
            await self._turn_of_stranger(request.url)
            return
        if flight.lease.exhausted:
            raise Exhausted(flight.lease.reasons)
        if not self._owns_fresh_slot(flight):
            at, flight.slot = await self.frontier.claim(flight.lease.scope, 0 if flight.slot_used else flight.slot)
            await self._sleep_until(at)
        flight.slot_used = True
        flight.sent_at = self.frontier.now()

    async def _turn_of_stranger(self, url: str) -> None:
        scope = self.frontier.scope_of(url)
        if time.monotonic() - self._tickets.pop(scope, -_TICKET_SECONDS) >= _TICKET_SECONDS:
            await self.wait_turn(url)
            self._tickets.pop(scope, None)

    # --- life --------------------------------------------------------------------------------------------------------
    async def _open(self, spider: Spider) -> None:
        url = self._config.crawl.redis_url
        if url is None:
            self._server = EmbeddedServer(frontier_folder(self._config))
            url = await asyncio.to_thread(self._server.start)
        self.frontier = Frontier(
            url,
            self._config.crawl.crawl_id,
            limits_of(self._config),
            revive=self._revive if self._server else None,
            trap=trap_reason,
        )
        self._spider = spider
        try:
            await self.frontier.open()
        except BaseException:
            await self._leave()
            raise
        await self.frontier.requeue("due")
        self._opened = True
        self._crawler.signals.connect(self._on_answer, signals.request_left_downloader)
        self._spawn(self._fill())
        self._spawn(self._heartbeat())
        self._spawn(self._inspect())

    async def _close(self) -> None:
        if not self._opened:
            return
        self._stopped = True
        self._stir.set()
        for batcher in (self._puts, self._finishes, self._acks):
            await batcher.drain()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.frontier.release(self._flights.tokens())
        await self._leave()

    async def _leave(self) -> None:
        await self.frontier.close()
        if self._server is not None:
            await asyncio.to_thread(self._server.stop)

    async def _revive(self) -> None:
        assert self._server is not None
        await asyncio.to_thread(self._server.ensure)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._spawned_ended)

    def _spawned_ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the frontier failed: the crawl stops", exc_info=error)
            self._stop_crawl()

    def _stop_crawl(self) -> None:
        """A crawl without its frontier would wait for ever."""
        engine = self._crawler.engine
        if engine is not None and engine.spider is not None and not self._is_closing():
            self._spawn(engine.close_spider_async(reason="frontier_error"))

    # --- filling the local queue -------------------------------------------------------------------------------------
    async def _fill(self) -> None:
        while not self._stopped:
            if self._is_closing():
                await self.frontier.release(self._flights.take_unstarted())
                return
            room = self._room()
            if room > 0:
                batch = await self.frontier.lease(room)
                self._accept(batch)
                await self._rest(self._pause_after(batch, room))
            else:
                await self._rest(_POLL)

    def _accept(self, batch: Batch) -> None:
        for lease in batch.leases:
            self._flights.add(lease)
        if batch.leases:
            self._count("leased", len(batch.leases))
        if batch.counts is not None:
            self.counts = batch.counts
        self._note_idleness(batch)
        if batch.leases or self._finished:
            self._wake()

    def _note_idleness(self, batch: Batch) -> None:
        busy = batch.counts is None or batch.counts.pending > 0 or self._flights or self._puts.busy
        if busy:
            self._idle_since, self._finished = None, False
            return
        self._idle_since = self._idle_since or time.monotonic()
        patience = self._config.frontier.idle_seconds
        draining = batch.counts is not None and batch.counts.mode is Mode.DRAIN
        self._finished = draining or (patience > 0 and time.monotonic() - self._idle_since >= patience)

    def _pause_after(self, batch: Batch, room: int) -> float:
        if len(batch.leases) >= room:
            return _POLL
        longest = min(_POLL, self._config.frontier.idle_seconds / 4 or _POLL)
        if batch.next_ready_at is None:
            return longest
        return min(longest, max(0.002, batch.next_ready_at - self.frontier.now()))

    def _room(self) -> int:
        engine = self._crawler.engine
        if engine is None or engine.paused or engine.scraper.slot is None or engine.needs_backout():
            return 0
        return self._config.frontier.max_inflight - len(engine.downloader.active) - len(self._flights.ready)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stir.wait()
        except TimeoutError:
            return
        self._stir.clear()
        await asyncio.sleep(0)  # what else happens in this turn of the loop is served by the same lease call

    def _is_closing(self) -> bool:
        engine = self._crawler.engine
        slot = engine._slot if engine is not None else None
        return self._stopped or (slot is not None and slot.closing is not None)

    def _wake(self) -> None:
        engine = self._crawler.engine
        if engine is not None and engine._slot is not None:
            engine._slot.nextcall.schedule()

    def _request_of(self, lease: Lease) -> Request:
        spider: Any = self._spider
        callback = spider.parse_sitemap if lease.kind == "sitemap" else spider.parse
        meta = {"lease": lease, "download_slot": lease.scope}
        return Request(lease.url, callback=callback, errback=self._on_failure, dont_filter=True, meta=meta)

    def _on_failure(self, failure: Failure) -> Any:
        """What was put back is nobody's failure; everything else is the spider's to record."""
        if isinstance(failure.value, PutBack):
            request: Request = failure.request  # type: ignore[attr-defined]  # set by Scrapy
            return self.put_back(request.meta["lease"].token, failure.value.not_before)
        return self._spider.failed(failure)  # type: ignore[attr-defined]  # the seam every spider provides

    async def _take(self, request: Request, url: str) -> None:
        lease = request.meta.get("lease")
        if not isinstance(lease, Lease) or self._flights.get(lease.token) is None:
            depth = int(request.meta.get("depth", 0))
            await self.put([Candidate(url, request.priority, depth)])
        elif url == lease.url:
            if not await self.retry(lease.token, None, "asked again"):
                self._hand_out_as_exhausted(lease, "asked again")
        else:
            chain = (*lease.redirects, lease.url)
            await self.put([Candidate(url, lease.priority, lease.depth, lease.kind, chain)])
            await self.settle(lease.token)

    # --- looking after leases ----------------------------------------------------------------------------------------
    async def _heartbeat(self) -> None:
        while True:
            await asyncio.sleep(self._config.frontier.lease_seconds / 3)
            lost = await self.frontier.extend(self._flights.tokens())
            for token in lost:
                self._flights.drop(token)
            if lost:
                self._count("lost", len(lost))
                log.warning("%d leases had expired and went back to the frontier", len(lost))

    async def _inspect(self) -> None:
        """Find leases whose request left the engine without an outcome: an exception in a callback or a pipeline."""
        while True:
            await asyncio.sleep(_INSPECTION)
            engine = self._crawler.engine
            if engine is None or engine._slot is None:
                continue
            for flight in self._flights:
                working = flight.request is None or flight.settling or flight.request in engine._slot.inprogress
                flight.missed = 0 if working else flight.missed + 1
                if flight.missed >= _MISSES:
                    await self._recover(flight)

    async def _recover(self, flight: Flight) -> None:
        lease = flight.lease
        self._count("orphaned")
        log.error("nobody settled %s: it counts as a failed try", lease)
        if lease.exhausted:
            await self.settle(lease.token)
        elif not await self.retry(lease.token, None, "orphaned"):
            self._hand_out_as_exhausted(lease, "orphaned")

    def _hand_out_as_exhausted(self, lease: Lease, reason: str) -> None:
        self._flights.add(replace(lease, exhausted=True, reasons=(*lease.reasons, reason)))
        self._wake()

    def _on_answer(self, request: Request) -> None:
        """The request is over: its host may be asked again while the page is still worked on."""
        lease = request.meta.get("lease")
        flight = self._flights.get(lease.token) if isinstance(lease, Lease) else None
        if flight is None or flight.settling or flight.sent_at is None:
            return
        flight.answered_at = self.frontier.now()
        self._finishes.submit((flight.lease.token, flight.wire(flight.answered_at)))

    def _let_go(self, flight: Flight) -> None:
        self._flights.drop(flight.lease.token)
        self._stir.set()

    # --- small things ------------------------------------------------------------------------------------------------
    async def _send_acks(self, items: list[tuple[str, Wire | None]]) -> list[bool]:
        return await self.frontier.settle(items)

    async def _send_finishes(self, items: list[tuple[str, Wire | None]]) -> list[None]:
        await self.frontier.finish(items)
        self._stir.set()
        return [None] * len(items)

    async def _send_puts(self, lists: list[list[Candidate]]) -> list[list[PutStatus]]:
        answers = iter(await self.frontier.put([candidate for part in lists for candidate in part]))
        return [[next(answers) for _ in part] for part in lists]

    def _remember(self, hashes: Any) -> None:
        for h in hashes:
            self._known[h] = None
            self._known.move_to_end(h)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def _owns_fresh_slot(self, flight: Flight) -> bool:
        """A slot lasts a twentieth of its delay; used later it could fall together with the next one."""
        if flight.slot_used:
            return False
        granted = flight.lease.granted_at
        delay = flight.slot / 1000 - granted
        return delay <= 0.001 or self.frontier.now() - granted <= min(delay / 20, 0.1)

    async def _sleep_until(self, at: float) -> None:
        wait = at - self.frontier.now()
        if wait > self.frontier.limits.patience:
            raise PutBack(at)
        while (wait := at - self.frontier.now()) > 0:  # noqa: ASYNC110  # a sleep may end a moment early
            await asyncio.sleep(wait)

    def _backoff(self, attempt: int) -> float:
        base = self._config.frontier.retry_backoff_seconds
        return random.uniform(base / 2, max(base, min(base * 2**attempt, _LONGEST_BACKOFF)))

    def _count(self, name: str, n: int = 1) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"frontier/{name}", n)


def frontier_folder(config: Config) -> Path:
    """Where the embedded server keeps its data: under CORPUS_DIR, or the spool folder where that is remote."""
    folder = config.crawl.corpus_dir
    if "://" in folder:
        folder = config.storage.spool_dir or "."
    return Path(folder) / "frontier"


def limits_of(config: Config) -> Limits:
    """The frontier's limits as configured."""
    f = config.frontier
    return Limits(
        delay=f.delay_seconds,
        concurrency=f.concurrency,
        latency_factor=f.latency_factor,
        lease_seconds=f.lease_seconds,
        tries=f.retry_times + 1,
        max_pages=f.max_pages_per_domain,
        depth=f.depth_limit,
        patience=f.patience_seconds,
        scope_by=f.scope_by,
        shards=f.shards,
    )


def frontier_url(config: Config) -> str:
    """Address of the server the frontier lives on: `REDIS_URL`, else the embedded server's."""
    return config.crawl.redis_url or EmbeddedServer(frontier_folder(config)).url


def has_frontier(crawler: Crawler) -> bool:
    """True where the crawl runs on this scheduler. (`issubclass` would say yes to every scheduler: Scrapy's base class
    compares method names.)"""
    return Scheduler in load_object(crawler.settings["SCHEDULER"]).__mro__


def frontier_of(crawler: Crawler) -> Scheduler | None:
    """The scheduler of a running live crawl; None in a replay, which has no frontier."""
    if crawler.engine is None or not has_frontier(crawler):
        return None
    return cast("Scheduler | None", crawler.engine.scheduler)
