"""Scrapy extension: the metrics endpoint of a worker (METRICS_PORT)."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawler.runtime import config_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class MetricsExtension:
    """Serves from the start of the crawl until everything is sealed."""

    def __init__(self, crawler: Crawler, host: str, port: int) -> None:
        self._crawler, self._host, self._port = crawler, host, port
        self._stack = ExitStack()

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
        from crawler.observe.metrics.worker import WorkerCollector

        assert self._crawler.stats is not None
        self._stack.enter_context(served(WorkerCollector(self._crawler.stats.get_stats), self._host, self._port))

    def closed(self) -> None:
        """The endpoint ends with the crawl; counters do not outlive the process."""
        self._stack.close()
