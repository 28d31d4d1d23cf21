"""Archives through the same pipelines, without a network: after the spider, live crawl and replay are one.

Pages keep the order of the archive, whatever the timing of the workers, so that verdicts which depend on order (which
copy of a text came first) repeat.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from scrapy import Spider

from crawler.config import Config
from crawler.document import Document
from crawler.pipelines.archived import document_from_archive
from crawler.pipelines.pool import StagePool, pool_of
from crawler.pipelines.segments import first_segment
from crawler.runtime import config_of
from crawler.spiders.arguments import read_replay_arguments
from crawler.storage.replay import ArchivedResponse, ReadProblem, expand, read_archive

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

READ_AHEAD = 16  # records read from the archive in one go, in a thread


class ReplaySpider(Spider):
    """`scrapy crawl replay -a archive=GLOB_OR_URL`: nothing is requested, every archived page is judged again."""

    name = "replay"
    config: Config
    archive: str
    pool: StagePool
    hop: tuple[str, ...]
    custom_settings = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}  # noqa: RUF012  # Scrapy's own declaration

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Read and check the arguments.

        Raises: SeedError where `archive` is missing.
        """
        spider = super().from_crawler(crawler, *args)
        spider.config = config_of(crawler)
        spider.archive = read_replay_arguments(kwargs)
        spider.pool = pool_of(crawler)
        spider.hop = first_segment(crawler.settings)
        return spider

    async def start(self) -> AsyncIterator[Document]:
        """Yield one judged document per archived page, in the order of the archive."""
        window: deque[asyncio.Future[Document]] = deque()
        limit = 4 * max(1, self.pool.workers)
        async for response in self._responses():
            window.append(asyncio.ensure_future(self.pool.run(document_from_archive(response, self.config), self.hop)))
            if len(window) >= limit:
                yield await window.popleft()
        while window:
            yield await window.popleft()

    async def _responses(self) -> AsyncIterator[ArchivedResponse]:
        for name in await asyncio.to_thread(expand, self.archive):
            records = read_archive(name, on_problem=self._broken)
            while batch := await asyncio.to_thread(_take, records):
                for record in batch:
                    yield record

    def _broken(self, problem: ReadProblem) -> None:
        """Called in the reading thread: counting is all that happens here."""
        self.crawler.stats.inc_value("replay/broken_records")
        self.logger.warning("%s at byte %d: %s", problem.file, problem.offset, problem.what)


def _take(records: Iterator[ArchivedResponse]) -> list[ArchivedResponse]:
    return list(islice(records, READ_AHEAD))
