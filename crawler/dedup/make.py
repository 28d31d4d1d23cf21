"""Which duplicate index a configuration asks for."""

from __future__ import annotations

from functools import partial

from crawler.config import Config
from crawler.dedup.index import DedupIndex


def make_index(config: Config, frontier_url: str | None = None) -> DedupIndex:
    """The index a configuration asks for: on DEDUP_REDIS_URL, else on REDIS_URL or the frontier's, else in memory."""
    from crawler.dedup.redis_index import RedisIndex
    from crawler.server.joined import found_alone
    from crawler.server.location import frontier_folder

    url = config.dedup.redis_url or config.crawl.redis_url or frontier_url
    if url is None:
        from crawler.dedup.memory_index import MemoryIndex  # late: it brings NumPy

        return MemoryIndex(config.dedup)
    is_embedded = url == frontier_url and config.crawl.redis_url is None
    alone = partial(found_alone, frontier_folder(config)) if is_embedded else str
    return RedisIndex(url, config.dedup, crawl_id=config.crawl.crawl_id, alone=alone)
