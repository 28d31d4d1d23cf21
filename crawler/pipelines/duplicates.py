"""The verdict on a text that the corpus has already: the rule behind the steps `exact` and `near`, and the batch job.

No Scrapy here. The order of the questions decides which copy is kept: whoever asks first owns the text.
"""

from __future__ import annotations

from crawler.document import Document, Drop, DropReason
from crawler.pipelines.dedup_index import DedupIndex


async def judge_exact(index: DedupIndex, doc: Document) -> Drop | None:
    """Claim the text of `doc`, or say whose it is and set `dup_of`."""
    doc.dup_of = await index.check_exact(doc.doc_id, doc.canonical_url or doc.url)
    if doc.dup_of is None:
        return None
    doc.dup_similarity = 1.0
    return Drop("exact", DropReason.EXACT_DUPLICATE, f"same text as {doc.dup_of}"[:512])


async def judge_near(index: DedupIndex, doc: Document) -> Drop | None:
    """Claim the signature of `doc`, or say which text is nearly the same and set `dup_of` and `dup_similarity`."""
    match = await index.check_near(doc.signature, doc.shingle_count, doc.canonical_url or doc.url)
    if match is None:
        return None
    doc.dup_of, doc.dup_similarity = match.owner, match.similarity
    return Drop("near", DropReason.NEAR_DUPLICATE, f"{match.similarity:.2f} like {match.owner}"[:512])
