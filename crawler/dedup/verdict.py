"""The verdict on a text that the corpus has already: the rule behind the steps `exact` and `near`, and the batch job.

No Scrapy here. The order of the questions decides which copy is kept: whoever asks first owns the text.
"""

from __future__ import annotations

from crawler.dedup.index import DedupIndex, Match
from crawler.document import Document, Drop, DropReason


async def judge(index: DedupIndex, doc: Document) -> Drop | None:
    """Claim the text of `doc`, or say whose it is and set `dup_of` and `dup_similarity`."""
    match = await index.check(doc.doc_id, doc.signature, doc.shingle_count, doc.canonical_url or doc.url)
    doc.done += ["exact", "near"]
    return None if match is None else verdict_of(doc, match)


async def confirm(index: DedupIndex, doc: Document) -> Drop | None:
    """Before `doc` is committed: the same verdict, where the index has lost the claim of `doc` since `judge`."""
    match = await index.confirm(doc.canonical_url or doc.url)
    return None if match is None else verdict_of(doc, match)


def verdict_of(doc: Document, match: Match) -> Drop:
    """What a match of its text means for `doc`; sets `dup_of` and `dup_similarity`."""
    doc.dup_of, doc.dup_similarity = match.owner, match.similarity
    if match.exact:
        return Drop("exact", DropReason.EXACT_DUPLICATE, f"same text as {match.owner}"[:512])
    return Drop("near", DropReason.NEAR_DUPLICATE, f"{match.similarity:.2f} like {match.owner}"[:512])
