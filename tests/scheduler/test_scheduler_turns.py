"""A turn is permission to send; the distance to the next request counts from when the request was really sent."""

from __future__ import annotations

import asyncio
import time

from scrapy import Request

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.scheduler.acknowledge import LONGEST_BACKOFF, backoff
from crawler.scheduler.in_flight import SENT_AT, InFlight
from crawler.scheduler.turns import Turns
from crawler.urls.link import Link
from tests.support.frontier_shorthand import hands_of

HOST = "http://127.0.0.1:8000"


def test_a_page_that_went_out_late_delays_the_next_one(frontier_run, clock):
    async def scenario(frontier):
        in_flight = InFlight()
        turns = Turns(frontier, in_flight, hands_of(frontier, in_flight))
        await frontier.put([Link(f"{HOST}/a"), Link(f"{HOST}/b")])
        (lease,) = (await frontier.lease(1)).leases
        in_flight.add(lease)
        request = Request(lease.url, meta={"lease": lease})
        await turns.turn(request)
        clock.advance(0.7)  # the connection took its time
        request.meta[SENT_AT] = time.monotonic()
        turns.left(request)
        flight = in_flight.get(lease.token)
        await frontier.finish([(lease.token, flight.wire(frontier.now()))])
        clock.advance(0.9)
        assert (await frontier.lease(1)).leases == (), "a second has passed since the turn, not since the request"
        clock.advance(0.15)
        assert len((await frontier.lease(1)).leases) == 1

    frontier_run(scenario, delay=1.0)


def test_a_page_keeps_its_distance_from_a_robots_txt_that_went_out_late(valkey_url, crawl_name):
    async def run() -> None:
        frontier = Frontier(valkey_url, crawl_name, Limits(delay=0.3))
        await frontier.open()
        in_flight = InFlight()
        turns = Turns(frontier, in_flight, hands_of(frontier, in_flight))
        await frontier.put([Link(f"{HOST}/a")])
        (lease,) = (await frontier.lease(1)).leases
        in_flight.add(lease)
        robots = Request(f"{HOST}/robots.txt")
        await turns.wait(robots.url)
        await turns.turn(robots)
        await asyncio.sleep(0.2)  # on its way to the wire: the passing of time is what is tested
        robots.meta[SENT_AT] = time.monotonic()
        turns.left(robots)
        await turns.turn(Request(lease.url, meta={"lease": lease}))
        assert time.monotonic() - robots.meta[SENT_AT] >= 0.295
        await frontier.close()

    asyncio.run(run())


def test_a_request_that_never_reached_the_wire_changes_nothing(frontier_run):
    async def scenario(frontier):
        turns = Turns(frontier, InFlight(), hands_of(frontier, InFlight()))
        turns.left(Request(f"{HOST}/robots.txt"))
        await turns.wait(f"{HOST}/robots.txt")  # at once: nothing is known of the host

    frontier_run(scenario, delay=1.0)


def test_the_pause_after_a_failed_try_is_drawn_from_nothing_up_to_a_doubling_bound():
    bounds = []

    def draw(low: float, high: float) -> float:
        bounds.append((low, high))
        return low

    assert [backoff(2.0, attempt, draw) for attempt in (1, 2, 3, 9, 10_000)] == [0.0] * 5
    assert bounds == [(0.0, 4.0), (0.0, 8.0), (0.0, 16.0), (0.0, LONGEST_BACKOFF), (0.0, LONGEST_BACKOFF)]
    assert backoff(0.0, 3) == 0.0
