"""Pipeline step `near`: a text that is nearly one of the corpus is dropped (`crawler/pipelines/dedup_index.py`)."""

from __future__ import annotations

from crawler.document import Document, Drop, DropReason
from crawler.pipelines.base import drop
from crawler.pipelines.dedup_exact import ExactDedupPipeline


class NearDedupPipeline(ExactDedupPipeline):
    """Adapter of `DedupIndex.check_near`; opens and closes its index like the exact step."""

    async def process_item(self, doc: Document) -> Document:
        """Pass the document on, or drop it with `dup_of` and `dup_similarity` set."""
        match = await self._index.check_near(doc.signature, doc.shingle_count, doc.canonical_url or doc.url)
        if match is not None:
            doc.dup_of, doc.dup_similarity = match.owner, match.similarity
            drop(doc, Drop("near", DropReason.NEAR_DUPLICATE, f"{match.similarity:.2f} like {match.owner}"[:512]))
        return doc
