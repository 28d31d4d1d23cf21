"""Many crawls on one server: whatever is done to one leaves every key of the others as it was, to the byte."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, Mode
from crawler.frontier.operate import Order, act
from crawler.frontier.overview import overview
from crawler.frontier.seeding import join_scope, seed_frontier
from crawler.scheduler.start_urls import StartUrls, parse_entry, start_urls_key
from crawler.seeds.plan import plan_seeds
from crawler.seeds.scope import Scope
from crawler.urls.link import Link
from tests.support.frontier_shorthand import ack, reserve


async def keys_of(frontier: Frontier) -> dict[bytes, bytes]:
    """Every key of the crawl with its serialised value."""
    redis = frontier.connection.redis
    names = [key async for key in redis.scan_iter(f"{{{frontier.crawl}.*", count=1000)]
    return {name: await redis.dump(name) for name in sorted(names)}


async def fill(frontier: Frontier) -> None:
    """A little of every state a URL can be in."""
    scope = Scope(link_hosts=frozenset({"a.example", "b.example"}))
    await join_scope(frontier, scope)
    await frontier.put([Link(f"https://{host}.example/{n}") for host in "abc" for n in range(6)])
    for step in range(4):
        for lease in (await frontier.lease(3)).leases:
            match step:
                case 0:
                    await frontier.hold(lease.token, frontier.now() + 99.0, "doubt")
                case 1:
                    await frontier.nack(lease.token, frontier.now() + 99.0, "http_error")
                case 2:
                    await frontier.nack(lease.token, None, "http_error", counted=True)
                    await frontier.nack(lease.token, None, "http_error", counted=True)
                    await ack(frontier, [(lease.token, None)])
    await frontier.politeness.block("c.example", frontier.now() + 999.0, "HTTP 503")
    await frontier.politeness.set_delay("a.example", 7.0, "robots")
    await frontier.shared.put_blob("https://a.example/robots.txt", b"User-agent: *", 900.0)


async def everything(frontier: Frontier) -> None:
    """Every command and every operation of a worker."""
    await overview(frontier)
    for order in (
        Order("pause"),
        Order("resume"),
        Order("drain"),
        Order("resume"),
        Order("pause", domain="a.example"),
        Order("resume", domain="a.example"),
        Order("requeue", "held", domain="a.example"),
        Order("requeue", "later"),
        Order("requeue", "dead", reason="http"),
        Order("requeue", "held"),
        Order("purge", domain="b.example", yes=True),
    ):
        await act(frontier, order)
    await seed_frontier(frontier, plan_seeds(url="https://d.example/", sitemap="https://e.example/s.xml"))
    await frontier.control.requeue("leased")
    await frontier.control.requeue("due")
    for lease in (await frontier.lease(9)).leases:
        await frontier.extend([lease.token])
        await ack(frontier, [(lease.token, 0.1)])
    await reserve(frontier, "https://a.example/")
    await frontier.politeness.set_priority("a.example", 5)
    await frontier.control.set_mode(Mode.DRAIN)
    async with frontier.shared.single_flight("x"):
        pass


@pytest.mark.parametrize("shards", [1, 3])
def test_nothing_that_is_done_to_one_crawl_touches_another(valkey_url, crawl_name, shards):
    limits = Limits(delay=0.0, concurrency=9, tries=2, shards=shards)
    names = [crawl_name, f"{crawl_name}.0", f"{crawl_name}0", f"x{crawl_name}", f"{crawl_name}.1"]

    async def scenario() -> None:
        crawls = [Frontier(valkey_url, name, limits) for name in names]
        for frontier in crawls:
            await frontier.open()
            await fill(frontier)
        before = [await keys_of(frontier) for frontier in crawls]
        assert all(len(keys) > 10 for keys in before)
        await everything(crawls[0])
        after = [await keys_of(frontier) for frontier in crawls]
        assert after[1:] == before[1:]
        assert after[0] != before[0]
        for frontier in crawls:
            await frontier.close()

    asyncio.run(scenario())


# --- the open door ---------------------------------------------------------------------------------------------------


def test_each_crawl_has_a_door_of_its_own_and_the_default_one_has_the_usual_name():
    usual = "%(name)s:start_urls"
    assert start_urls_key(usual, "corpus", "crawl") == "corpus:start_urls"
    assert start_urls_key(usual, "corpus", "news") == "corpus:start_urls:news"
    assert start_urls_key("in:%(crawl)s", "corpus", "news") == "in:news"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (b" https://A.example/x?utm_source=1#top \n", (("https://a.example/x", "https://a.example/x?utm_source=1"), 0)),
        (b'{"url": "https://a.example/", "priority": -5}', (("https://a.example/", ""), -5)),
        ('"https://a.example/ü"'.join(['{"url": ', "}"]).encode(), (("https://a.example/%C3%BC", ""), 0)),
    ],
)
def test_an_entry_is_a_url_alone_or_with_a_priority(entry, expected):
    assert parse_entry(entry) == expected


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"mailto:a@b.example",
        b"https://a.example/ priority=5",
        b"https://user:secret@a.example/",
        b"\xff\xfe",
        b'{"url": "https://a.example/", "meta": {"lease": "x"}}',
        b'{"url": "https://a.example/", "callback": "parse"}',
        b'{"url": "https://a.example/", "url": "https://b.example/"}',
        b'{"priority": 1}',
        b'{"url": ["https://a.example/"]}',
        b'{"url": "https://a.example/", "priority": true}',
        b'{"url": "https://a.example/", "priority": 1.5}',
        b'{"url": "https://a.example/ priority=5"}',
        b'{"url": "https://a.example/", "priority": 1' + b"0" * 5000 + b"}",
        b'{"url": ' + b"[" * 4900 + b"]" * 4900 + b"}",
        b'{"a":' * 1900,
        b"https://a.example/" + b"x" * 20_000,
    ],
)
def test_whatever_else_comes_through_the_door_is_refused(entry):
    with pytest.raises(ValueError):
        parse_entry(entry)


def test_the_door_takes_good_entries_once_and_leaves_a_key_of_another_kind_alone(frontier_run, caplog):
    async def scenario(frontier: Frontier) -> None:
        redis, key = frontier.connection.redis, f"door:{frontier.crawl}"
        good = [b"https://a.example/1", json.dumps({"url": "https://a.example/1", "priority": 9}).encode()]
        await redis.rpush(key, b'{"url": ' + b"[" * 4900, *good, b"https://elsewhere.example/")
        door = StartUrls(frontier.connection, key, lambda url: "a.example" in url, frontier.put)
        assert await door.take() == 4
        assert await redis.exists(key) == 0
        assert (await frontier.counts()).queued == 1
        assert await door.take() == 0  # it looks once a second
        await redis.set(key, "something else")
        other = StartUrls(frontier.connection, key, lambda _: True, frontier.put)
        assert await other.take() == 0
        assert await redis.get(key) == b"something else"
        await redis.delete(key)

    with caplog.at_level(logging.WARNING):
        frontier_run(scenario)
    assert "is neither list nor stream" in caplog.text
    assert "outside the crawl's scope" in caplog.text
