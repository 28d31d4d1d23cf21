"""Seeds out of a Redis stream: each is in the frontier before it is acknowledged, and none is lost with its worker."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
import redis

from crawler.scheduler import seed_stream
from crawler.scheduler.start_urls import StartUrls
from crawler.server.connection import Connection

KEY = "corpus:start_urls"


class Door:
    """A door of a crawl, and what came through it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.put: list[tuple[str, int]] = []
        self.fails = False

    def take(self, times: int = 1) -> list[int]:
        """As one worker does, some times."""

        async def put(links):
            if self.fails:
                raise ConnectionError("the worker dies here")
            self.put += [(link.url, link.priority) for link in links]
            return []

        async def scenario():
            connection = Connection(self.url)
            try:
                door = StartUrls(connection, KEY, lambda url: "forbidden" not in url, put)
                found = []
                for _ in range(times):
                    door._looked = -1.0  # a second has passed
                    found.append(await door.take())
                return found
            finally:
                await connection.close()

        return asyncio.run(scenario())


@pytest.fixture
def door(redis_url):
    return Door(redis_url)


@pytest.fixture
def client(redis_url):
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        yield client


def test_entries_are_put_and_acknowledged_and_those_that_are_refused_as_well(door, client, caplog):
    client.xadd(KEY, {"url": "https://a.example/"})
    client.xadd(KEY, {"url": "https://b.example/", "priority": "3"})
    client.xadd(KEY, {"url": "https://c.example/", "meta": "evil"})
    client.xadd(KEY, {"url": "https://forbidden.example/"})
    client.xadd(KEY, {"link": b"\xff"})
    assert door.take() == [5]
    assert door.put == [("https://a.example/", 0), ("https://b.example/", 3)]
    (group,) = client.xinfo_groups(KEY)
    assert (group["name"], group["pending"], group["lag"]) == (b"gristmill", 0, 0)
    assert caplog.text.count("refused an entry") == 3
    assert "evil" not in caplog.text
    assert door.take(2) == [0, 0]


def test_what_a_worker_had_in_hand_when_it_died_another_one_puts(door, client, monkeypatch):
    client.xadd(KEY, {"url": "https://a.example/"})
    door.fails = True
    with pytest.raises(ConnectionError):
        door.take()
    door.fails = False
    assert door.take() == [0]  # for a minute it may still be in good hands
    monkeypatch.setattr(seed_stream, "_LEFT_MILLISECONDS", 0)
    assert door.take() == [1]
    assert door.put == [("https://a.example/", 0)]
    assert client.xpending(KEY, "gristmill")["pending"] == 0


def test_a_list_becomes_a_stream_and_a_stream_a_list_without_a_restart(door, client):
    client.rpush(KEY, "https://a.example/")
    assert door.take() == [1]
    client.xadd(KEY, {"url": "https://b.example/"})
    assert door.take() == [1]
    client.delete(KEY)
    client.rpush(KEY, "https://c.example/")
    assert door.take(2) == [1, 0]
    assert [url for url, _ in door.put] == ["https://a.example/", "https://b.example/", "https://c.example/"]


def test_a_key_that_holds_anything_else_is_named_and_left_alone(door, client, caplog):
    client.set(KEY, "mine")
    assert door.take(2) == [0, 0]
    assert caplog.text.count("is neither list nor stream") == 1
    assert client.get(KEY) == b"mine"
