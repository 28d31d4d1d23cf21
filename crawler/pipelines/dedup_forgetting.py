"""After a withdrawal: the duplicate index lets go of the texts that went, so that another copy may be kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from crawler.frontier.server import EmbeddedServer
from crawler.frontier.wiring import frontier_folder
from crawler.pipelines.dedup_redis import RedisIndex

if TYPE_CHECKING:
    from crawler.config import Config


def forget(config: Config, crawls: Iterable[str], urls: list[str]) -> int | None:
    """Free the claims of these canonical URLs in the index of each crawl; returns how many there were.

    None where this index keeps its claims, or where there is none. Raises: DedupError, ServerError where no server
    answers.
    """
    if not hasattr(RedisIndex, "forget"):
        return None
    with ExitStack() as stack:
        url = config.dedup.redis_url or config.crawl.redis_url
        if url is None:
            if not frontier_folder(config).is_dir():
                return None
            url = stack.enter_context(EmbeddedServer(frontier_folder(config)))
        return sum(asyncio.run(_forget(RedisIndex(url, config.dedup, crawl_id=crawl), urls)) for crawl in crawls)


async def _forget(index: Any, urls: list[str]) -> int:
    try:
        await index.open()
        return int(await index.forget(urls) or 0)
    finally:
        await index.close()
