"""What all workers fetch once: the one that fetches it may die, and may take long."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from tests.support.places import PROJECT

HOLDER = """
import asyncio, sys
from crawler.frontier.client import Frontier

async def hold(url):
    frontier = Frontier(url, "flight")
    frontier.limits = type(frontier.limits)(lease_seconds=1.0)
    await frontier.open()
    async with frontier.shared.single_flight("robots", 600.0) as first:
        print(first, flush=True)
        await asyncio.sleep(60)

asyncio.run(hold(sys.argv[1]))
"""


def test_a_worker_killed_in_flight_is_waited_for_no_longer_than_for_its_leases(valkey_url):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, valkey_url],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == "True"
    holder.kill()
    holder.communicate()

    async def wait() -> None:
        frontier = Frontier(valkey_url, "flight", Limits(lease_seconds=1.0))
        await frontier.open()
        async with asyncio.timeout(300.0), frontier.shared.single_flight("robots", 600.0) as first:
            assert not first
        await frontier.close()

    asyncio.run(wait())


def test_a_flight_that_lasts_longer_than_a_lease_is_still_the_only_one(valkey_url):
    async def run() -> None:
        one, two = (Frontier(valkey_url, "long", Limits(lease_seconds=3.0)) for _ in range(2))
        await one.open()
        await two.open()
        landed = False

        async def other() -> bool:
            async with two.shared.single_flight("robots", 600.0) as first:
                assert not first
                return landed

        async with one.shared.single_flight("robots", 600.0) as first:
            assert first
            waiting = asyncio.create_task(other())
            await asyncio.sleep(3.5)  # longer than the life of the lock: the passing of time is what is tested
            landed = True
        assert await waiting
        await one.close()
        await two.close()

    asyncio.run(run())
