"""Pipeline step `exact`: a text that another URL already has is dropped (`crawler/pipelines/dedup_index.py`).

The index answers both questions at once, exact and near, because a text that is nearly another's must not become the
owner of anything. This step asks; what it learns about nearness is the next step's to act on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self
from weakref import WeakKeyDictionary

from crawler.document import Document
from crawler.frontier.recrawl import text_digest
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

    def __init__(
        self,
        index: DedupIndex,
        refuse: Callable[[DedupError], NoReturn],
        release: Callable[[Document], Awaitable[None]] | None = None,
    ) -> None:
        self._index = index
        self._release = release
        self._refuse = refuse

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Ask the index of this crawl's configuration."""
        from crawler.pipelines.dedup_release import release

        return cls(index_of(crawler), partial(refuse_to_start, crawler), partial(release, crawler))

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
            if self._release and doc.former_text and doc.former_text != text_digest(doc.doc_id):
                await self._release(doc)
            doc.verdict = await judge(self._index, doc)
        if doc.verdict is not None and doc.verdict.stage in self.drops:
            drop(doc, doc.verdict)
        return doc


_INDEXES: WeakKeyDictionary[Crawler, DedupIndex] = WeakKeyDictionary()


def open_index(crawler: Crawler) -> DedupIndex | None:
    """The index of a crawler that asks one; None where both steps are switched off."""
    return _INDEXES.get(crawler)


def index_of(crawler: Crawler) -> DedupIndex:
    """The one index of a crawler, made on first use from its configuration and not yet open."""
    if crawler not in _INDEXES:
        config = config_of(crawler)
        _INDEXES[crawler] = make_index(config, frontier_url(config) if has_frontier(crawler) else None)
    return _INDEXES[crawler]
