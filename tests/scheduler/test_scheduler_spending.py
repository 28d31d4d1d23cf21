"""What a worker tells the budget that it has spent."""

from __future__ import annotations

import asyncio

import pytest

from crawler.config import from_mapping
from crawler.frontier.budget import spent_of
from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.scheduler.in_flight import InFlight
from crawler.scheduler.spending import Purse
from crawler.server.embedded import EmbeddedServer
from crawler.statkeys import LEASED


class Stats(dict[str, int]):
    """Counters of a run, as far as a purse reads them."""

    def get_stats(self) -> dict[str, int]:
        return self


@pytest.mark.parametrize(("counted", "fetched"), [({}, 0), ({LEASED: 3}, 3)])
def test_a_worker_has_spent_the_pages_that_it_leased_and_none_where_it_leased_none(
    server: EmbeddedServer, counted: dict[str, int], fetched: int
) -> None:
    async def leave() -> dict[str, float]:
        frontier = Frontier(server.url, "spending", Limits())
        await frontier.open()
        try:
            purse = Purse(from_mapping({"FRONTIER_BUDGET": "fetched:50"}), Stats(counted), frontier, InFlight())  # type: ignore[arg-type]
            await purse.leave()
            return await spent_of(frontier)
        finally:
            await frontier.close()

    assert asyncio.run(leave()).get("fetched", 0) == fetched
