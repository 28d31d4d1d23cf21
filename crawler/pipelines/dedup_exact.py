"""Pipeline step `exact`: a text that another URL already has is dropped (`crawler/pipelines/dedup_index.py`).

The index answers both questions at once, exact and near, because a text that is nearly another's must not become the
owner of anything. This step asks; what it learns about nearness is the next step's to act on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self
from weakref import WeakKeyDictionary

from crawler.document import Document
from crawler.frontier.scheduler import has_frontier
from crawler.frontier.wiring import frontier_url
from crawler.pipelines.base import drop, refuse_to_start
from crawler.pipelines.dedup_index import DedupError, DedupIndex, make_index
from crawler.pipelines.duplicates import judge
from crawler.runtime import config_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class ExactDedupPipeline:
    """Asks `DedupIndex.check`; drops the same text, leaves the verdict on a near duplicate for the step `near`."""

    drops: ClassVar[frozenset[str]] = frozenset({"exact"})

    def __init__(self, index: DedupIndex, refuse: Callable[[DedupError], NoReturn]) -> None:
        self._index = index
        self._refuse = refuse

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Ask the index of this crawl's configuration."""
        return cls(index_of(crawler), partial(refuse_to_start, crawler))

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
        """Pass the document on, or drop it with `dup_of` and `dup_similarity` set."""
        if "near" not in doc.done:
            doc.verdict = await judge(self._index, doc)
        if doc.verdict is not None and doc.verdict.stage in self.drops:
            drop(doc, doc.verdict)
        return doc


_INDEXES: WeakKeyDictionary[Crawler, DedupIndex] = WeakKeyDictionary()


def index_of(crawler: Crawler) -> DedupIndex:
    """The one index of a crawler, made on first use from its configuration and not yet open."""
    if crawler not in _INDEXES:
        config = config_of(crawler)
        _INDEXES[crawler] = make_index(config, frontier_url(config) if has_frontier(crawler) else None)
    return _INDEXES[crawler]
