"""Pipeline step `withdrawn`: what `gristmill dataset exclude` took out of this corpus does not come back.

In a crawl the middleware of the same name stops withdrawn addresses before the request; this step stops them in a
replay, and copies of withdrawn texts and pages under withdrawn licences anywhere. It stands before the archive, so
nothing of them reaches a disk, and once more behind the stages, where a pipeline of the user's own stands between them.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from crawler.dataset.registry.behind import refusals_of
from crawler.middlewares.withdrawn import refused_in
from crawler.pipelines.base import drop
from crawler.runtime import config_of
from crawler.scheduler.scheduler import frontier_of
from crawler.storage.corpus.sources import beside

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawler.dataset.refused import Refusal, Refusals
    from crawler.document import Document


class WithdrawnPipeline:
    """Drops pages that the corpus refuses; in a replay also what the corpus refuses whose archive is read."""

    before_stages = True  # ends no hop: it reads what the hop from the spider left on the document

    def __init__(self, crawler: Crawler, refused: Refusals) -> None:
        self._crawler, self._refused, self._dedup = crawler, refused, config_of(crawler).dedup
        self._beside: dict[str, Refusals] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share what the crawler has read. Raises: StorageError where a list of withdrawals cannot be read."""
        return cls(crawler, refused_in(crawler))

    async def process_item(self, doc: Document) -> Document:
        """Raises: StageDrop; StorageError where the list of withdrawals beside an archive cannot be read."""
        for refused in (self._refused, await self._of_archive(doc)):
            if refused and (refusal := await self._refusal(refused, doc)):
                doc.exchange = None
                if doc.verdict is None or doc.text_allowed:
                    drop(doc, refusal.drop)
                break
        return doc

    async def _refusal(self, refused: Refusals, doc: Document) -> Refusal | None:
        """In a thread where fingerprints may have to be computed."""
        if refused.computes(doc, self._dedup):
            return await asyncio.to_thread(refused.of_document, doc, self._dedup)
        return refused.of_document(doc, self._dedup)

    async def _of_archive(self, doc: Document) -> Refusals | None:
        """In a replay: the refusals of the corpus in which the page's archive lies."""
        if not doc.warc_file or frontier_of(self._crawler) is not None:
            return None
        folder = doc.warc_file.rpartition("/")[0]
        if folder not in self._beside:
            place = beside(doc.warc_file)
            self._beside[folder] = await asyncio.to_thread(refusals_of, [place] if place else [])
        return self._beside[folder]


class WithdrawnTextPipeline(WithdrawnPipeline):
    """The same behind the stages: by now every page has its text."""

    before_stages = False
