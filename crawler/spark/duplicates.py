"""The driver finds documents that repeat an earlier one, after judging and before writing.

Duplicates depend on order, so one pass over small claims decides them, in the order of the archives, with the index and
the words of the pipelines. The order is replay's; so are the verdicts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from crawler.config import Config
from crawler.dedup.index import DedupIndex
from crawler.dedup.make import make_index
from crawler.dedup.verdict import judge
from crawler.document import Document
from crawler.spark.partition import Claim, Duplicate, Place


def find_duplicates(config: Config, claims: Iterable[Claim]) -> dict[Place, Duplicate]:
    """The verdicts against duplicates, by place. `claims` come in the order of the archives, kept candidates only.

    The index is that of the configuration: in memory, or on DEDUP_REDIS_URL (else REDIS_URL) where one is set.
    Raises: DedupError where the index cannot be used.
    """
    return asyncio.run(_compare(make_index(config), claims))


async def _compare(index: DedupIndex, claims: Iterable[Claim]) -> dict[Place, Duplicate]:
    found = {}
    await index.open()
    try:
        for claim in claims:
            if duplicate := await _ask(index, claim):
                found[claim.place] = duplicate
    finally:
        await index.close()
    return found


async def _ask(index: DedupIndex, claim: Claim) -> Duplicate | None:
    doc = Document(url=claim.canonical_url, canonical_url=claim.canonical_url, doc_id=claim.doc_id)
    doc.signature, doc.shingle_count = claim.signature, claim.shingle_count
    verdict = await judge(index, doc)
    return None if verdict is None else Duplicate(verdict, doc.dup_of, doc.dup_similarity)
