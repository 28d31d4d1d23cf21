"""Runnable work: what more workers could fetch, by the one definition that status, exporter and autoscalers use."""

from __future__ import annotations

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Mode
from crawler.frontier.overview import overview
from crawler.urls.link import Link

QUEUED = {"deep": 100, "small": 10, "third": 100}


async def fill(frontier: Frontier) -> None:
    for host, count in QUEUED.items():
        await frontier.put([Link(f"https://{host}.example/{n}") for n in range(count)])


async def fetchable(frontier: Frontier) -> int:
    return (await overview(frontier)).fetchable


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize(("delay", "expected"), [(1.0, 60 + 10 + 60), (30.0, 2 + 2 + 2), (0.0, 210)])
def test_a_domain_counts_what_is_queued_but_no_more_than_its_delay_lets_a_minute_fetch(
    frontier_run, delay, expected, shards
):
    async def scenario(frontier: Frontier) -> None:
        await fill(frontier)
        assert await fetchable(frontier) == expected

    frontier_run(scenario, delay=delay, shards=shards)


def test_a_domain_with_a_longer_delay_of_its_own_counts_by_that(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        await fill(frontier)
        await frontier.politeness.set_delay("deep.example", 20.0, "robots:deep.example")
        assert await fetchable(frontier) == 3 + 10 + 60

    frontier_run(scenario, delay=1.0)


@pytest.mark.parametrize(("seconds", "left"), [(20.0, 40), (59.5, 1), (60.0, 0), (3600.0, 0)])
def test_a_blocked_domain_counts_for_the_rest_of_the_minute_after_its_block(frontier_run, clock, seconds, left):
    async def scenario(frontier: Frontier) -> None:
        await fill(frontier)
        await frontier.politeness.block("deep.example", clock.now + seconds, "http_503")
        assert await fetchable(frontier) == left + 10 + 60

    frontier_run(scenario, delay=1.0)


def test_a_paused_domain_counts_nothing_until_it_is_resumed(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        await fill(frontier)
        await frontier.control.pause("deep.example")
        assert await fetchable(frontier) == 70
        await frontier.control.resume("deep.example")
        assert await fetchable(frontier) in (129, 130)  # its first turn may be a delay away

    frontier_run(scenario, delay=1.0)


@pytest.mark.parametrize("mode", [Mode.PAUSE, Mode.DRAIN])
def test_a_crawl_that_hands_nothing_out_asks_for_no_worker(frontier_run, mode):
    async def scenario(frontier: Frontier) -> None:
        await fill(frontier)
        await frontier.control.set_mode(mode)
        assert await fetchable(frontier) == 0
        await frontier.control.set_mode(Mode.RUN)
        assert await fetchable(frontier) == 130

    frontier_run(scenario, delay=1.0)


def test_urls_that_wait_for_a_later_try_of_their_own_do_not_count(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link(f"https://deep.example/{n}") for n in range(3)])
        (lease,) = (await frontier.lease(1)).leases
        await frontier.nack(lease.token, clock.now + 600.0, "http_error")
        view = await overview(frontier)
        assert (view.counts.queued, view.counts.waiting, view.fetchable) == (3, 1, 2)

    frontier_run(scenario, delay=1.0)


def test_workers_that_fetch_do_not_change_what_a_deep_domain_asks_for(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link(f"https://deep.example/{n}") for n in range(500)])
        before = await fetchable(frontier)
        for _ in range(5):
            assert len((await frontier.lease(10)).leases) == 1
            clock.advance(1.0)
        assert before == await fetchable(frontier) == 60

    frontier_run(scenario, delay=1.0, concurrency=8)
