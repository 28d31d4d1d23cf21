"""Finds documents that repeat an earlier one, after judging and before writing; the order is replay's.

On the cluster, in rounds over DataFrames (`crawler/dedup/rounds.py`): nothing of a document comes to the driver. With a
server of the duplicate index (DEDUP_REDIS_URL) the driver asks that one instead, because the order of the questions
decides, and holds the verdicts on duplicates.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from crawler.config import Config
from crawler.dedup.index import DedupIndex, Match, Questions, Scheme, similarity
from crawler.dedup.make import make_index
from crawler.dedup.rounds import bucket_keys
from crawler.dedup.verdict import judge, verdict_of
from crawler.document import Document
from crawler.spark.partition import Claim, Duplicate, Judged, Place, Read, claim_of, is_candidate, order_of

VERDICTS = """
SELECT gone.ord AS ord, owner, exact, agreeing FROM gone JOIN texts ON owned_by = texts.ord
"""
"""What `find_gone` found, with the owner's URL."""
Row = tuple[int, str, bytes, bytes, list[int], int]
"""A row of `rounds.TEXTS`."""


def asks_server(config: Config) -> bool:
    """True where the configuration names a server of the duplicate index."""
    return bool(config.dedup.redis_url or config.crawl.redis_url)


def texts_of(config: Config, items: Iterable[Judged | Read]) -> Iterator[Row]:
    """Inside an executor: what the documents that the stages would keep are compared by."""
    questions = Questions(config.dedup)
    for item in items:
        if isinstance(item, Judged) and is_candidate(item):
            claim = claim_of(item)
            asked = questions.about(claim.doc_id, claim.signature, claim.shingle_count)
            keys = bucket_keys(asked.bands)
            yield order_of(item.place), claim.canonical_url, asked.digest, asked.signature, keys, asked.needed


def duplicates_of(config: Config, rows: Iterable[Any]) -> Iterator[tuple[int, Duplicate]]:
    """Inside an executor: order and verdict of each row of `VERDICTS`, in the words of the pipelines."""
    width = Scheme.of(config.dedup).permutations
    for row in rows:
        similar = 1.0 if row["exact"] else similarity(row["agreeing"], width)
        yield row["ord"], _duplicate(Document(url=""), Match(row["owner"], similar, row["exact"]))


def find_duplicates(config: Config, claims: Iterable[Claim]) -> dict[Place, Duplicate]:
    """The verdicts against duplicates, by place, of the configured index. `claims` come in the order of the archives,
    kept candidates only. Raises: DedupError where the index cannot be used.
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


def _duplicate(doc: Document, match: Match) -> Duplicate:
    return Duplicate(verdict_of(doc, match), doc.dup_of, doc.dup_similarity)
