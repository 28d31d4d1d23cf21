"""When a domain's queue is empty, as the live page says it: a frontier is emptied as fast as politeness lets it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crawler.explore.live import Look
from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, Mode
from crawler.frontier.overview import overview
from crawler.urls.link import Link
from tests.support.clock import FakeClock
from tests.support.frontier_shorthand import ack

DELAY = 2.0
STEP = 0.25  # seconds
NOTHING: Any = None  # what was written does not matter here


async def emptied(frontier: Frontier, clock: FakeClock, scopes: set[str]) -> dict[str, float]:
    """Seconds until each of these has nothing queued, where every lease is taken and settled at once."""
    begun, found = clock.now, {}
    while scopes - found.keys():
        while leases := (await frontier.lease(8)).leases:
            await ack(frontier, [(lease.token, 0.0) for lease in leases])
        view = await overview(frontier)
        found |= {s.scope: clock.now - begun for s in view.scopes if s.scope in scopes - found.keys() and not s.queued}
        clock.now += STEP
    return found


def test_a_queue_is_empty_when_the_page_says_that_it_can_be(redis_url: str) -> None:
    clock = FakeClock()
    sizes = {"one.example": 1, "four.example": 4, "slow.example": 3, "blocked.example": 2}

    async def scenario() -> None:
        frontier = Frontier(redis_url, "ends", Limits(delay=DELAY, concurrency=1), now=clock)
        await frontier.open()
        await frontier.put([Link(f"http://{host}/{n}") for host, size in sizes.items() for n in range(size)])
        await frontier.politeness.set_delay("slow.example", 7.0, "robots.txt")
        await frontier.politeness.block("blocked.example", clock.now + 30.0, "429")
        view = await overview(frontier)
        look = Look(0, NOTHING, view, "", DELAY)
        said = {scope.scope: look.ends_in(scope) for scope in view.scopes}
        assert said == {"one.example": 0.0, "four.example": 6.0, "slow.example": 14.0, "blocked.example": 32.0}
        assert await emptied(frontier, clock, set(sizes)) == pytest.approx(said, abs=STEP)
        after = await overview(frontier)
        assert {look.ends_in(scope) for scope in after.scopes} == {None}, "it has ended"
        await frontier.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("whole", [True, False])
def test_what_is_paused_has_no_end(redis_url: str, whole: bool) -> None:
    async def scenario() -> None:
        frontier = Frontier(redis_url, "ends", Limits(delay=DELAY))
        await frontier.open()
        await frontier.put([Link("http://one.example/")])
        if whole:
            await frontier.control.set_mode(Mode.PAUSE)
        else:
            await frontier.control.pause("one.example")
        view = await overview(frontier)
        await frontier.close()
        assert [Look(0, NOTHING, view, "", DELAY).ends_in(found) for found in view.scopes] == [None]

    asyncio.run(scenario())
