"""One site's links do not fill the server, and what helps against a full one works while it is full."""

from __future__ import annotations

import asyncio
import random
import sys

import pytest
import redis

from crawler.frontier import operate
from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, Mode, Nack, PutStatus
from crawler.frontier.operate import Order
from crawler.frontier.politeness import AddressRow
from crawler.frontier.script_source import script_source
from crawler.urls.link import Link
from tests.support import warm
from tests.support.places import PROJECT

SITE = "http://flood.example"
WORDS = random.Random(5)


def long_links(page: int, n: int, mark: str | None = "0") -> list[Link]:
    """Links of nearly 2,000 characters that no compression makes small."""
    return [Link(f"{SITE}/{page}/{n}/{WORDS.randbytes(900).hex()}", depth=1, mark=mark) for n in range(n)]


def test_the_links_of_one_site_take_up_a_bounded_number_of_bytes(frontier_run):
    async def scenario(frontier):
        answers = [await frontier.put(long_links(page, 200)) for page in range(20)]
        taken = sum(status is PutStatus.QUEUED for of_page in answers for status in of_page)
        assert {*answers[-1]} == {PutStatus.FULL}, "the site has no bytes left"
        assert 400 < taken < 1200
        assert (await frontier.counts()).queued == taken
        redis, prefix = frontier.connection.redis, frontier.prefix(0)
        kept = [await redis.memory_usage(f"{prefix}{key}flood.example") or 0 for key in ("q:", "o:", "z:")]
        assert sum(kept) < 1.6 * 2**20
        small, seed = Link("http://small.example/a", depth=1, mark="0"), Link(f"{SITE}/seed", priority=1000)
        others = await frontier.put([small, seed])
        assert others == [PutStatus.QUEUED] * 2, "other sites have room, and a seed always has"

    frontier_run(scenario, max_bytes=2**20, max_queued=128)


def test_a_link_that_was_left_out_is_taken_when_there_is_room_again(frontier_run, clock):
    async def scenario(frontier):
        links = long_links(0, 300)
        first = await frontier.put(links)
        left = [link for link, status in zip(links, first, strict=True) if status is PutStatus.FULL]
        assert left
        while leases := (await frontier.lease(1)).leases:
            await frontier.settle([(lease.token, None) for lease in leases])
        again = await frontier.put(left[:50])
        assert {*again} == {PutStatus.QUEUED}, "it was not remembered as known"
        assert await frontier.put(links[:1]) == [PutStatus.SEEN]

    frontier_run(scenario, max_bytes=200_000, delay=0.0)


@pytest.fixture
def full(redis_url):
    """`full()` fills the server with what is nobody's: from then on it refuses whatever needs memory."""
    client = redis.Redis.from_url(redis_url)

    def fill() -> redis.Redis:
        client.config_set("maxmemory-policy", "noeviction")
        client.set("junk", b"x" * 4 * 2**20)
        client.config_set("maxmemory", 1)
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            client.set("more", "x")
        return client

    yield fill
    client.config_set("maxmemory", 0)
    client.close()


def test_what_frees_memory_or_asks_for_less_works_on_a_full_server(redis_url, full):
    async def run():
        frontier = Frontier(redis_url, "crawl", Limits(delay=0.0))
        await frontier.open()
        await frontier.put([Link(f"http://site{n}.example/{k}") for n in range(9) for k in range(3)])
        leases = (await frontier.lease(9)).leases
        settled, failed, held, returned, alive, *_ = tokens = [lease.token for lease in leases]
        full()
        async with asyncio.timeout(20):  # a refused script would wait for memory
            assert await frontier.settle([(settled, None, b"", b"")]) == [True]
            assert await frontier.nack(failed, None, "x") is Nack.QUEUED
            assert await frontier.hold(held, frontier.now() + 60, "hold_robots_unreachable: x") > 0
            await frontier.release([returned])
            await frontier.finish([(alive, None)])
            assert await frontier.extend(tokens[4:]) == []
            assert len((await frontier.lease(3)).leases) == 3
            await frontier.politeness.block("site1.example", frontier.now() + 60, "x")
            await frontier.politeness.set_delay("site2.example", 5.0, "robots:x")
            await frontier.politeness.claim("site3.example", 0)
            await frontier.politeness.ask_addresses([AddressRow("send", "192.0.2.1", 0.5, "x")])
            for action in ("pause", "resume", "drain", "resume"):
                assert await operate.act(frontier, Order(action))
            assert (await frontier.counts()).mode is Mode.RUN
            assert "is paused" in await operate.act(frontier, Order("pause", domain="site4.example"))
            assert "is resumed" in await operate.act(frontier, Order("resume", domain="site4.example"))
            said = await operate.act(frontier, Order("purge", domain="site5.example", yes=True))
            assert "removed" in said
            waiting = asyncio.ensure_future(frontier.put([Link("http://new.example/")]))
            await asyncio.sleep(0.3)  # that it does not end is what is looked at
            assert not waiting.done(), "what only grows waits"
            waiting.cancel()
        await frontier.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    "action", [["pause"], ["purge", "--domain", "flood.example", "--yes"], ["status"]], ids=" ".join
)
def test_the_documented_commands_work_on_a_full_server(redis_url, full, action):
    async def put():
        frontier = Frontier(redis_url, "crawl", Limits())
        await frontier.open()
        await frontier.put(long_links(0, 50))
        await frontier.close()

    asyncio.run(put())
    client = full()
    command = [sys.executable, "-m", "crawler.commands.gristmill", "frontier", *action, "-s", f"REDIS_URL={redis_url}"]
    done = warm.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr + done.stdout
    if action[0] == "purge":
        assert client.exists("{crawl.0}:q:flood.example") == 0


def test_no_script_that_only_takes_in_runs_at_full_memory():
    dirty = "redis.call('DEL', KEYS[1] .. 'none')"
    assert [name for name in ("put", "adopt", "hasten", "sweep") if dirty in script_source(name).text] == []
