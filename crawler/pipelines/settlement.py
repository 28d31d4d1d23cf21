"""Pipeline step `settlement`: every outcome is written down, then its lease is acknowledged.

The one place where a URL's way ends. It stands last among the pipelines and listens to Scrapy's signals, because these
fire for every outcome, also for those no pipeline sees: kept, dropped, an exception in a pipeline, an exception in a
callback. A lease is settled only after the commit that covers its outcome.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals

from crawler.document import Document, Drop, DropReason, Reason
from crawler.frontier.model import FOREVER, Mode
from crawler.frontier.shapes import parked_scopes, shapes_of
from crawler.frontier.unfinished import held
from crawler.number import number_of
from crawler.pipelines import brought
from crawler.pipelines.base import StageDrop, is_trouble, refuse_to_start, sentence_of
from crawler.pipelines.duplicate_index import release
from crawler.pipelines.foreign import ForeignVerdicts
from crawler.pipelines.recovered import settle_recovered
from crawler.pipelines.replaced import take_out_replaced
from crawler.pipelines.sink import Sink, sink_of
from crawler.policy.counts import PolicyCounts
from crawler.pool.pool import PoolError, StagePool, pool_of
from crawler.recrawl.visit import text_digest
from crawler.runtime import config_of
from crawler.scheduler.engine_view import EngineView
from crawler.scheduler.scheduler import Scheduler, clock_of, frontier_of
from crawler.scheduler.stopping import stop_crawl
from crawler.server.errors import FrontierError
from crawler.statkeys import (
    DEADLY,
    DEADLY_EXAMPLES,
    KEPT,
    LEFT_ON_HOLD,
    PARKED,
    RECRAWL_NEXT_AT,
    RECRAWL_WAITING,
    REJECTED,
    STAGES_CPU_MS,
    STOPPED_BY_ORDER,
    UNREACHED,
    UNREACHED_EXAMPLES,
    WAITING,
    judged,
    stage_documents,
    stage_seconds,
    stages_cpu_ms,
)
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import rejection_of
from crawler.times import rfc3339
from crawler.urls.canonicalize import registrable_domain

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.exceptions import DropItem
    from scrapy.statscollectors import StatsCollector
    from twisted.python.failure import Failure

    from crawler.frontier.client import Frontier

logger = logging.getLogger(__name__)

MAX_EXAMPLES = 5
HELD_AT_ONCE = 256
"""URLs on hold that are written together: each commit waits for the disk."""
_PARKED_KINDS = 20  # that a run counts
BREAKER = "breaker"
"""What a note begins with that the scripts leave where a host is left alone (`nack.lua`)."""
NOTE_SECONDS = 30.0
"""How often the counters of a running crawl are handed over: a killed run has them as they were then."""
HELD_REPORT_SECONDS = 30.0
"""Workers of one crawl end within this time of each other; only the first reports what is on hold."""


class Settlement:
    """Closes the account of every leased URL, and of the crawl."""

    def __init__(self, crawler: Crawler, sink: Sink, pool: StagePool) -> None:
        self._crawler = crawler
        self._engine = EngineView(crawler)
        self._sink = sink
        self._pool = pool
        self._config = config_of(crawler)
        self._policy = PolicyCounts()
        self._foreign = ForeignVerdicts()
        self._now = clock_of(crawler)
        self._began = 0.0
        self._noting: asyncio.Task[None] | None = None
        self._aside: set[asyncio.Task[None]] = set()  # held here, or they would be collected
        sink.on_failure.append(self._stop)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the signals of this crawler."""
        settlement = cls(crawler, sink_of(crawler), pool_of(crawler))
        connect = crawler.signals.connect
        connect(settlement.kept, signals.item_scraped)
        connect(settlement.dropped, signals.item_dropped)
        connect(settlement.broken_item, signals.item_error)
        connect(settlement.broken_callback, signals.spider_error)
        return settlement

    async def open_spider(self) -> None:
        """Open the corpus and load the models before the first page arrives.

        A second run loads them when a page has changed: where none has, they would be most of its cost.
        Raises: CloseSpider where either is impossible.
        """
        try:
            if not self._config.frontier.recrawl:
                await self._pool.ready()  # before the run begins for the manifest: loading models is not crawling
            scheduler = self._frontier
            recovered = await self._sink.open(None if scheduler is None else scheduler.claim)
            for file in recovered:
                cut = f", {file.cut_bytes} bytes of a torn record cut off" if file.cut_bytes else ""
                logger.warning("recovered %s of a crashed worker: %d records%s", file.path, file.documents, cut)
            if scheduler is not None:
                await settle_recovered(scheduler.frontier, self._config, self._sink.corpus, recovered)
                self._began = scheduler.frontier.now()
            self._noting = asyncio.ensure_future(self._note_now_and_then())
        except (StorageError, PoolError, FrontierError) as error:
            refuse_to_start(self._crawler, error)

    async def _note_now_and_then(self) -> None:
        """What a run has spent stands in the corpus before its end, which a kill takes from it."""
        while True:
            await asyncio.sleep(NOTE_SECONDS)
            counters = self._counters()
            self._sink.tell(lambda counters=counters: self._sink.corpus.note(counters))  # type: ignore[misc]

    async def process_item(self, doc: Document) -> Document:
        """Nothing left to decide."""
        return doc

    async def close_spider(self) -> None:
        """Report what is still on hold, seal the files, stop the workers."""
        if self._noting is not None:
            self._noting.cancel()
        try:
            await self._report_held()
            await self._report_waiting()
            await self._count_parked()
            await self._report_next_visits()
            await brought.report(self._frontier, self._stats)
            await self._sink.note(self._counters())
            await self._sink.close()
            scheduler = self._frontier
            again = self._config.frontier.recrawl or scheduler is None
            ended = scheduler is None or await scheduler.has_ended()
            server = None if scheduler is None else scheduler.frontier
            corpus = self._sink.corpus
            recorded = judged(self._stats.get_stats()) > 0
            await take_out_replaced(
                corpus.place, server, again=again, ended=ended, recorded=recorded, parts=corpus.parts
            )
        except (StorageError, FrontierError) as error:
            self._stop(error)
        finally:
            await asyncio.to_thread(self._pool.close)

    async def kept(self, item: Document) -> None:
        """The record is on the disk already: acknowledge."""
        hold = item.hold
        self._count(KEPT if hold is None else f"{REJECTED}/{hold.stage}/{hold.reason}", item)
        await self._settle(item)

    async def dropped(self, item: Document, exception: DropItem) -> None:
        """Record the verdict, then acknowledge. `DropItem` of a pipeline that is not ours is a final verdict, too."""
        if isinstance(exception, StageDrop):
            await self._reject(item, exception.verdict)
        elif item.verdict is not None:
            await self._reject(item, item.verdict)
        else:
            item.verdict = verdict = self._foreign.verdict(exception)
            await self._redact(item)
            await self._let_go(item)
            await self._reject(item, verdict)

    async def _redact(self, doc: Document) -> None:
        """A document dropped before the stage `pii`: its record may carry the text, redacted as that of any other."""
        if "pii" not in doc.done and doc.text and self._config.storage.rejected_text:
            try:
                doc.become(await self._pool.run(doc, ("pii",)))
            except PoolError as error:
                self._stop(error)

    async def _let_go(self, doc: Document) -> None:
        """A document dropped behind the duplicate steps: the text that it has claimed there is free again."""
        former, doc.former_text = doc.former_text, text_digest(doc.doc_id)
        await release(self._crawler, doc)
        doc.former_text = former

    async def broken_item(self, item: Document, failure: Failure) -> None:
        """A pipeline raised: our mistake, recorded as such. A storage failure ends the crawl instead."""
        if is_trouble(failure.value):
            self._stop(failure.value)
        else:
            await self._reject(item, Drop("pipelines", DropReason.STAGE_ERROR, type(failure.value).__name__))

    def broken_callback(self, failure: Failure, response: Any) -> None:
        """A callback raised: recorded under the URL of its request."""
        request = getattr(response, "request", None) or getattr(failure, "request", None)
        lease = request.meta.get("lease") if request is not None else None
        if is_trouble(failure.value):
            self._stop(failure.value)
        if lease is None or is_trouble(failure.value):
            return
        doc = self._blank(lease.url)
        doc.url, doc.lease_token = lease.asked, lease.token
        doc.verdict = Drop("spider", DropReason.STAGE_ERROR, type(failure.value).__name__)
        self._engine.expect()  # at once, so that a closing spider waits for this outcome, too
        task = asyncio.ensure_future(self._engine.scrape(doc))
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    @property
    def _stats(self) -> StatsCollector:
        assert self._crawler.stats is not None
        return self._crawler.stats

    @property
    def _frontier(self) -> Scheduler | None:
        return frontier_of(self._crawler)

    async def _reject(self, doc: Document, verdict: Drop) -> None:
        doc.verdict = verdict
        try:
            await self._sink.reject(rejection_of(doc, verdict, with_text=self._config.storage.rejected_text))
        except StorageError as error:
            self._stop(error)
            return
        if verdict.reason.is_final:
            await release(self._crawler, doc)  # an older text of this page is nobody's from now on
        self._count(f"{REJECTED}/{verdict.stage}/{verdict.reason}", doc)
        for key in self._policy.keys(verdict, doc.domain):
            self._stats.inc_value(key)
        if verdict.stage == "frontier" and verdict.reason is DropReason.STAGE_CRASHED:
            self._count_example(DEADLY, DEADLY_EXAMPLES, f"{doc.url}: {verdict.detail}")
        if verdict.reason.unreached:  # a first run in which every URL ends so has failed
            example = f"{doc.url}: {verdict.reason}, {verdict.detail}"
            self._count_example(UNREACHED, UNREACHED_EXAMPLES, example)
        await self._settle(doc)

    async def _settle(self, doc: Document) -> None:
        if doc.lease_token is not None and self._frontier is not None:
            self._frontier.on_nothing_else = self._sink.hasten
            try:
                await self._frontier.settle(doc.lease_token, doc, self._sink.delivery())
            except FrontierError as error:
                self._stop(error)
            except Exception as error:  # the scheduler has stopped the crawl
                if not is_trouble(error):
                    raise

    async def _report_held(self) -> None:
        """What this run leaves in the frontier for a later one; only where it ran to its end."""
        frontier = self._frontier
        if frontier is None or not await frontier.has_ended():
            return
        async with frontier.frontier.shared.single_flight("held-report"):
            reported = await frontier.frontier.shared.get_blob("held-report")
            if reported is not None and float(reported) >= self._began:
                return  # another worker, beside this one, has just said it
            told, some = 0, list[tuple[str, str, float]]()
            async for one in held(frontier.frontier):
                some.append(one)
                if len(some) == HELD_AT_ONCE:
                    told += await self._tell_held(some)
                    some = []
                if not self._crawler.crawling:  # a signal: whoever stops the crawl does not wait for a list
                    logger.warning("the list of URLs on hold is cut off: `gristmill frontier status` counts them")
                    break
            self._stats.set_value(LEFT_ON_HOLD, told + await self._tell_held(some))
            await self._report_parked(frontier.frontier)
            await frontier.frontier.shared.put_blob("held-report", b"%f" % frontier.frontier.now(), HELD_REPORT_SECONDS)

    async def _tell_held(self, urls: list[tuple[str, str, float]]) -> int:
        """Their records, which one commit makes durable together."""
        await asyncio.gather(*(self._tell_one_held(*one) for one in urls))
        return len(urls)

    async def _tell_one_held(self, url: str, why: str, until: float) -> None:
        reason, cause = hold_reason(why)
        when = f"tried again from {rfc3339(until)} on" if until < FOREVER else "tried again when it is resumed"
        await self._reject(self._blank(url), Drop("policy", reason, f"{when}{': ' + cause if cause else ''}"))

    async def _report_waiting(self) -> None:
        """For the summary of a run that was stopped or drained: how much is left to do."""
        if self._frontier is None or await self._frontier.has_ended():
            return
        self._stats.set_value(WAITING, await self._frontier.unfinished())
        if self._frontier.counts.mode is not Mode.RUN:
            self._stats.set_value(STOPPED_BY_ORDER, 1)

    async def _count_parked(self) -> None:
        """For the summary, however the run ended: the kinds of links that are parked, and how many."""
        if self._frontier is not None:
            for view in (await self._frontier.parked())[:_PARKED_KINDS]:
                self._stats.set_value(f"{PARKED}/{view.shape}", view.parked)

    async def _report_parked(self, frontier: Frontier) -> None:
        """One line for each kind of link that is parked: how many, why, and how they come back."""
        async for scope, _ in parked_scopes(frontier):
            for view in await shapes_of(frontier, scope):
                if view.parked:
                    like = number_of(view.parked, "link like this one is", "links like this one are")
                    detail = f"{like} parked: {view.reason}"
                    await self._reject(self._blank(view.example), Drop("frontier", DropReason.HOLD_BARREN, detail))

    async def _report_next_visits(self) -> None:
        """For the summary: how many pages a later run of this crawl will fetch again, and from when on."""
        found = await self._frontier.next_visits() if self._frontier is not None else None
        if found is None:
            return
        waiting, soonest = found
        self._stats.set_value(RECRAWL_WAITING, waiting)
        if soonest is not None:
            self._stats.set_value(RECRAWL_NEXT_AT, int(soonest))

    def _blank(self, url: str) -> Document:
        doc = Document(url=url, canonical_url=url, domain=registrable_domain(url), crawled_at=rfc3339(self._now()))
        doc.crawl_id, doc.worker_id = self._config.crawl.crawl_id, self._config.crawl.worker_id
        return doc

    def _counters(self) -> dict[str, int]:
        found = self._stats.get_stats()
        counters = {key: value for key, value in found.items() if isinstance(value, int)}
        return counters | {STAGES_CPU_MS: stages_cpu_ms(found)}

    def _count(self, key: str, doc: Document) -> None:
        add = self._stats.inc_value  # looked up once: Scrapy's class warns of old attributes at each look
        add(key)
        for stage, seconds in doc.timings.items():
            add(stage_seconds(stage), seconds)  # type: ignore[arg-type]  # a sum of seconds
            add(stage_documents(stage))

    def _count_example(self, key: str, examples: str, sentence: str) -> None:
        self._stats.inc_value(key)
        if len(known := self._stats.get_value(examples, [])) < MAX_EXAMPLES:
            self._stats.set_value(examples, [*known, sentence])

    def _stop(self, error: BaseException | None) -> None:
        """Nothing more can be judged or recorded, so nothing more may be fetched; open leases go back."""
        stop_crawl(self._crawler, sentence_of(error), "storage_error")


def hold_reason(why: str) -> tuple[Reason, str]:
    """The hold reason in a frontier's notes (one a line, newest last) and what was said about it.

    `hold_no_answer` where the latest is a failure, or the breaker of its host; `hold_rate_limited` where no note names
    a reason.
    """
    for line in reversed(why.splitlines()):
        reason, _, cause = line.partition(": ")
        known = Reason.of(reason)
        if reason == BREAKER or (known.is_failure and known.meaning):
            return DropReason.HOLD_NO_ANSWER, cause
        if known.is_hold and known.meaning:  # another version has others
            return known, cause
    return DropReason.HOLD_RATE_LIMITED, ""
