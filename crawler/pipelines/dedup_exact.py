"""Pipeline step `exact`: a text that another URL already has is dropped (`crawler/pipelines/dedup_index.py`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NoReturn, Self

from crawler.document import Document
from crawler.frontier.scheduler import has_frontier
from crawler.frontier.wiring import frontier_url
from crawler.pipelines.base import drop, refuse_to_start
from crawler.pipelines.dedup_index import DedupError, DedupIndex, make_index
from crawler.pipelines.duplicates import judge_exact
from crawler.runtime import config_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class ExactDedupPipeline:
    """Adapter of `DedupIndex.check_exact`."""

    def __init__(self, index: DedupIndex, refuse: Callable[[DedupError], NoReturn]) -> None:
        self._index = index
        self._refuse = refuse

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Ask the index of this crawl's configuration."""
        config = config_of(crawler)
        index = make_index(config, frontier_url(config) if has_frontier(crawler) else None)
        return cls(index, partial(refuse_to_start, crawler))

    async def open_spider(self) -> None:
        """Refuse an index of another scheme before the first page."""
        try:
            await self._index.open()
        except DedupError as error:
            self._refuse(error)

    async def close_spider(self) -> None:
        """Let go of the index."""
        await self._index.close()

    async def process_item(self, doc: Document) -> Document:
        """Pass the document on, or drop it with `dup_of` set."""
        verdict = await judge_exact(self._index, doc)
        if verdict is not None:
            drop(doc, verdict)
        return doc
