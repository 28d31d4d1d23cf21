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
    """Claim every kept text of this crawl for its page. Returns how many there are; 0 for an index on a server."""
    from crawler.dedup.memory_index import MemoryIndex  # late: it brings NumPy, and Scrapy loads every spider

    if not isinstance(index, MemoryIndex):
        return 0
    count, texts = 0, kept_texts(place, config.crawl.crawl_id)
    while batch := await asyncio.to_thread(_take, texts):
        for doc_id, signature, shingles, owner in await asyncio.to_thread(fingerprints, config.dedup, batch):
            await index.check(doc_id, signature, shingles, owner)
        count += len(batch)
    return count


def _take(texts: Iterator[Text]) -> list[Text]:
    return list(islice(texts, BATCH))
