"""A resumed replay fills its duplicate index in memory again from the shards, in their order.

An index on a server remembers by itself; asking it again changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice

from crawler.config import Config
from crawler.dedup.index import DedupIndex
from crawler.dedup.loading import BATCH, Text, fingerprints
from crawler.storage.corpus.bookmarks import kept_texts
from crawler.storage.files.place import Place


async def remember(index: DedupIndex, config: Config, place: Place) -> int:
    """`claim_kept`, for an index that forgets; 0 for one on a server."""
    from crawler.dedup.memory_index import MemoryIndex  # late: it brings NumPy, and Scrapy loads every spider

    return await claim_kept(index, config, place) if isinstance(index, MemoryIndex) else 0


async def claim_kept(index: DedupIndex, config: Config, place: Place) -> int:
    """Claim every kept text of this crawl for its page. Returns how many there are; harmless when repeated."""
    count, texts = 0, kept_texts(place, config.crawl.crawl_id)
    while batch := await asyncio.to_thread(_take, texts):
        for doc_id, signature, shingles, owner in await asyncio.to_thread(fingerprints, config.dedup, batch):
            await index.check(doc_id, signature, shingles, owner)
        count += len(batch)
    return count


def _take(texts: Iterator[Text]) -> list[Text]:
    return list(islice(texts, BATCH))
