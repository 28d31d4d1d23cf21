"""Scrapy extension: metrics and health of a worker (METRICS_PORT)."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawler.observe.metrics.health import Pulse, silence
from crawler.pipelines.sink import sink_of
from crawler.pool.pool import pool_of
from crawler.runtime import config_of
from crawler.scheduler.scheduler import frontier_of, has_frontier
from crawler.scheduler.tasks import end

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from scrapy.crawler import Crawler

    from crawler.storage.files.throughput import Totals


class MetricsExtension:
    """Serves from the start of the crawl until everything is sealed."""

    def __init__(self, crawler: Crawler, host: str, port: int) -> None:
        self._crawler, self._host, self._port = crawler, host, port
        self._stack = ExitStack()
        self._pulse = Pulse()
        self._beating: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the start and the end of the crawl. Raises: NotConfigured with METRICS_PORT=0, without a word."""
        config = config_of(crawler).metrics
        if not config.port:
            raise NotConfigured
        extension = cls(crawler, config.host, config.port)
        crawler.signals.connect(extension.opened, signals.engine_started)
        crawler.signals.connect(extension.closed, signals.engine_stopped)
        return extension

    def opened(self) -> None:
        """Begin to serve. Raises: EndpointError where the port was taken since the start was checked."""
        from crawler.observe.metrics.endpoint import served  # a crawl without metrics does not load the client
        from crawler.observe.metrics.observed import Observed
        from crawler.observe.metrics.output import OutputCollector
        from crawler.observe.metrics.worker import WorkerCollector

        assert self._crawler.stats is not None
        self._beating = asyncio.ensure_future(self._pulse.beat())
        self._observed = Observed(lambda: pool.rebuilds if (pool := pool_of.existing(self._crawler)) else 0)
        self._crawler.signals.connect(self._observed.answered, signals.response_received)
        self._crawler.signals.connect(self._observed.judged, signals.item_scraped)
        self._crawler.signals.connect(self._observed.judged, signals.item_dropped)
        output = OutputCollector(self._written)
        collector = WorkerCollector(self._crawler.stats.get_stats, self._observed, output)
        probes = {"/live": self._pulse.problem, "/ready": self._not_ready}
        self._stack.enter_context(served(collector, self._host, self._port, probes))

    async def closed(self) -> None:
        """The endpoint ends with the crawl; counters do not outlive the process."""
        await end(self._beating)
        self._stack.close()

    def _written(self) -> Mapping[str, Totals]:
        sink = sink_of.existing(self._crawler)
        return {} if sink is None else sink.corpus.throughput.totals

    def _not_ready(self) -> str:
        """A replay has no frontier: it is ready while its loop turns."""
        if stuck := self._pulse.problem():
            return stuck
        if not has_frontier(self._crawler):
            return ""
        scheduler = frontier_of(self._crawler)
        frontier = getattr(scheduler, "frontier", None)  # there once the scheduler has been opened
        answered_at = frontier.connection.answered_at if frontier is not None else None
        return silence(answered_at, config_of(self._crawler).frontier.lease_seconds, time.monotonic())
