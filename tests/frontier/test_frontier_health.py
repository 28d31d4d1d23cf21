"""A host in trouble is left in peace: circuit breaker, slowing down after 429 and 503, delays of several sources."""

from __future__ import annotations

from crawler.frontier.again import after_outage
from crawler.frontier.model import Fault, Nack, Wire
from crawler.frontier.politeness import ALLOWLIST
from crawler.frontier.unfinished import held
from crawler.urls.link import Link

HOST = "https://a.example"


def pages(n: int) -> list[Link]:
    return [Link(f"{HOST}/{i}") for i in range(n)]


async def fail(frontier, clock, times: int, fault: Fault = Fault.HOST) -> list[str]:
    """Lease and fail, one URL after the other, without a pause; returns what was tried."""
    tried = []
    for _ in range(times):
        (lease,) = (await frontier.lease(1)).leases
        tried.append(lease.url)
        await frontier.nack(lease.token, clock.now + 5000.0, "timeout", wire=Wire(clock.now, 0.0), fault=fault)
    return tried


BREAKER = {"delay": 0.0, "breaker_failures": 3, "breaker_pause": 30.0, "breaker_longest": 100.0, "patience": 60.0}


def test_after_failures_of_different_urls_in_a_row_nobody_asks_the_host(frontier_run, clock):
    async def scenario(frontier):
        frontier._jitter = lambda: 1.0
        await frontier.put(pages(9))
        await fail(frontier, clock, 3)
        clock.advance(59.9)
        assert not (await frontier.lease(9)).leases
        clock.advance(0.1)
        assert (await frontier.lease(9)).leases

    frontier_run(scenario, **BREAKER)


def test_a_success_in_between_starts_the_count_again(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages(9))
        await fail(frontier, clock, 2)
        (lease,) = (await frontier.lease(1)).leases
        await frontier.settle([(lease.token, Wire(clock.now, 0.0))])
        await fail(frontier, clock, 2)
        assert (await frontier.lease(1)).leases

    frontier_run(scenario, **BREAKER)


def test_further_tries_of_one_url_and_its_own_failures_do_not_open_it(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages(9))
        for _ in range(4):
            (lease,) = (await frontier.lease(1)).leases
            await frontier.nack(lease.token, None, "HTTP 500", wire=Wire(clock.now, 0.0), fault=Fault.HOST)
        await fail(frontier, clock, 4, Fault.URL)
        assert (await frontier.lease(1)).leases

    frontier_run(scenario, tries=9, **BREAKER)


def test_exactly_one_url_probes_the_host_until_its_outcome_is_known(frontier_run, clock):
    async def scenario(frontier):
        frontier._jitter = lambda: 0.0
        await frontier.put(pages(9))
        await fail(frontier, clock, 3)
        clock.advance(15.0)  # without jitter half of the first pause
        (probe,) = (await frontier.lease(9)).leases
        await frontier.finish([(probe.token, Wire(clock.now, 0.0))])  # an answer, but which one?
        assert not (await frontier.lease(9)).leases
        await frontier.settle([(probe.token, Wire(clock.now, 0.0))])
        assert len((await frontier.lease(9)).leases) == 4  # closed: as many as may run at a time

    frontier_run(scenario, concurrency=4, **BREAKER)


def test_a_failed_probe_opens_it_for_longer_costs_no_try_and_another_url_is_next(frontier_run, clock):
    async def scenario(frontier):
        frontier._jitter = lambda: 1.0
        await frontier.put(pages(9))
        await fail(frontier, clock, 3)
        probes, pauses = [], []
        for _ in range(4):
            opened = clock.now
            while not (found := (await frontier.lease(9)).leases):
                clock.advance(1.0)
            pauses.append(clock.now - opened)
            probes += [lease.url for lease in found]
            answer = await frontier.nack(found[0].token, None, "refused", wire=Wire(clock.now, 0.0), fault=Fault.HOST)
            assert answer is Nack.QUEUED
        assert pauses == [60.0, 100.0, 100.0, 100.0]  # doubled up to the longest
        assert len(set(probes)) == 4
        clock.advance(100.0)
        seen = {}
        for _ in range(6):
            (lease,) = (await frontier.lease(1)).leases
            seen[lease.url] = lease.attempt
            await frontier.settle([(lease.token, Wire(clock.now, 0.0))])
        assert seen == {f"{HOST}/{i}": 1 for i in range(3, 9)}  # four failed probes, no try used up

    frontier_run(scenario, tries=2, **BREAKER)


def test_what_was_under_way_when_it_opened_keeps_its_tries(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages(9))
        *first, last = [(await frontier.lease(1)).leases[0] for _ in range(4)]
        for lease in (*first, last):
            answer = await frontier.nack(lease.token, None, "refused", wire=Wire(clock.now, 0.0), fault=Fault.HOST)
        assert answer is Nack.QUEUED  # the others had one try only
        assert (await frontier.counts()).leased == 3

    frontier_run(scenario, tries=1, concurrency=4, **BREAKER)


def test_a_probe_that_came_to_no_verdict_leaves_the_turn_to_another(frontier_run, clock):
    async def scenario(frontier):
        frontier._jitter = lambda: 0.0
        await frontier.put(pages(9))
        await fail(frontier, clock, 3)
        clock.advance(15.0)
        (probe,) = (await frontier.lease(9)).leases
        await frontier.release([probe.token])
        (probe,) = (await frontier.lease(9)).leases
        await frontier.hold(probe.token, 0.0, "robots.txt unreachable")
        (probe,) = (await frontier.lease(9)).leases
        await frontier.settle([(probe.token, None)])  # nothing was sent
        (probe,) = (await frontier.lease(9)).leases
        clock.advance(20.0)  # its worker is gone
        assert len((await frontier.lease(9)).leases) == 1

    frontier_run(scenario, lease_seconds=20.0, **BREAKER)


def test_an_open_breaker_is_named_and_does_not_keep_a_crawl_from_ending(frontier_run, clock):
    async def scenario(frontier):
        frontier._jitter = lambda: 1.0
        await frontier.put(pages(9))
        await fail(frontier, clock, 3)
        clock.advance(60.0)
        await fail(frontier, clock, 1)
        counts = await frontier.counts()
        assert (counts.queued, counts.pending) == (9, 0)
        reasons = {reason async for url, reason, _ in held(frontier) if not url.endswith(("/0", "/1", "/2", "/3"))}
        assert reasons == {"breaker: opened 2 times in a row"}

    frontier_run(scenario, **BREAKER)


def test_a_later_run_asks_a_host_whose_breaker_an_older_answer_has_closed_before_its_pause_was_over(
    frontier_run, clock
):
    async def scenario(frontier):
        frontier._jitter = lambda: 1.0
        await frontier.put(pages(9))
        (older,) = (await frontier.lease(1)).leases
        await fail(frontier, clock, 3)
        await frontier.settle([(older.token, Wire(clock.now, 0.0))])
        assert not (await frontier.lease(9)).leases
        await after_outage(frontier)
        assert (await frontier.lease(9)).leases

    frontier_run(scenario, concurrency=4, **BREAKER | {"patience": 1.0})


def test_it_can_be_switched_off(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages(40))
        assert len(await fail(frontier, clock, 40)) == 40

    frontier_run(scenario, **{**BREAKER, "breaker_failures": 0})


async def distance(frontier, clock) -> float:
    """Seconds between two turns of the host, as all workers see them."""
    at, slot = await frontier.politeness.claim("a.example", 0)
    assert slot
    return slot / 1000 - at


def test_503_doubles_the_delay_for_all_workers_and_answers_bring_it_back(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages(60))
        delays = []
        for _ in range(4):
            await fail(frontier, clock, 1, Fault.LOAD)
            delays.append(await distance(frontier, clock))
            clock.advance(100.0)
        assert delays == [2.0, 4.0, 8.0, 10.0]  # the longest allowed
        for _ in range(12):
            (lease,) = (await frontier.lease(1)).leases
            await frontier.settle([(lease.token, Wire(clock.now, 0.0))])
            delays.append(await distance(frontier, clock))
            clock.advance(100.0)
        falling = delays[3:]
        assert falling == sorted(falling, reverse=True)
        assert falling[5] < 2.0  # a tenth of the undisturbed rate comes back with every answer
        assert falling[-1] == 1.0

    frontier_run(scenario, delay=1.0, slowdown=10.0, breaker_failures=0, tries=9)


def test_requests_that_were_under_way_together_slow_down_once(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages(9))
        leases = (await frontier.lease(1)).leases + (await frontier.lease(1)).leases + (await frontier.lease(1)).leases
        sent = clock.now
        clock.advance(0.5)
        for lease in leases:
            await frontier.nack(lease.token, clock.now + 5, "HTTP 429", wire=Wire(sent, 0.5), fault=Fault.LOAD)
        clock.advance(100.0)
        assert await distance(frontier, clock) == 1.0  # from no delay at all to a second, not to four

    frontier_run(scenario, delay=0.0, concurrency=3, breaker_failures=0)


def test_the_longest_of_all_sources_holds_and_each_takes_back_its_own_word_only(frontier_run, clock):
    async def scenario(frontier):
        steps = []
        for source, seconds in [
            ("robots:https://a.example", 5.0),
            (ALLOWLIST, 3.0),
            ("robots:https://www.a.example", 8.0),
            ("robots:https://www.a.example", 0.0),
            ("robots:https://a.example", 0.0),
            (ALLOWLIST, 0.0),
        ]:
            await frontier.politeness.set_delay("a.example", seconds, source)
            steps.append(await distance(frontier, clock))
            clock.advance(100.0)
        assert steps == [5.0, 5.0, 8.0, 5.0, 3.0, 1.0]

    frontier_run(scenario, delay=1.0)
