"""What this worker has spent, by its own counters, and whether the crawl's budget gives it more URLs."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from crawler.frontier.budget import Budget, Spending
from crawler.statkeys import BROWSER_MS, KEPT, LEASED, LIMITED, REQUESTS, RESPONSE_BYTES, stages_cpu_ms

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from crawler.config import Config
    from crawler.frontier.client import Frontier
    from crawler.scheduler.in_flight import InFlight

log = logging.getLogger(__name__)


class Purse:
    """Asks the budget before a lease; without FRONTIER_BUDGET it gives everything and asks nobody.

    `empty`: a limit is reached, no URL is leased any more; what is in hand is finished.
    """

    def __init__(self, config: Config, stats: StatsCollector, frontier: Frontier, in_flight: InFlight) -> None:
        self.empty = False
        self._stats, self._frontier, self._in_flight = stats, frontier, in_flight
        self._prices = config.report
        self._asked = 0.0
        most_cpu, most_browser = config.crawl.stage_timeout_seconds, config.browser.timeout_seconds
        largest = float(max(config.policy.max_body_bytes, config.documents.max_bytes))
        dearest = self._price(1, largest, 1000 * most_cpu, 1000 * most_browser if config.browser.mode != "never" else 0)
        entries = config.frontier.budget
        self._budget = Budget(frontier, entries, largest, dearest) if entries else None

    async def room(self, wanted: int) -> int:
        """How many of `wanted` URLs may be leased now."""
        if self._budget is None or (
            wanted <= 0 and time.monotonic() - self._asked < self._frontier.limits.lease_seconds / 3
        ):
            return wanted
        self._asked = time.monotonic()
        return await self._ask(self._budget, max(0, wanted))

    async def took(self, granted: int, leased: int) -> None:
        """So many were leased of those that were granted: what was not is reserved no longer."""
        if self._budget is not None and leased < granted:
            await self._ask(self._budget, 0)

    async def _ask(self, budget: Budget, wanted: int) -> int:
        granted, reached = await budget.ask(wanted, self._in_flight.unfinished, self._spent())
        if reached and not self.empty:
            log.warning(
                "FRONTIER_BUDGET: the limit %s is reached; URLs in progress are finished, then the crawl ends", reached
            )
            self._stats.set_value(LIMITED, reached)
        self.empty = bool(reached)
        return granted

    async def leave(self) -> None:
        """Tell the last of it; nothing of this worker is reserved any more."""
        if self._budget is not None:
            await self._budget.ask(0, 0, self._spent(), leaves=True)

    def _spent(self) -> Spending:
        found = self._stats.get_stats()
        received = int(found.get(RESPONSE_BYTES, 0))
        money = self._price(
            int(found.get(REQUESTS, 0)), received, stages_cpu_ms(found), float(found.get(BROWSER_MS, 0))
        )
        # what was put back was not fetched; nor was what the crawl ends before it is begun
        leased, open_ = int(found.get(LEASED, 0)), self._in_flight.unfinished
        fetched = max(0, leased - open_ - self._in_flight.given_back)
        return Spending(fetched, int(found.get(KEPT, 0)), received, money)

    def _price(self, requests: float, received: float, cpu_ms: float, browser_ms: float) -> float:
        prices = self._prices
        return (
            prices.cost_request * requests
            + prices.cost_gb * received / 1e9
            + prices.cost_cpu_hour * cpu_ms / 3_600_000
            + prices.cost_browser_minute * browser_ms / 60_000
        )
