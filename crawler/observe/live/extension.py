"""Scrapy extension: feeds the live progress, and prints the summary when everything is sealed."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawler.config.limits import Limits
from crawler.observe.live.counted import counters_of
from crawler.observe.report.summary import summarise
from crawler.runtime import config_of
from crawler.scheduler.tasks import end
from crawler.server.errors import FrontierError
from crawler.storage.files.errors import StorageError

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0


class ProgressExtension:
    """Shows how the crawl goes. PROGRESS: auto = live on a terminal and log lines elsewhere, on, off (no summary).

    What draws is imported where it is used: with PROGRESS=off it would be a part of the start that nobody sees.
    """

    def __init__(self, crawler: Crawler, mode: str, corpus_dir: str) -> None:
        from crawler.observe.console import on_stderr
        from crawler.observe.live.progress import Progress

        self._crawler, self._corpus_dir = crawler, corpus_dir
        is_live = {"auto": None, "on": True}[mode]
        self._progress = Progress(on_stderr(), clock=time.monotonic, live=is_live, limits=Limits.of(crawler.settings))
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the start and the end of the crawl. Raises: NotConfigured with PROGRESS=off, without a word."""
        config = config_of(crawler).crawl
        if config.progress == "off":
            raise NotConfigured
        extension = cls(crawler, config.progress, config.corpus_dir)
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.closed, signals.engine_stopped)
        return extension

    def opened(self) -> None:
        """Begin to show."""
        self._progress.start()
        self._task = asyncio.ensure_future(self._run())

    async def closed(self) -> None:
        """Every file is sealed: stop the live lines and print the summary."""
        from crawler.observe.console import answers_on
        from crawler.observe.live import run_end
        from crawler.observe.report import balance, terminal

        await end(self._task)
        self._progress.stop()
        try:
            summary = await asyncio.to_thread(summarise, self._corpus_dir, growing=True)
            found = await asyncio.to_thread(balance.read, summary, config_of(self._crawler).report)
        except StorageError as error:
            sys.stderr.write(f"error: no summary: {error}\n")
            return
        stats = self._crawler.stats.get_stats() if self._crawler.stats else {}
        more = chain(run_end.sections(stats), balance.sections(found))
        with suppress(SystemExit):  # rich's answer where `| head` has seen enough; the crawl has its own end to come to
            terminal.show(summary, answers_on(), more)

    async def _run(self) -> None:
        try:
            while True:
                with suppress(FrontierError):  # the crawl itself says what is wrong with the server
                    self._progress.tick(await counters_of(self._crawler))
                await asyncio.sleep(TICK_SECONDS)
        except Exception:
            logger.exception("progress is no longer shown; the crawl goes on")
