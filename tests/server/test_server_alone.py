"""Who joins the embedded server of a folder knows whether anybody was there: then nobody has claims to repeat."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from crawler.config import from_mapping
from crawler.dedup.make import make_index
from crawler.dedup.redis_index import RedisIndex
from crawler.server.embedded import EmbeddedServer
from crawler.server.joined import found_alone
from crawler.server.location import frontier_folder, frontier_url

USER = """
import sys
from crawler.server.embedded import EmbeddedServer
with EmbeddedServer(sys.argv[1]):
    print("in", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "frontier"


@contextmanager
def another_user(folder: Path) -> Iterator[None]:
    """A process that uses the folder's server until the block ends."""
    command = [sys.executable, "-c", USER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"in\n"
        yield


def test_the_first_process_found_the_folder_alone_and_its_second_user_knows_it_too(folder):
    with EmbeddedServer(folder), EmbeddedServer(folder):
        assert found_alone(folder)
    assert not found_alone(folder)


def test_a_process_that_joins_another_did_not(folder):
    with another_user(folder), EmbeddedServer(folder):
        assert not found_alone(folder)


def test_who_comes_later_changes_nothing_about_it(folder):
    with EmbeddedServer(folder), another_user(folder):
        assert found_alone(folder)


async def quiet_seconds(index: RedisIndex) -> float:
    try:
        await index.open()
        return index._claims._quiet_until
    finally:
        await index.close()


async def ask_once(index: RedisIndex) -> None:
    try:
        await index.open()
        await index.check("sha256:" + "7" * 64, b"", 0, "http://a.example/")
    finally:
        await index.close()


def test_a_resumed_crawl_waits_for_claims_of_others_only_where_there_may_be_others(tmp_path):
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "corpus")})
    folder, url = frontier_folder(config), frontier_url(config)
    with EmbeddedServer(folder):
        asyncio.run(ask_once(make_index(config, url)))
    with EmbeddedServer(folder):
        index = make_index(config, url)
        index._grace = 3600.0  # however long the machine takes, the server counts as just started
        assert asyncio.run(quiet_seconds(index)) == 0.0
    with another_user(folder), EmbeddedServer(folder):
        index = make_index(config, url)
        index._grace = 3600.0
        assert asyncio.run(quiet_seconds(index)) > 0.0


def test_a_server_that_was_restarted_meanwhile_counts_as_shared(tmp_path):
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "corpus")})
    folder, url = frontier_folder(config), frontier_url(config)
    with EmbeddedServer(folder):
        asyncio.run(ask_once(make_index(config, url)))
        server = EmbeddedServer(folder)
        with contextlib.closing(redis.Redis.from_url(server.url)) as client:
            os.kill(int(client.info("server")["process_id"]), signal.SIGKILL)
        server.ensure()
        index = make_index(config, url)
        index._grace = 3600.0
        assert asyncio.run(quiet_seconds(index)) > 0.0


def test_an_index_on_another_server_never_counts_as_alone(tmp_path):
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "corpus"), "DEDUP_REDIS_URL": "redis://127.0.0.1:1"})
    with EmbeddedServer(frontier_folder(config)):
        assert not make_index(config, frontier_url(config))._alone()
