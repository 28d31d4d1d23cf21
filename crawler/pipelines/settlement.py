"""Every outcome is written down, then its lease is acknowledged: the one place where a URL's way ends.

Listens to Scrapy's signals, because they fire for every outcome, also for those no pipeline sees: kept, dropped, an
exception in a pipeline, an exception in a callback. A lease is settled only after the commit that covers its outcome.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import DropItem

from crawler.document import Document, Drop, DropReason
from crawler.pipelines.base import StageDrop
from crawler.pipelines.pool import pool_of
from crawler.pipelines.sink import Sink, sink_of
from crawler.storage.errors import StorageError
from crawler.storage.records import rejection_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure
    from typing_extensions import Self

    from crawler.frontier.scheduler import Scheduler

logger = logging.getLogger(__name__)


class Settlement:
    """Scrapy extension that closes the account of every leased URL."""

    def __init__(self, crawler: Crawler, sink: Sink) -> None:
        self._crawler = crawler
        self._sink = sink
        self._stopping = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the signals of this crawler."""
        settlement = cls(crawler, sink_of(crawler))
        connect = crawler.signals.connect
        connect(settlement.kept, signals.item_scraped)
        connect(settlement.dropped, signals.item_dropped)
        connect(settlement.broken_item, signals.item_error)
        connect(settlement.broken_callback, signals.spider_error)
        connect(settlement.closed, signals.spider_closed)
        return settlement

    @property
    def _frontier(self) -> Scheduler:
        scheduler: Scheduler = self._crawler.engine.scheduler  # type: ignore[union-attr,assignment]
        return scheduler

    async def kept(self, item: Document) -> None:
        """The record is on the disk already: acknowledge."""
        self._count("outcome/kept", item)
        await self._settle(item)

    async def dropped(self, item: Document, exception: DropItem) -> None:
        """Record the verdict, then acknowledge."""
        verdict = exception.verdict if isinstance(exception, StageDrop) else item.verdict
        await self._reject(item, verdict or Drop("pipelines", DropReason.STAGE_ERROR, f"dropped: {exception}"[:300]))

    async def broken_item(self, item: Document, failure: Failure) -> None:
        """A pipeline raised: our mistake, recorded as such. A storage failure ends the crawl instead."""
        if isinstance(failure.value, StorageError):
            self._stop(failure.value)
            return
        await self._reject(item, Drop("pipelines", DropReason.STAGE_ERROR, type(failure.value).__name__))

    def broken_callback(self, failure: Failure, response: Any, spider: Spider) -> None:
        """A callback raised: recorded under the URL of its request."""
        request = getattr(response, "request", None) or getattr(failure, "request", None)
        lease = request.meta.get("lease") if request is not None else None
        if lease is None:
            return
        doc = Document(url=lease.url, canonical_url=lease.url, lease_token=lease.token)
        doc.crawl_id, doc.worker_id = self._sink.crawl_id, self._sink.worker_id
        doc.verdict = Drop("spider", DropReason.STAGE_ERROR, type(failure.value).__name__)
        assert self._crawler.engine is not None
        # counted by the scraper at once, so that a closing spider waits for this outcome, too
        self._crawler.engine.scraper._start_itemproc_nowait(doc)

    async def closed(self, spider: Spider, reason: str) -> None:
        """Report what is still on hold, seal the files, stop the workers."""
        try:
            if reason == "finished":
                await self._report_held()
            await self._sink.close(self._crawler.stats.get_stats(), reason)  # type: ignore[union-attr]
        except StorageError as error:
            self._stop(error)
        finally:
            pool_of(self._crawler).close()

    async def _reject(self, doc: Document, verdict: Drop) -> None:
        doc.verdict = verdict
        try:
            await self._sink.reject(rejection_of(doc, verdict))
        except StorageError as error:
            self._stop(error)
            return
        self._count(f"outcome/rejected/{verdict.stage}/{verdict.reason}", doc)
        await self._settle(doc)

    async def _settle(self, doc: Document) -> None:
        if doc.lease_token is not None:
            await self._frontier.settle(doc.lease_token)

    async def _report_held(self) -> None:
        frontier = self._crawler.engine.scheduler  # type: ignore[union-attr]
        for url, reason, until in getattr(frontier, "held_at_end", ()):
            doc = Document(url=url, canonical_url=url)
            doc.crawl_id, doc.worker_id = self._sink.crawl_id, self._sink.worker_id
            verdict = Drop("policy", DropReason(reason), f"on hold until {until}")
            await self._reject(doc, verdict)

    def _count(self, key: str, doc: Document) -> None:
        stats = self._crawler.stats
        assert stats is not None
        stats.inc_value(key)
        for stage, seconds in doc.timings.items():
            stats.inc_value(f"stage/{stage}/cpu_seconds", seconds)  # type: ignore[arg-type]
            stats.inc_value(f"stage/{stage}/documents")

    def _stop(self, error: StorageError) -> None:
        """Nothing more can be recorded, so nothing more may be fetched; open leases go back to the frontier."""
        if self._stopping:
            return
        self._stopping = True
        logger.error("the crawl stops: %s", error)
        stats, engine = self._crawler.stats, self._crawler.engine
        assert stats is not None
        stats.set_value("outcome/storage_error", str(error))
        if engine is not None and engine.spider is not None:
            task = asyncio.ensure_future(engine.close_spider_async(reason="storage_error"))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
