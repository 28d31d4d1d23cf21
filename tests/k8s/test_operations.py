"""What docs/operations.md promises of saving, restoring, stopping and of costs."""

from __future__ import annotations

import asyncio
import re
import shutil
import threading
from pathlib import Path

import redis

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, Mode
from crawler.server.embedded import EmbeddedServer
from crawler.urls.link import Link
from tests.support.places import PROJECT

PAGE = (PROJECT / "docs/operations.md").read_text()
COSTS = (PROJECT / "docs/scaling.md").read_text()


def test_a_frontier_that_was_copied_while_it_was_used_goes_on_from_the_copy(redis_url, tmp_path: Path):
    """The commands of "Backup and restore", between puts that do not stop."""
    source = next(path.parent for path in (tmp_path / "server").rglob("appendonlydir"))

    async def put(url: str, first: int, count: int) -> int:
        frontier = Frontier(url, "main", Limits(delay=1.0))
        await frontier.open()
        if count:
            await frontier.put([Link(f"https://h{n % 9}.example/{n}") for n in range(first, first + count)])
        counts = await frontier.counts()
        await frontier.close()
        return counts.queued

    before = asyncio.run(put(redis_url, 0, 500))
    stop = threading.Event()

    def go_on() -> None:
        first = 500
        while not stop.is_set():
            asyncio.run(put(redis_url, first, 50))
            first += 50

    putting = threading.Thread(target=go_on)
    putting.start()
    client = redis.Redis.from_url(redis_url)
    assert "CONFIG SET auto-aof-rewrite-percentage 0" in PAGE
    client.config_set("auto-aof-rewrite-percentage", 0)
    while client.info("persistence")["aof_rewrite_in_progress"]:
        pass
    copied = tmp_path / "restored"
    shutil.copytree(source / "appendonlydir", copied / "appendonlydir")
    stop.set()
    putting.join()
    client.close()
    with EmbeddedServer(copied) as url:
        assert asyncio.run(put(url, 0, 0)) >= before == 500


def test_a_drained_crawl_hands_out_again_after_resume(frontier_run):
    assert "`gristmill frontier drain`: workers finish and end; `gristmill frontier resume`" in PAGE
    from crawler.frontier.operate import Order, act

    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link("https://h.example/1")])
        await act(frontier, Order("drain"))
        assert (await frontier.counts()).mode is Mode.DRAIN
        assert not (await frontier.lease(1)).leases
        await act(frontier, Order("resume"))
        assert len((await frontier.lease(1)).leases) == 1

    frontier_run(scenario, delay=0.0)


def test_costs_are_computed_from_the_measured_figures():
    milliseconds = int(re.search(r"(\d+) CPU ms a page", COSTS)[1])  # type: ignore[index]
    assert f"a page costs {milliseconds} CPU\nmilliseconds" in PAGE
    assert f"{86_400 / (milliseconds / 1000) / 1e6:.1f} million pages a day" in PAGE
    assert re.search(r"everything of the frontier included \| 74 B", COSTS)
    assert "costs 74 bytes" in PAGE
    assert re.search(r"\(`RECRAWL_REMEMBER`\) \| 195 B", COSTS)
    assert "a visited one 195" in PAGE
