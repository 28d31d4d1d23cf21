"""All workers go by the server's clock, and a slow answer does not shift it."""

from __future__ import annotations

import asyncio
import time

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.server.connection import Connection
from crawler.urls.link import Link


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


def test_a_clock_that_was_badly_measured_was_not_set_back(connection, monkeypatch):
    monkeypatch.setattr("crawler.server.connection.SET_SECONDS", 0.1)

    async def run() -> None:
        connection.redis.late = 0.4
        await connection.synchronize()
        assert error_of(connection) >= 0.19
        connection.redis.late = 0.0
        await connection.synchronize()
        assert error_of(connection) < 0.1
        assert connection.ahead == 0.0

    asyncio.run(run())


def test_a_worker_begins_with_a_clock_that_it_knows_well(valkey_url, monkeypatch):
    async def run() -> None:
        connection = Connection(valkey_url)
        real, late = connection.redis.time, [0.5, 0.5, 0.5, 0.5, 0.0]

        async def time_late() -> object:
            answer = await real()
            await asyncio.sleep(late.pop(0) if late else 0.0)
            return answer

        monkeypatch.setattr(connection.redis, "time", time_late)
        await connection.open()
        assert abs(connection.now() - time.time()) < 0.1
        await connection.close()

    asyncio.run(run())


class Shifted:
    """A real server whose clock somebody sets: only its answer to TIME is another one."""

    def __init__(self, redis: object) -> None:
        self._redis, self.ahead = redis, 0.0

    async def time(self) -> tuple[int, int]:
        now = time.time() + self.ahead
        return int(now), int(now % 1 * 1e6)

    def __getattr__(self, name: str) -> object:
        return getattr(self._redis, name)


def test_a_server_clock_that_is_set_back_freezes_nobody_and_is_said_once(valkey_url, crawl_name, caplog):
    async def run() -> None:
        first = Frontier(valkey_url, crawl_name, Limits(delay=0.0))
        second = Frontier(valkey_url, crawl_name, Limits(delay=0.0))
        await first.open()
        clock = first.connection.redis = Shifted(first.connection.redis)
        await first.put([Link(f"http://a.example/{n}") for n in range(3)])
        await first.politeness.rest("a.example", first.now() + 0.2)
        before = first.now()
        clock.ahead = -3600.0
        for _ in range(2):
            await first.synchronize()
        assert first.now() == pytest.approx(before, abs=1.0), "the crawl's time goes on"
        await second.connection.open()
        second.connection.redis = Shifted(second.connection.redis)
        second.connection.redis.ahead = -3600.0
        await second.connection.synchronize()
        await second._agree_on_time(0.0)  # a worker that joins after the clock was set
        assert second.now() == pytest.approx(first.now(), abs=2.5)
        for _ in range(100):
            if (await second.lease(1)).leases:
                break
            await asyncio.sleep(0.05)  # polled: both clocks
        else:
            pytest.fail("the crawl froze")
        clock.ahead = 0.0  # the clock is right again
        await first.synchronize()
        assert first.connection.ahead == 0.0
        assert first.now() == pytest.approx(time.time(), abs=1.0)
        await first.close()
        await second.close()

    asyncio.run(run())
    said = [record.getMessage() for record in caplog.records if "was set back" in record.getMessage()]
    assert said[0].startswith("the server's clock was set back by 3600 s")
    assert len(said) == 2, "once a worker"


def test_a_server_clock_that_is_set_on_ends_no_lease_and_no_delay_and_is_said_once(valkey_url, crawl_name, caplog):
    async def run() -> None:
        workers = [Frontier(valkey_url, crawl_name, Limits(delay=30.0, lease_seconds=20.0)) for _ in range(3)]
        first, second, later = workers
        for worker in (first, second):
            await worker.open()
            worker.connection.redis = Shifted(worker.connection.redis)
        await first.put([Link(f"http://a.example/{n}") for n in range(3)])
        (held,) = (await first.lease(1)).leases
        before = first.now()
        for worker in (first, second):
            worker.connection.redis.ahead = 3600.0
            await worker.synchronize()
            assert worker.now() == pytest.approx(before, abs=2.0), "the crawl's time goes on"
            assert not (await worker.lease(3)).leases, "neither is the lease over, nor the delay of the site"
        await later.connection.open()
        later.connection.redis = Shifted(later.connection.redis)
        later.connection.redis.ahead = 3600.0
        await later.connection.synchronize()
        await later._agree_on_time(0.0)  # a worker that joins after the clock was set
        assert later.now() == pytest.approx(first.now(), abs=2.5)
        assert await first.settle([(held.token, None)]) == [True]
        for ahead in (0.0, -600.0):  # it is right again, and then set back
            for worker in workers:
                worker.connection.redis.ahead = ahead
                await worker.synchronize()
                assert worker.now() == pytest.approx(time.time(), abs=3.0)
        for worker in workers:
            await worker.close()

    asyncio.run(run())
    said = [record.getMessage() for record in caplog.records if "was set on" in record.getMessage()]
    assert said[0].startswith("the server's clock was set on by 3600 s")
    assert len(said) == 3, "once a worker"


def test_a_crawl_in_which_nobody_works_believes_the_clock_again(valkey_url, crawl_name):
    async def run() -> None:
        first = Frontier(valkey_url, crawl_name, Limits(delay=0.0))
        await first.open()
        clock = first.connection.redis = Shifted(first.connection.redis)
        await first.put([Link("http://a.example/")])
        clock.ahead = 60.0
        await first.synchronize()
        assert first.connection.ahead == pytest.approx(-60.0, abs=1.0)
        await first.close()
        another = Frontier(valkey_url, crawl_name, Limits(delay=0.0))
        await another.connection.open()
        another.connection.redis = Shifted(another.connection.redis)
        another.connection.redis.ahead = 60.0 + 3600.0  # an hour later
        await another.connection.synchronize()
        another.connection.ahead = 0.0
        await another._agree_on_time(0.0)
        assert another.connection.ahead == 0.0
        await another.close()

    asyncio.run(run())


def test_a_local_clock_that_is_set_changes_nothing(valkey_url, monkeypatch):
    connection = Connection(valkey_url)
    before, real = connection.now(), time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3600)
    assert connection.now() == pytest.approx(before, abs=1.0)
