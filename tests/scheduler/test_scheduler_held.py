"""A host that could not be judged is asked again, also where nothing else is left to do."""

from __future__ import annotations

import asyncio
import contextlib

from crawler.scheduler.held import bring_back_held
from crawler.urls.candidate import Candidate


def test_what_is_on_hold_comes_back_in_a_crawl_without_end_and_lets_any_other_end(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Candidate("http://a.example/")])
        (lease,) = (await frontier.lease(1)).leases
        await frontier.hold(lease.token, clock.now + 60.0, "hold_robots_unreachable")
        clock.advance(3600.0)
        await asyncio.wait_for(bring_back_held(frontier, idle_seconds=1.0), 60)
        batch = await frontier.lease(1)
        assert (batch.leases, batch.counts.held) == ((), 1), "alone it keeps no crawl from ending"

        looking = asyncio.ensure_future(bring_back_held(frontier, idle_seconds=0.0, every=0.01))
        async with asyncio.timeout(60):
            while not (leases := (await frontier.lease(1)).leases):
                await asyncio.sleep(0.01)
        assert [one.url for one in leases] == ["http://a.example/"]
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking

    frontier_run(scenario)
