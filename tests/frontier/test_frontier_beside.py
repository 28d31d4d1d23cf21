"""Several crawls on one server: each keeps its own pace at a site, so each hears of the others."""

from __future__ import annotations

import logging
from dataclasses import asdict

from crawler.frontier.beside import warn_of_crawls_beside
from crawler.frontier.claims import Claims, Identity
from crawler.frontier.client import Frontier
from crawler.frontier.overview import overview
from crawler.frontier.status_table import render


async def opened(frontier: Frontier, name: str) -> Frontier:
    """Another crawl on the server of this one, with rules of its own."""
    other = Frontier(frontier.connection.url, name, frontier.limits, now=frontier.now)
    await other.open()
    await other.shared.rules_set("{}")
    return other


def named(view, name: str) -> list[dict[str, object]]:
    """What the status says of one of the other crawls; tests share their server."""
    return [asdict(crawl) for crawl in view.crawls if crawl.name == name]


def test_a_crawl_that_begins_beside_one_at_work_says_that_each_keeps_its_own_pace(frontier_run, crawl_name, caplog):
    async def scenario(frontier: Frontier) -> None:
        other = await opened(frontier, name := f"{crawl_name}-other")
        try:
            with caplog.at_level(logging.WARNING):
                await warn_of_crawls_beside(frontier)
                assert name not in caplog.text  # nobody is at work there
                await Claims(other, Identity("w", "token")).enter()
                await warn_of_crawls_beside(frontier)
                await warn_of_crawls_beside(other)
        finally:
            await other.close()
        assert f"crawl {name!r} has 1 worker at work" in caplog.text
        assert "is asked by each at its own pace" in caplog.text
        assert f"crawl {crawl_name!r}" not in caplog.text

    frontier_run(scenario)


def test_the_status_of_an_unknown_crawl_names_the_crawls_that_the_server_has(frontier_run, crawl_name):
    async def scenario(frontier: Frontier) -> None:
        other = await opened(frontier, name := f"{crawl_name}-other")
        try:
            await Claims(other, Identity("w", "token")).enter()
            view = await overview(frontier)
            assert named(view, name) == [{"name": name, "workers": 1}]
            assert not named(await overview(other), name)
            text = render(view)
            assert "other crawls in this database: " in text
            assert max(map(len, text.splitlines())) <= 80
            for key in ("rules", "workers", "claims"):
                await frontier.connection.redis.unlink(f"{{{name}.0}}:{key}")
            assert not named(await overview(frontier), name)  # it was taken off the server
        finally:
            await other.close()

    frontier_run(scenario)
