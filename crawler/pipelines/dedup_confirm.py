"""Pipeline step `confirm`: nothing is committed on a claim that the duplicate index has forgotten.

Last before the shard. It costs nothing unless the index's server was restarted while the document was on its way here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from crawler.pipelines.base import drop
from crawler.pipelines.dedup_exact import index_of
from crawler.pipelines.duplicates import confirm

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawler.document import Document
    from crawler.pipelines.dedup_index import DedupIndex


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
