"""Where a worker's frontier lives while it works: on the server of REDIS_URL, else on the embedded one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.server.embedded import EmbeddedServer

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.server.client import Revive


def frontier_folder(config: Config) -> Path:
    """Where the embedded server keeps its data: under CORPUS_DIR, or the spool folder where that is remote."""
    folder = config.crawl.corpus_dir
    if "://" in folder:
        folder = config.storage.spool_dir or "."
    return Path(folder) / "frontier"


def frontier_url(config: Config) -> str:
    """Address of the server the frontier lives on: `REDIS_URL`, else the embedded server's."""
    return config.crawl.redis_url or EmbeddedServer(frontier_folder(config)).url


def has_embedded_index(config: Config) -> bool:
    """True where CORPUS_DIR has a duplicate index of its own: whatever is added to the corpus is compared with it."""
    elsewhere = config.crawl.redis_url or config.dedup.redis_url
    return elsewhere is None and (frontier_folder(config) / "valkey.conf").exists()


def is_unnamed(config: Config, corpus: str) -> bool:
    """True where nothing says where the frontier of a corpus is."""
    return config.crawl.redis_url is None and "://" in corpus and config.storage.spool_dir is None


def is_at_hand(config: Config, corpus: str) -> bool:
    """True where a server is named, or one of its own lies beside the corpus."""
    return not is_unnamed(config, corpus) and (config.crawl.redis_url is not None or frontier_folder(config).is_dir())


class ServerLocation:
    """The server, as its user sees it. Nothing here waits in the event loop."""

    def __init__(self, config: Config) -> None:
        self._url = config.crawl.redis_url
        self._server = EmbeddedServer(frontier_folder(config)) if self._url is None else None

    async def enter(self) -> str:
        """Start or join the server. Returns its URL. Raises: ServerError."""
        if self._server is None:
            assert self._url is not None
            return self._url
        return await asyncio.to_thread(self._server.start)

    @property
    def revive(self) -> Revive | None:
        """Starts the embedded server again; None where the server is somebody else's to look after."""
        return None if self._server is None else self._start_again

    async def was_empty(self) -> bool:
        """True once after the embedded server was found without users: no worker is behind any lease."""
        return self._server is not None and await asyncio.to_thread(self._server.take_note)

    async def leave(self) -> None:
        """Whoever leaves last stops the embedded server."""
        if self._server is not None:
            await asyncio.to_thread(self._server.stop)

    async def _start_again(self) -> None:
        assert self._server is not None
        await asyncio.to_thread(self._server.ensure)
