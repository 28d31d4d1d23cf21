"""One worker that asks few questions keeps the distance that a crawl keeps, of a host and of its address."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from scrapy import Request

from crawler.policy.addresses import AddressDelays
from crawler.scheduler import inmemory
from crawler.scheduler.inmemory import InMemoryFrontier, InMemoryScheduler


@pytest.fixture
def slept(monkeypatch):
    """Pauses take no time: they move the clock. Answers what the clock says."""
    now = [1000.0]

    async def sleep(seconds):
        now[0] += seconds

    monkeypatch.setattr(inmemory.time, "time", lambda: now[0])
    monkeypatch.setattr(inmemory.asyncio, "sleep", sleep)
    return lambda: now[0] - 1000.0


def moments(slept, steps):
    """When each of the steps was allowed."""

    async def run():
        found = []
        for step in steps:
            await step()
            found.append(slept())
        return found

    return asyncio.run(run())


def test_requests_to_names_that_share_an_address_keep_its_distance(slept):
    scheduler = InMemoryScheduler(InMemoryFrontier(0.0, "domain", AddressDelays(0.5, {"127.0.0.9/32": 2.0})))

    def write(number, address):
        return lambda: scheduler.before_writing(Request(f"http://n{number}.example/"), address, 9.0)

    assert moments(slept, [write(n, "127.0.0.1") for n in range(3)]) == [0.0, 0.5, 1.0]
    assert moments(slept, [write(n, "127.0.0.2") for n in range(2)]) == [1.0, 1.5]
    assert [b - a for a, b in pairwise(moments(slept, [write(n, "127.0.0.9") for n in range(3)]))] == [2.0, 2.0]


def test_a_turn_that_was_waited_for_is_used_by_the_next_request_and_by_no_other(slept):
    scheduler = InMemoryScheduler(InMemoryFrontier(1.0, "host", AddressDelays(0.0, {})))
    request = Request("http://a.example/x")
    steps = [
        lambda: scheduler.wait_turn(request.url),
        lambda: scheduler.turn(request),
        lambda: scheduler.turn(request),
        lambda: scheduler.turn(Request("http://b.example/")),
    ]
    assert moments(slept, steps) == [0.0, 0.0, 1.0, 1.0]


def test_a_hosts_own_delay_and_its_pause_hold(slept):
    frontier = InMemoryFrontier(1.0, "host", AddressDelays(0.0, {}))

    async def ask():
        await frontier.set_delay("a.example", 3.0, "robots.txt")

    turn = [lambda: frontier.take_turn("a.example")]
    assert moments(slept, [ask, *turn * 2, lambda: frontier.rest("a.example", 1010.0), *turn]) == [0, 0, 3, 3, 10]
