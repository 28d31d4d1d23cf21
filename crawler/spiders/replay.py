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
from scrapy.http import Headers

from crawler import __version__
from crawler.config import Config
from crawler.document import Document
from crawler.frontier.urls import canonicalize, registrable_domain
from crawler.pipelines.pool import StagePool, pool_of
from crawler.pipelines.segments import first_segment
from crawler.policy.decide import decide_headers
from crawler.runtime import config_of
from crawler.spiders.arguments import read_replay_arguments
from crawler.spiders.page import charset_of, header, rfc3339
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
            window.append(asyncio.ensure_future(self.pool.run(self._document(response), self.hop)))
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

    def _document(self, response: ArchivedResponse) -> Document:
        crawl, policy = self.config.crawl, self.config.policy
        headers = Headers([(name, value) for name, value in response.headers])
        doc = Document(
            url=response.url,
            canonical_url=canonicalize(response.url) or response.url,
            domain=registrable_domain(response.url),
            crawled_at=rfc3339(response.fetched_at),
            http_status=response.status,
            content_type="text/plain; charset=utf-8"
            if response.kind == "conversion"
            else header(headers, b"content-type"),
            etag=header(headers, b"etag") or None,
            last_modified=header(headers, b"last-modified") or None,
            html=response.body,
            warc_file=response.file,
            warc_record_id=response.record_id,
            warc_offset=response.offset,
            crawl_id=crawl.crawl_id,
            worker_id=crawl.worker_id,
            pipeline_version=__version__,
            config_digest=self.config.digest,
        )
        doc.charset = charset_of(doc.content_type)
        verdict = decide_headers(response.headers, crawl.product_token, policy.optout_profile, response.fetched_at)
        doc.optout_signals = list(verdict.signals)
        doc.verdict = verdict.drop
        return doc


def _take(records: Iterator[ArchivedResponse]) -> list[ArchivedResponse]:
    return list(islice(records, READ_AHEAD))
