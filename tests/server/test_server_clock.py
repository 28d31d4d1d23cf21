"""All workers go by the server's clock, and a slow answer does not shift it."""

from __future__ import annotations

import asyncio
import time

import pytest

from crawler.server.connection import Connection


class Server:
    """Answers TIME: `ahead` seconds of our clock, and `late` seconds after it looked at its own."""

    def __init__(self) -> None:
        self.ahead = self.late = 0.0

    async def time(self) -> tuple[int, int]:
        now = time.time() + self.ahead
        await asyncio.sleep(self.late)
        return int(now), int(now % 1 * 1e6)


@pytest.fixture
def connection(valkey_url: str) -> Connection:
    made = Connection(valkey_url)
    made.redis = Server()
    return made


def error_of(connection: Connection) -> float:
    return abs(connection._offset - connection.redis.ahead)  # two looks at a clock are never at the same time


def test_an_answer_that_was_long_on_its_way_does_not_shift_the_clock(connection):
    async def run() -> None:
        await connection.synchronize()
        before = error_of(connection)
        connection.redis.late = 0.4
        await connection.synchronize()
        assert error_of(connection) == pytest.approx(before, abs=0.01)

    asyncio.run(run())


def test_a_better_answer_replaces_a_worse_one(connection):
    async def run() -> None:
        connection.redis.late = 0.4
        await connection.synchronize()
        assert error_of(connection) >= 0.19
        connection.redis.late = 0.0
        await connection.synchronize()
        assert error_of(connection) < 0.1

    asyncio.run(run())


def test_a_clock_that_was_set_is_followed_even_where_the_answer_is_slow(connection):
    async def run() -> None:
        await connection.synchronize()
        connection.redis.ahead, connection.redis.late = 60.0, 0.4
        await connection.synchronize()
        assert error_of(connection) < 0.5

    asyncio.run(run())
