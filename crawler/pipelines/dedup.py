"""Pipeline step `exact`: a text that another URL already has is dropped (`crawler/dedup/index.py`).

The index answers both questions at once, exact and near, because a text that is nearly another's must not become the
owner of anything. This step asks; what it learns about nearness is the next step's to act on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self

from crawler.dedup.index import DedupError, DedupIndex
from crawler.dedup.verdict import confirm, judge
from crawler.document import Document
from crawler.pipelines.base import drop, refuse_to_start
from crawler.pipelines.duplicate_index import IndexWatch, index_of, release, watch_of
from crawler.recrawl.visit import text_digest

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
        watch: IndexWatch | None = None,
    ) -> None:
        self._index = index
        self._watch = watch
        self._release = release
        self._refuse = refuse

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Ask the index of this crawl's configuration."""
        return cls(index_of(crawler), partial(refuse_to_start, crawler), partial(release, crawler), watch_of(crawler))

    async def open_spider(self) -> None:
        """Refuse an index of another scheme before the first page."""
        try:
            await self._index.open()
        except DedupError as error:
            self._refuse(error)
        if self._watch:
            self._watch.begin()

    async def close_spider(self) -> None:
        """Let go of the index."""
        if self._watch:
            self._watch.end()
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


class NearDedupPipeline(ExactDedupPipeline):
    """Drops what the step `exact` found to be a near duplicate; asks itself where that step is switched off."""

    drops: ClassVar[frozenset[str]] = frozenset({"exact", "near"})


class ConfirmPipeline:
    """Asks `DedupIndex.confirm`; drops the document where another page has its text by now."""

    def __init__(self, index: DedupIndex) -> None:
        self._index = index

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's one index."""
        return cls(index_of(crawler))

    async def process_item(self, doc: Document) -> Document:
        """Pass the document on, or drop it as `exact` or `near` would have."""
        verdict = await confirm(self._index, doc)
        if verdict is not None:
            drop(doc, verdict)
        return doc
