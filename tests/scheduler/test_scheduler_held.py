"""A host that could not be judged is asked again, also where nothing else is left to do."""

from __future__ import annotations

import asyncio
import contextlib
import time

from crawler.frontier import client
from crawler.frontier.client import Frontier
from crawler.scheduler.held import bring_back_held
from crawler.urls.link import Link


def test_what_is_on_hold_comes_back_in_a_crawl_without_end_and_lets_any_other_end(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link("http://a.example/")])
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


def test_a_worker_without_end_asks_a_held_page_again_though_nothing_else_is_left(
    crawl, make_site, redis_url, monkeypatch
):
    monkeypatch.setattr(client, "_FIRST_HOLD", 0.1)
    site = make_site(pages=1)
    held, seed = f"{site.url(0)}?held=1", site.url(0)

    async def scenario():
        frontier = Frontier(redis_url, "crawl")
        await frontier.put([Link(held)])
        (lease,) = (await frontier.lease(1)).leases
        worker = crawl.start({"url": seed}, NETWORK_PORTS=site.port, REDIS_URL=redis_url, FRONTIER_IDLE_SECONDS=0)
        async with asyncio.timeout(120):
            while (await frontier.counts()).done < 1:  # the seed: the worker is at work, and has nothing else
                assert worker.poll() is None, worker.communicate()
                await asyncio.sleep(0.05)
            await frontier.hold(lease.token, time.time() + 0.1, "hold_robots_unreachable")
            while (await frontier.counts()).done < 2:
                await asyncio.sleep(0.05)
        await frontier.close()
        worker.terminate()
        _, err = await asyncio.to_thread(worker.communicate, timeout=60)
        assert worker.returncode == 0, err

    asyncio.run(scenario())
