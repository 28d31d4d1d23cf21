"""What a crawl has spent: requests, bytes, CPU and browser time as its runs counted them, and their price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.statkeys import BROWSER_MS, REQUESTS, RESPONSE_BYTES, STAGES_CPU_MS

if TYPE_CHECKING:
    from typing import Self

    from crawler.config.report import ReportConfig


SPENDING = (REQUESTS, RESPONSE_BYTES, STAGES_CPU_MS, BROWSER_MS)
"""Counters that say what a run has spent. One that was killed in its first minute says nothing."""


@dataclass(frozen=True, slots=True)
class Prices:
    """The cost model: the COST_… settings. 0 = not counted."""

    request: float = 0.0
    browser_minute: float = 0.0
    gigabyte: float = 0.0
    cpu_hour: float = 0.0
    currency: str = ""

    @classmethod
    def of(cls, config: ReportConfig) -> Self:
        """As the settings have them."""
        return cls(
            config.cost_request, config.cost_browser_minute, config.cost_gb, config.cost_cpu_hour, config.cost_currency
        )

    @property
    def shown(self) -> str:
        """The currency; empty where nothing has a price."""
        return self.currency if self.request or self.browser_minute or self.gigabyte or self.cpu_hour else ""


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests of every kind, bytes received, CPU seconds of the stages, seconds in a browser; None = not counted.

    cost: their price; None where nothing has one.
    """

    requests: float | None = None
    received: float | None = None
    cpu_seconds: float | None = None
    browser_seconds: float | None = None
    cost: float | None = None

    def share_of(self, counts: Mapping[str, int], whole: Mapping[str, int], prices: Prices) -> Spent:
        """The part of a group: requests and bytes by its page requests, CPU by its pages that were read, browser time
        by those that a browser drew."""

        def part(amount: float | None, by: str) -> float | None:
            all_of_it = whole.get(by, 0)
            return amount * counts.get(by, 0) / all_of_it if amount is not None and all_of_it else None

        return _priced(
            Spent(
                part(self.requests, "requests"),
                part(self.received, "requests"),
                part(self.cpu_seconds, "pages"),
                part(self.browser_seconds, "drawn"),
            ),
            prices,
        )


def spent_by(runs: Sequence[Mapping[str, int]], prices: Prices) -> Spent:
    """What these runs have spent, by their counters."""

    def total(name: str) -> int | None:
        found = [counters[name] for counters in runs if name in counters]
        return sum(found) if found else None

    def seconds(name: str) -> float | None:
        found = total(name)
        return None if found is None else found / 1000

    return _priced(Spent(total(REQUESTS), total(RESPONSE_BYTES), seconds(STAGES_CPU_MS), seconds(BROWSER_MS)), prices)


def _priced(found: Spent, prices: Prices) -> Spent:
    if not prices.shown:
        return found
    cost = (
        prices.request * (found.requests or 0)
        + prices.gigabyte * (found.received or 0) / 1e9
        + prices.cpu_hour * (found.cpu_seconds or 0) / 3600
        + prices.browser_minute * (found.browser_seconds or 0) / 60
    )
    return Spent(found.requests, found.received, found.cpu_seconds, found.browser_seconds, cost)
