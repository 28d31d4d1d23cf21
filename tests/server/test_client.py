"""One server, asked by whoever keeps state there: what is waited for, and what is not."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from pathlib import Path

import pytest
import redis
from redis import exceptions as errors

from crawler.frontier.client import Frontier
from crawler.server.client import Script, ServerClient, is_outage, shown
from crawler.server.connection import Connection
from crawler.server.embedded import EmbeddedServer
from crawler.server.epochs import ServerRestarted
from crawler.server.errors import FrontierMisconfigured

COUNT = Script.of("return redis.call('INCRBY', KEYS[1], ARGV[1])")


@pytest.mark.parametrize(
    "error",
    [
        errors.ConnectionError("refused"),
        errors.BusyLoadingError("LOADING"),
        errors.ReadOnlyError("READONLY"),
        errors.OutOfMemoryError("OOM"),
        errors.MasterDownError("MASTERDOWN"),
        errors.ResponseError("MISCONF Errors writing to the AOF file"),
        errors.ResponseError("NOREPLICAS"),
        errors.ResponseError("BUSY Redis is busy running a script"),
        OSError(111, "refused"),
    ],
)
def test_a_server_that_is_gone_full_or_busy_is_away(error: Exception) -> None:
    assert is_outage(error)


@pytest.mark.parametrize(
    "error", [errors.AuthenticationError("WRONGPASS"), errors.ResponseError("WRONGTYPE"), errors.DataError("no")]
)
def test_a_mistake_of_ours_is_not_waited_for(error: Exception) -> None:
    assert not is_outage(error)


def test_a_script_that_the_server_does_not_know_is_sent_whole_and_then_by_its_name(tmp_path: Path) -> None:
    async def scenario(url: str) -> None:
        client = ServerClient(url, "server")
        assert [await client.script(COUNT, "n", [2]) for _ in range(2)] == [2, 4]
        stats = (await client.redis.info("commandstats")).keys()
        assert {"cmdstat_evalsha", "cmdstat_eval"} <= stats
        assert int((await client.redis.info("commandstats"))["cmdstat_eval"]["calls"]) == 1
        await client.close()

    with EmbeddedServer(tmp_path) as url:
        asyncio.run(scenario(url))


def test_a_call_waits_for_its_server_with_growing_pauses_and_says_so_once(tmp_path: Path, caplog) -> None:
    server, pauses = EmbeddedServer(tmp_path), []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:
            await asyncio.to_thread(server.start)

    async def scenario() -> None:
        client = ServerClient(server.url, "the test's server", sleep=sleep)
        assert await client.script(COUNT, "n", [1]) == 1
        await client.close()

    try:
        asyncio.run(scenario())
    finally:
        server.stop()
    assert pauses[:4] == [0.05, 0.1, 0.2, 0.4]
    said = [record.getMessage() for record in caplog.records]
    assert [" is unreachable " in line for line in said] == [True, False]
    assert said[1].startswith("the test's server is back after")


def test_an_outage_that_ends_with_another_process_is_over_for_a_call_that_was_meant_for_the_one_before(
    tmp_path: Path, caplog
) -> None:
    server = EmbeddedServer(tmp_path)

    async def start_anew(_seconds: float) -> None:
        await asyncio.to_thread(server.start)

    async def scenario() -> None:
        client = ServerClient(server.start(), "the test's server", sleep=start_anew)
        assert await client.script(COUNT, "n", [1]) == 1
        answered_at = client.answered_at
        server.stop()
        with pytest.raises(ServerRestarted), client.only_in(client.epoch):
            await client.script(COUNT, "n", [1])
        assert (client.epoch, client.away_seconds) == (1, 0.0)
        assert client.answered_at == answered_at, "it told who it is, and nothing else"
        await client.close()

    try:
        asyncio.run(scenario())
    finally:
        server.stop()
    said = [record.getMessage() for record in caplog.records]
    assert [" is unreachable " in line for line in said] == [True, False]
    assert said[1].startswith("the test's server is back after")


def test_an_outage_is_told_once_however_many_calls_wait_for_its_end(redis_url: str, caplog) -> None:
    """A full server answers what only reads, and refuses what writes."""

    async def scenario() -> None:
        client = ServerClient(redis_url, "the test's server")
        limit = (await client.redis.info("memory"))["used_memory"] // 2
        await client.redis.config_set("maxmemory", limit)
        waiting = [asyncio.ensure_future(client.script(COUNT, f"n{n}", [1])) for n in range(5)]
        while client._waiting < len(waiting):
            await asyncio.sleep(0.01)
        since = time.monotonic()
        assert await client.patiently(lambda: client.redis.get("n0")) is None
        assert client.answered_at < since, "the worker is not ready: nothing is leased"
        await client.redis.config_set("maxmemory", 0)
        assert await asyncio.gather(*waiting) == [1] * len(waiting)
        assert client.answered_at > since
        await client.close()

    asyncio.run(scenario())
    said = [record.getMessage() for record in caplog.records]
    assert [" is unreachable (command not allowed when used memory > 'maxmemory'" in line for line in said] == [
        True,
        False,
    ]
    assert said[1].startswith("the test's server is back after")


def test_a_connection_that_the_server_has_closed_is_made_anew_before_the_next_script(tmp_path: Path) -> None:
    async def never(_seconds: float) -> None:
        raise AssertionError("the server is not away")

    async def scenario(url: str) -> None:
        client = ServerClient(url, "server", sleep=never)
        assert await client.script(COUNT, "n", [1]) == 1
        with contextlib.closing(redis.Redis.from_url(url)) as sync:
            assert sync.client_kill_filter(_type="normal", skipme=True) == 1
        await asyncio.sleep(0)
        answers = await asyncio.gather(*(client.script(COUNT, "n", [1]) for _ in range(3)))
        assert sorted(answers) == [2, 3, 4]
        await client.close()

    with EmbeddedServer(tmp_path) as url:
        asyncio.run(scenario(url))


def test_a_connection_is_free_again_after_a_mistake_and_closed_with_the_client(tmp_path: Path) -> None:
    async def scenario(url: str) -> None:
        client = ServerClient(url, "server")
        for _ in range(3):
            with pytest.raises(errors.ResponseError):
                await client.script(COUNT, "n", ["no number"])
        with contextlib.closing(redis.Redis.from_url(url)) as sync:
            assert len(sync.client_list()) == 2
            await client.close()
            assert len(sync.client_list()) == 1

    with EmbeddedServer(tmp_path) as url:
        asyncio.run(scenario(url))


def test_a_server_that_throws_keys_away_is_known_as_such(tmp_path: Path) -> None:
    async def scenario(url: str) -> str:
        client = ServerClient(url, "server")
        await client.await_loaded()
        try:
            return await client.eviction_policy()
        finally:
            await client.close()

    with EmbeddedServer(tmp_path) as url:
        assert asyncio.run(scenario(url)) == "noeviction"
        with contextlib.closing(redis.Redis.from_url(url)) as sync:
            sync.config_set("maxmemory-policy", "allkeys-lru")
        assert asyncio.run(scenario(url)) == "allkeys-lru"


def test_an_address_is_shown_without_its_password() -> None:
    assert shown("rediss://user:secret@host:1/2") == "rediss://host:1/2"


@pytest.mark.parametrize(
    "rights, words",
    [
        ("~* +@all -info", "refuses what a crawl needs: User guest has no permissions to run the 'info' command"),
        ("~* +@all -eval -evalsha", "refuses what a crawl needs: User guest has no permissions to run the 'evalsha'"),
        ("~other* +@all", "refuses what a crawl needs: No permissions to access a key"),
    ],
)
def test_a_user_without_the_rights_is_told_what_it_lacks(redis_url: str, rights: str, words: str) -> None:
    async def scenario() -> None:
        frontier = Frontier(redis_url.replace("unix://", "unix://guest:pw@"), "crawl")
        try:
            await frontier.open()
            await frontier.counts()
        finally:
            await frontier.close()

    with contextlib.closing(redis.Redis.from_url(redis_url)) as owner:
        owner.execute_command("ACL", "SETUSER", "guest", "on", ">pw", "&*", *rights.split())
    with pytest.raises(FrontierMisconfigured, match=re.escape(words)) as caught:
        asyncio.run(scenario())
    assert "pw@" not in str(caught.value)


def test_a_database_that_the_server_does_not_have_is_no_server_that_is_away(redis_url: str) -> None:
    async def scenario() -> None:
        frontier = Frontier(f"{redis_url}?db=99", "crawl")
        await frontier.open()

    with pytest.raises(
        FrontierMisconfigured, match="answers, but refuses what a crawl needs: DB index is out of range"
    ):
        asyncio.run(scenario())


@pytest.mark.parametrize("given", ["", ":another@"])
def test_a_password_that_is_missing_or_another_is_named_and_nobody_is_told_to_start_a_server(redis_url, given):
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        client.config_set("requirepass", "secret")
        connection = Connection(redis_url.replace("unix://", f"unix://{given}"))
        with pytest.raises(FrontierMisconfigured, match="refuses the password in REDIS_URL") as caught:
            asyncio.run(connection.open())
        client.config_set("requirepass", "")
    assert "start it" not in str(caught.value)
