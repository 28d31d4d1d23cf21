"""What this worker has spent, by its own counters, and whether the crawl's budget gives it more URLs."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.config.budget import ALL, RUN, SEED, budget_of
from crawler.config.limits import Limits
from crawler.frontier.budget import Budget, Spending, counts_seeds, limited_seeds
from crawler.frontier.outcome import KEPT as IS_KEPT
from crawler.frontier.outcome import kind_of
from crawler.statkeys import BROWSER_MS, KEPT, LEASED, LIMITED, PAGE_REQUESTS, REQUESTS, RESPONSE_BYTES, stages_cpu_ms

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.statscollectors import StatsCollector

    from crawler.config import Config
    from crawler.config.report import ReportConfig
    from crawler.document import Document
    from crawler.frontier.client import Frontier
    from crawler.frontier.model import Batch, Lease
    from crawler.scheduler.in_flight import InFlight

log = logging.getLogger(__name__)

_SOON = 0.5  # seconds; the last pages of a seed are in the hands of others


class Purse:
    """Asks the budget before a lease; without FRONTIER_BUDGET it gives everything and asks nobody.

    `empty`: a limit is reached, no URL is leased any more; what is in hand is finished. `limits`: where this
    worker ends. `seeds`: the limits of seeds, None where there are none and have been none.
    """

    def __init__(
        self,
        config: Config,
        stats: StatsCollector,
        frontier: Frontier,
        in_flight: InFlight,
        limits: Limits | None = None,
    ) -> None:
        self.empty = False
        self._stats, self._frontier, self._in_flight, self._limits = stats, frontier, in_flight, limits or Limits()
        self._prices = config.report
        self._asked = 0.0
        most_cpu, most_browser = config.crawl.stage_timeout_seconds, config.browser.timeout_seconds
        largest = float(max(config.policy.max_body_bytes, config.documents.max_bytes))
        ms_in_browser = 1000 * most_browser if config.browser.mode != "never" else 0
        dearest = _price(self._prices, 1, largest, 1000 * most_cpu, ms_in_browser)
        entries = config.frontier.budget
        bounds, _ = budget_of(entries)
        self._budget = Budget(frontier, entries, largest, dearest) if {ALL, RUN} & bounds.keys() else None
        self._seeds = SeedPurse(
            frontier, in_flight, self._prices, lambda scope: Budget(frontier, entries, largest, dearest, scope)
        )
        self.seeds = self._seeds if SEED in bounds else None

    async def begin(self) -> None:
        """Seeds that an earlier run had stopped go on, where the limits leave them room now.

        Once a run has counted what seeds spend every later one does: a limit may be set again.
        """
        if self.seeds is None and await counts_seeds(self._frontier):
            self.seeds = self._seeds
        for scope in await limited_seeds(self._frontier):
            await self._seeds.look_again(scope)

    def judged(self, lease: Lease, doc: Document | None) -> None:
        """A page is through."""
        if self.seeds is not None:
            self.seeds.judged(lease, doc)

    async def room(self, wanted: int) -> int:
        """How many of `wanted` URLs may be leased now."""
        for most, counter in ((self._limits.kept, KEPT), (self._limits.pages, PAGE_REQUESTS)):
            if most:
                wanted = min(wanted, most - int(self._stats.get_value(counter, 0)) - self._in_flight.unfinished)
        if self.seeds is not None:
            await self.seeds.tell()
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

    async def admitted(self, batch: Batch) -> Batch:
        """What was leased, without what the limits of its seeds do not allow: that has gone back into its queue."""
        if self.seeds is None or not batch.leases:
            return batch
        return replace(batch, leases=await self.seeds.admitted(batch.leases))

    async def leaves_work(self) -> bool:
        """True where URLs wait for a run that may spend more."""
        return self.empty or (self.seeds is not None and bool(await limited_seeds(self._frontier)))

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
        if self.seeds is not None:
            await self.seeds.leave()
        if self._budget is not None:
            await self._budget.ask(0, 0, self._spent(), leaves=True)

    def _spent(self) -> Spending:
        found = self._stats.get_stats()
        received = int(found.get(RESPONSE_BYTES, 0))
        money = _price(
            self._prices,
            int(found.get(REQUESTS, 0)),
            received,
            stages_cpu_ms(found),
            float(found.get(BROWSER_MS, 0)),
        )
        # what was put back was not fetched; nor was what the crawl ends before it is begun
        leased, open_ = int(found.get(LEASED, 0)), self._in_flight.unfinished
        fetched = max(0, leased - open_ - self._in_flight.given_back)
        return Spending(fetched, int(found.get(KEPT, 0)), received, money)


@dataclass(slots=True)
class _Stint:
    """What was spent on a scope since this worker has something of it in hand. told, in_hand: when the server heard of
    it last, and how many URLs then."""

    budget: Budget
    requests: int = 0
    received: int = 0
    cpu_ms: float = 0.0
    browser_ms: float = 0.0
    fetched: int = 0
    kept: int = 0
    told: float = 0.0
    in_hand: int = 0
    changed: bool = True


class SeedPurse:
    """Asks the budget of each scope of which something was leased, and tells it what was spent."""

    def __init__(
        self, frontier: Frontier, in_flight: InFlight, prices: ReportConfig, budget_for: Callable[[str], Budget]
    ) -> None:
        self._frontier, self._in_flight, self._prices, self._budget_for = frontier, in_flight, prices, budget_for
        self._stints: dict[str, _Stint] = {}
        self._said: set[str] = set()

    def charge(self, url: str, *, requests: int = 0, received: int = 0, browser_ms: float = 0.0) -> None:
        """Something was spent on a URL. received: bytes."""
        stint = self._stint(self._frontier.scope_of(url))
        stint.requests += requests
        stint.received += received
        stint.browser_ms += browser_ms

    def judged(self, lease: Lease, doc: Document | None) -> None:
        """A page is through."""
        stint = self._stint(lease.scope)
        stint.fetched += 1
        if doc is not None:
            stint.kept += lease.kind == "page" and kind_of(doc) == IS_KEPT and doc.hold is None
            stint.cpu_ms += 1000 * sum(doc.timings.values())

    async def look_again(self, scope: str) -> None:
        """Ask about a scope that is stopped: it goes on where there is room."""
        self._stint(scope)
        await self._ask(scope, 0)

    async def tell(self) -> None:
        """Tell what was spent; also that this worker is alive, where it has something of a scope in hand."""
        old = time.monotonic() - self._frontier.limits.lease_seconds / 3
        for scope, stint in list(self._stints.items()):
            if stint.changed or stint.told < old or stint.in_hand != self._in_flight.unfinished_of(scope):
                await self._ask(scope, 0)

    async def admitted(self, leases: tuple[Lease, ...]) -> tuple[Lease, ...]:
        """Those that may be fetched; the others have gone back, and their scopes rest."""
        by_scope: dict[str, list[Lease]] = {}
        for lease in leases:
            by_scope.setdefault(lease.scope, []).append(lease)
        refused: set[str] = set()
        for scope, mine in by_scope.items():
            self._stint(scope)
            granted, reached = await self._ask(scope, len(mine))
            if over := [lease.token for lease in mine[granted:]]:
                if not reached:
                    await self._frontier.politeness.rest(scope, self._frontier.now() + _SOON)
                await self._frontier.release(over)
                refused.update(over)
                self._stint(scope)
        return tuple(lease for lease in leases if lease.token not in refused) if refused else leases

    async def leave(self) -> None:
        """Tell the last of it; nothing of this worker is reserved any more."""
        for scope in list(self._stints):
            await self._ask(scope, 0, leaves=True)

    def _stint(self, scope: str) -> _Stint:
        stint = self._stints.get(scope)
        if stint is None:
            stint = self._stints[scope] = _Stint(self._budget_for(scope))
        stint.changed = True
        return stint

    async def _ask(self, scope: str, wanted: int, *, leaves: bool = False) -> tuple[int, str]:
        """With nothing in hand the stint is over: the next one begins to count at nothing."""
        stint, in_hand = self._stints[scope], self._in_flight.unfinished_of(scope)
        ends = leaves or not (in_hand or wanted)
        if ends:
            del self._stints[scope]
        stint.changed, stint.told, stint.in_hand = False, time.monotonic(), in_hand + wanted
        money = _price(self._prices, stint.requests, stint.received, stint.cpu_ms, stint.browser_ms)
        spent = Spending(stint.fetched, stint.kept, stint.received, money)
        granted, reached = await stint.budget.ask(wanted, in_hand, spent, leaves=ends)
        if reached and scope not in self._said:
            self._said.add(scope)
            log.warning("FRONTIER_BUDGET: %s: the limit %s is reached: its other URLs wait", scope, reached)
        return granted, reached


def _price(prices: ReportConfig, requests: float, received: float, cpu_ms: float, browser_ms: float) -> float:
    return (
        prices.cost_request * requests
        + prices.cost_gb * received / 1e9
        + prices.cost_cpu_hour * cpu_ms / 3_600_000
        + prices.cost_browser_minute * browser_ms / 60_000
    )
