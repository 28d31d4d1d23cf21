"""Workers die: what was not in hand loses nothing, what was is tried alone, and only proof gives a page up."""

from __future__ import annotations

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Lease, Mark
from crawler.frontier.unfinished import held
from crawler.urls.link import Link
from tests.support.frontier_shorthand import ack, dead

SHORT = 5.0  # seconds; longer than the longest lease of these tests


def sites(*names: str) -> list[Link]:
    return [Link(f"https://{name}.example/") for name in names]


async def take(frontier: Frontier, n: int = 10, in_hand: int = 0) -> list[Lease]:
    return list((await frontier.lease(n, in_hand)).leases)


async def begin(frontier: Frontier, lease: Lease) -> None:
    """Its request is sent next."""
    assert await frontier.mark([(lease.token, Mark.ALONE if lease.alone else Mark.IN_HAND)]) == [True]


async def taken(frontier: Frontier, clock) -> Lease:
    """The only URL there is, once its rest is over."""
    found = await take(frontier)
    if not found:
        clock.advance(64.0)
        found = await take(frontier)
    (lease,) = found
    return lease


async def die_of(frontier: Frontier, clock, times: int) -> None:
    """The only URL there is kills the worker that has it in hand, again and again."""
    for _ in range(times):
        lease = await taken(frontier, clock)
        assert not lease.exhausted
        await begin(frontier, lease)
        clock.advance(SHORT)


def test_a_lease_that_expired_before_its_request_was_sent_costs_the_url_nothing(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(sites("a", "b", "c"))
        for _ in range(50):
            found = await take(frontier)
            assert [lease.url for lease in found] == [link.url for link in sites("a", "b", "c")]
            assert all((lease.attempt, lease.reasons, lease.alone) == (1, (), False) for lease in found)
            clock.advance(SHORT)

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_what_was_in_hand_comes_back_alone_and_the_rest_together(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(sites("a", "b", "c", "d"))
        a, b, *_ = await take(frontier)
        await begin(frontier, a)
        await begin(frontier, b)
        clock.advance(SHORT)
        for suspect in (a, b):
            (lease,) = await take(frontier)
            assert (lease.url, lease.alone, lease.attempt, lease.exhausted) == (suspect.url, True, 1, False)
        assert sorted(lease.url for lease in await take(frontier)) == ["https://c.example/", "https://d.example/"]

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_what_waits_of_a_blocked_host_has_what_is_tried_alone_of_it_and_of_no_other(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link("https://a.example/1"), Link("https://b.example/2")])
        for lease in await take(frontier):
            await begin(frontier, lease)
        clock.advance(SHORT)
        assert not await take(frontier, in_hand=1), "both wait to be tried alone"
        await frontier.politeness.block("a.example", clock.now + 1000.0, "Retry-After")
        assert [(url, reason) async for url, reason, _ in held(frontier)] == [("https://a.example/1", "Retry-After")]

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0, shards=1)


def test_a_worker_with_something_in_hand_gets_a_suspect_only_after_idle_ones_had_their_chance(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(sites("a"))
        (lease,) = await take(frontier)
        await begin(frontier, lease)
        clock.advance(SHORT)
        assert not await take(frontier, in_hand=1)
        clock.advance(1.9)
        assert not await take(frontier, in_hand=1)
        clock.advance(0.1)
        (again,) = await take(frontier, in_hand=1)
        assert again.alone

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_a_suspect_that_is_settled_is_none_any_more(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(sites("a"))
        await die_of(frontier, clock, 2)
        lease = await taken(frontier, clock)
        assert lease.reasons == ("its worker died with nothing else in hand",)
        assert await ack(frontier, [(lease.token, 0.1)]) == [True]
        prefix = frontier.prefix(0)
        assert not await frontier.connection.redis.exists(prefix + "suspects", prefix + "alone", prefix + "why")
        counts = await frontier.counts()
        assert (counts.done, counts.dead, counts.queued) == (1, 0, 0)

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_a_page_that_kills_its_worker_at_once_is_given_up_and_recorded(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(sites("a"))
        await die_of(frontier, clock, 4)
        lease = await taken(frontier, clock)
        assert lease.exhausted
        assert set(lease.reasons) == {"its worker died with nothing else in hand"} and len(lease.reasons) == 3
        await ack(frontier, [(lease.token, None)])
        assert (await frontier.counts()).dead == 1
        assert [url for url, _ in [entry async for entry in dead(frontier)]] == ["https://a.example/"]
        assert await frontier.control.requeue("dead", reason="died") == 1, "as the summary advises"
        (again,) = await take(frontier)
        assert (again.alone, again.exhausted, again.reasons) == (False, False, ())

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_where_workers_die_all_the_time_no_page_is_blamed_for_it(frontier_run, clock):
    async def scenario(frontier):
        frontier.death_rate = 1 / 5  # lives of five seconds
        await frontier.put(sites("a"))
        for _ in range(30):
            lease = await taken(frontier, clock)
            assert not lease.exhausted
            await begin(frontier, lease)
            for _ in range(12):  # three seconds of a slow answer
                clock.advance(0.25)
                await begin(frontier, lease)
            clock.advance(SHORT)

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_a_suspect_rests_longer_after_each_death_so_that_workers_can_die_without_it(frontier_run, clock):
    async def scenario(frontier):
        frontier.death_rate = 1.0
        await frontier.put(sites("a"))
        await die_of(frontier, clock, 2)
        for rest in (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0):
            batch = await frontier.lease(1)
            assert not batch.leases and batch.counts.pending == 1
            clock.advance(rest - 0.1)
            assert not await take(frontier)
            clock.advance(0.1)
            await die_of(frontier, clock, 1)

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


@pytest.mark.parametrize("mark", [Mark.WAITING, Mark.DELIVERED])
def test_what_waits_for_its_turn_or_for_its_upload_is_not_in_hand(frontier_run, clock, mark):
    async def scenario(frontier):
        await frontier.put(sites("a"))
        for _ in range(10):
            (lease,) = await take(frontier)
            await begin(frontier, lease)
            assert await frontier.mark([(lease.token, mark)]) == [True]
            clock.advance(SHORT)
        (lease,) = await take(frontier)
        assert not lease.alone

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_a_heartbeat_does_not_change_what_is_in_hand(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(sites("a", "b"))
        a, b = await take(frontier)
        await begin(frontier, a)
        clock.advance(SHORT - 0.1)
        assert await frontier.extend([a.token, b.token]) == []
        clock.advance(SHORT)
        (again,) = await take(frontier)
        assert (again.url, again.alone) == (a.url, True)

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_the_mark_before_a_request_says_where_the_lease_is_lost(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(sites("a"))
        (lease,) = await take(frontier)
        clock.advance(SHORT)
        assert await take(frontier)
        assert await frontier.mark([(lease.token, Mark.IN_HAND)]) == [False]

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_a_suspect_keeps_to_the_turn_of_its_domain(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link("https://a.example/1"), Link("https://a.example/2")])
        (lease,) = await take(frontier)
        await begin(frontier, lease)
        clock.advance(SHORT)
        clock.advance(0.0)
        assert not await take(frontier)  # it may have been sent a moment ago
        clock.advance(29.9)
        assert not await take(frontier)
        clock.advance(0.1)
        (again,) = await take(frontier)
        assert again.alone
        clock.advance(1.0)
        assert not await take(frontier, in_hand=1)

    frontier_run(scenario, lease_seconds=SHORT, delay=30.0)


def test_a_suspect_of_a_paused_domain_does_not_keep_the_crawl_from_ending_and_a_purge_takes_it(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(sites("a"))
        (lease,) = await take(frontier)
        await begin(frontier, lease)
        clock.advance(SHORT)
        await frontier.control.pause("a.example")
        assert not await take(frontier)
        counts = await frontier.counts()
        assert (counts.queued, counts.waiting, counts.pending) == (1, 1, 0)
        await frontier.control.purge("a.example")
        counts = await frontier.counts()
        assert (counts.queued, counts.purged) == (0, 1)

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_a_suspect_that_failed_or_was_put_back_is_still_tried_alone(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(sites("a"))
        (lease,) = await take(frontier)
        await begin(frontier, lease)
        clock.advance(SHORT)
        (lease,) = await take(frontier)
        await frontier.nack(lease.token, clock.now + 30.0, "HTTP 500")
        clock.advance(30.0)
        (lease,) = await take(frontier)
        assert (lease.alone, lease.attempt) == (True, 2)
        await frontier.release([lease.token])
        (lease,) = await take(frontier)
        assert lease.alone

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)


def test_one_page_that_kills_its_worker_takes_none_of_fifteen_neighbours(frontier_run, clock):
    async def scenario(frontier):
        names = [f"s{n}" for n in range(16)]
        await frontier.put(sites(*names))
        for _ in range(40):
            cohort = await take(frontier, 16)
            if not cohort and (await frontier.counts()).pending == 0:
                break
            for lease in cohort:
                if not lease.exhausted:
                    await begin(frontier, lease)
            if any("s7." in lease.url and not lease.exhausted for lease in cohort):
                clock.advance(100.0)
                continue
            await ack(frontier, [(lease.token, None if lease.exhausted else 0.1) for lease in cohort])
            clock.advance(1.0)
        counts = await frontier.counts()
        assert (counts.done, counts.dead, counts.pending) == (15, 1, 0)

    frontier_run(scenario, lease_seconds=SHORT, delay=0.0)
