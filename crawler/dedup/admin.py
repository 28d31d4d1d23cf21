"""Commands open the configured duplicate index here, without asyncio, also while workers run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import ExitStack
from typing import TypeVar

from crawler.config import Config
from crawler.dedup.index import DedupIndex
from crawler.dedup.make import make_index
from crawler.server.embedded import EmbeddedServer
from crawler.server.location import frontier_folder

T = TypeVar("T")


def with_index(config: Config, use: Callable[[DedupIndex], Awaitable[T]]) -> T:
    """What `use` returns for the open index of a configuration.

    It lives on DEDUP_REDIS_URL, else on REDIS_URL, else on the embedded server of CORPUS_DIR, which is started where
    nobody runs it. Raises: DedupError, ServerError.
    """
    with ExitStack() as stack:
        url = config.dedup.redis_url or config.crawl.redis_url
        if url is None:
            url = stack.enter_context(EmbeddedServer(frontier_folder(config)))
        return asyncio.run(_use(make_index(config, url), use))


async def _use(index: DedupIndex, use: Callable[[DedupIndex], Awaitable[T]]) -> T:
    try:
        await index.open()
        return await use(index)
    finally:
        await index.close()


def forget(config: Config, owners: Collection[str]) -> int:
    """Free what withdrawn pages claimed, by canonical URL. Returns the number of claims. Raises as `with_index`."""
    return with_index(config, lambda index: index.forget(owners))
