"""Pipeline step `near`: a text that is nearly one of the corpus is dropped (`crawler/pipelines/dedup_index.py`)."""

from __future__ import annotations

from crawler.document import Document
from crawler.pipelines.base import drop
from crawler.pipelines.dedup_exact import ExactDedupPipeline
from crawler.pipelines.duplicates import judge_near


class NearDedupPipeline(ExactDedupPipeline):
    """Adapter of `DedupIndex.check_near`; opens and closes its index like the exact step."""

    async def process_item(self, doc: Document) -> Document:
        """Pass the document on, or drop it with `dup_of` and `dup_similarity` set."""
        verdict = await judge_near(self._index, doc)
        if verdict is not None:
            drop(doc, verdict)
        return doc
