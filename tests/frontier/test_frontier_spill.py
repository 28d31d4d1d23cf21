"""Long queues overflow into a compact list: nothing is lost, nothing comes twice, and memory stays small."""

from __future__ import annotations

import asyncio
import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, PutStatus, Wire
from crawler.frontier.unfinished import held
from crawler.urls.link import Link
from tests.support.frontier_shorthand import ack

HOST = "https://a.example"
_serial = itertools.count()


def pages(n: int, host: str = HOST) -> list[Link]:
    return [Link(f"{host}/guide/chapter-{i}-of-the-reference-manual.html") for i in range(n)]


async def drain(frontier: Frontier, n: int = 50) -> list[str]:
    order = []
    while leases := (await frontier.lease(n)).leases:
        order += [lease.url for lease in leases]
        await frontier.settle([(lease.token, Wire(frontier.now(), 0.0)) for lease in leases])
    return order


def test_what_overflowed_comes_out_in_the_order_in_which_it_came(frontier_run):
    async def scenario(frontier):
        assert set(await frontier.put(pages(500))) == {PutStatus.QUEUED}
        redis, prefix = frontier.connection.redis, frontier.prefix(0)
        assert await redis.zcard(prefix + "q:a.example") == 20
        assert await redis.llen(prefix + "o:a.example") == 480
        assert await drain(frontier) == [c.url for c in pages(500)]
        assert (await frontier.counts()).done == 500

    frontier_run(scenario, delay=0.0, concurrency=5, max_queued=20)


def test_seeds_and_sitemaps_do_not_wait_in_the_overflow(frontier_run):
    async def scenario(frontier):
        await frontier.put(pages(100))
        await frontier.put(
            [Link(f"{HOST}/sitemap.xml", priority=1000, kind="sitemap"), Link(f"{HOST}/seed", priority=100)]
        )
        assert (await drain(frontier))[:2] == [f"{HOST}/sitemap.xml", f"{HOST}/seed"]

    frontier_run(scenario, delay=0.0, max_queued=10)


def test_counts_blocks_and_purge_see_what_overflowed(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages(100))
        await frontier.politeness.block("a.example", clock.now + 1000.0, "Retry-After")
        counts = await frontier.counts()
        assert (counts.queued, counts.waiting) == (100, 100)
        assert {url async for url, _, _ in held(frontier)} == {c.url for c in pages(100)}
        assert await frontier.control.purge("a.example") == 100
        keys = [key async for key in frontier.connection.redis.scan_iter(frontier.prefix(0) + "o:*")]
        assert (keys, (await frontier.counts()).queued) == ([], 0)

    frontier_run(scenario, max_queued=10)


def test_a_url_in_the_overflow_costs_less_than_half_of_one_in_a_long_queue(frontier_run, valkey_url):
    async def scenario(frontier):
        redis, sizes = frontier.connection.redis, {}
        for most in (0, 100):
            other = Frontier(valkey_url, f"{frontier.crawl}-{most}", Limits(max_queued=most))
            await other.open()
            await other.put(pages(5000))
            prefix = other.prefix(0)
            keys = [prefix + "q:a.example", prefix + "o:a.example"]
            sizes[most] = sum([await redis.memory_usage(key, samples=0) or 0 for key in keys]) / 5000
            await other.close()
        assert sizes[100] < sizes[0] / 2, sizes

    frontier_run(scenario)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(1, 60)),
        st.tuples(st.just("lease"), st.integers(1, 30)),
        st.tuples(st.just("fail"), st.integers(1, 5)),
    ),
    min_size=1,
    max_size=25,
)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(steps, st.integers(1, 12))
def test_whatever_is_put_comes_out_exactly_once(valkey_url, plan, most):
    async def scenario() -> None:
        limits = Limits(delay=0.0, concurrency=9, max_queued=most, tries=99, breaker_failures=0)
        frontier = Frontier(valkey_url, f"spill{next(_serial)}", limits)
        await frontier.open()
        put: list[str] = []
        done: list[str] = []
        for what, n in plan:
            if what == "put":
                new = [Link(f"https://h{i % 2}.example/{len(put) + i}", priority=i % 3 - 1) for i in range(n)]
                put += [c.url for c in new]
                await frontier.put(new)
                continue
            for lease in (await frontier.lease(n)).leases:
                if what == "fail":
                    await frontier.nack(lease.token, None, "reset")
                else:
                    done.append(lease.url)
                    await ack(frontier, [(lease.token, None)])
        assert (await frontier.counts()).queued == len(put) - len(done)
        done += await drain(frontier)
        await frontier.close()
        assert sorted(done) == sorted(put)

    asyncio.run(scenario())
