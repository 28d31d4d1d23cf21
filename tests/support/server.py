"""A real server that a test may kill, and whose file it may tear."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import redis

from crawler.server.embedded import EmbeddedServer


@contextlib.contextmanager
def durable_server(folder: Path) -> Iterator[EmbeddedServer]:
    """A server that has everything in its file before it answers, so that a test can say what is lost."""
    embedded = EmbeddedServer(folder)
    with contextlib.closing(redis.Redis.from_url(embedded.start())) as client:
        client.config_set("appendfsync", "always")
    yield embedded
    embedded.stop()


def file_of(server: EmbeddedServer) -> Path:
    """The append-only file it writes now."""
    (file,) = (server.folder / "appendonlydir").glob("*.incr.aof")
    return file


def size_of(server: EmbeddedServer) -> int:
    return file_of(server).stat().st_size


def kill(server: EmbeddedServer) -> None:
    """SIGKILL."""
    with contextlib.closing(redis.Redis.from_url(server.url)) as client:
        os.kill(int(client.info("server")["process_id"]), signal.SIGKILL)


def lose_power(server: EmbeddedServer, size: int) -> None:
    """Kill the server, keep `size` bytes of its file, start it again."""
    kill(server)
    os.truncate(file_of(server), size)
    server.ensure()
