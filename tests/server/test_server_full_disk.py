"""A server that runs and writes nothing: its disk is full. It refuses even PING, and is waited for all the same."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
import redis

from crawler.config import from_mapping
from crawler.dedup.index import DedupError
from crawler.dedup.make import make_index
from crawler.frontier.client import Frontier
from crawler.server import embedded
from crawler.server.embedded import EmbeddedServer
from crawler.server.errors import FrontierUnavailable, ServerError
from tests.server.test_server_embedded import client_of, until, user

RUNS_AND_FAILS = r"runs, but cannot write its file .*: free space on its disk, then run the same command again"


def fill_disk(url: str, folder: Path) -> None:
    """To a server a file that it cannot write is a full disk: where its snapshot belongs there is a folder."""
    with client_of(url) as client:
        (folder / "dump.rdb").mkdir()
        client.config_set("save", "3600 1")
        client.bgsave()
        until(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err")
        with pytest.raises(redis.exceptions.ResponseError, match="MISCONF"):
            client.ping()


@pytest.fixture
def full(tmp_path, monkeypatch):
    """An embedded server whose disk is full."""
    monkeypatch.setattr(embedded, "_START_SECONDS", 0.5)
    server = EmbeddedServer(tmp_path)
    fill_disk(server.start(), tmp_path)
    yield server
    server.stop()


def test_a_server_whose_disk_is_full_is_not_taken_for_one_that_does_not_start(full):
    full.ensure()


def test_a_call_waits_for_a_server_whose_disk_is_full_until_there_is_space_again(full):
    pauses: list[float] = []

    async def space_comes_back(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            with client_of(full.url) as client:
                client.config_set("save", "")

    async def revive() -> None:
        await asyncio.to_thread(full.ensure)

    async def scenario() -> None:
        frontier = Frontier(full.url, "c", revive=revive)
        frontier.connection._sleep = space_comes_back
        try:
            await frontier.shared.put_blob("x", b"1", 60)
            assert await frontier.shared.get_blob("x") == b"1"
        finally:
            await frontier.close()

    asyncio.run(scenario())


def test_a_call_waits_where_the_server_cannot_be_started_again_for_lack_of_space(tmp_path):
    server = EmbeddedServer(tmp_path)
    tried: list[bool] = []

    async def revive() -> None:
        tried.append(True)
        if len(tried) == 1:
            raise OSError(28, "No space left on device")
        await asyncio.to_thread(server.start)

    async def scenario() -> None:
        frontier = Frontier(server.url, "c", revive=revive)
        try:
            await frontier.shared.put_blob("x", b"1", 60)
        finally:
            await frontier.close()

    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        asyncio.run(scenario())
    assert len(tried) == 2


def test_a_crawl_that_joins_a_server_whose_disk_is_full_is_told_so(tmp_path):
    orphaned = user(tmp_path)
    server = EmbeddedServer(tmp_path)
    fill_disk(server.url, tmp_path)
    orphaned.kill()
    orphaned.communicate()
    with pytest.raises(ServerError, match=RUNS_AND_FAILS):
        server.start()
    server.stop()


def test_frontier_and_duplicate_index_name_the_full_disk_of_their_server(full):
    async def scenario() -> None:
        with pytest.raises(FrontierUnavailable, match=RUNS_AND_FAILS):
            await Frontier(full.url, "c").open()
        index = make_index(from_mapping(), full.url)
        with pytest.raises(DedupError, match=RUNS_AND_FAILS):
            await index.open()
        await index.close()

    asyncio.run(scenario())
