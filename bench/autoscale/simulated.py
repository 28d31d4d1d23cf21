"""The simulated frontier has domains with queues and delays; workers fetch what politeness lets them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from bench.autoscale.hpa import Autoscaler

PAGES_A_SECOND = 30.0
"""Of one worker with two stage processes (docs/scaling.md)."""
START_SECONDS = 45.0
"""From the decision to the first page of a new worker: assumed for scheduling, volume, image and models."""
SYNC_SECONDS, SCRAPE_SECONDS = 15.0, 15.0
"""Of the controller, and of Prometheus: the figure is up to so old."""


@dataclass(slots=True)
class Domains:
    """So many domains alike. delay: seconds between two requests to one of them."""

    count: int
    queued: float  # URLs of each
    delay: float = 1.0

    @property
    def depth(self) -> float:
        """URLs in their queues."""
        return self.count * self.queued

    @property
    def runnable(self) -> float:
        """By the definition of crawler/frontier/overview.py."""
        return self.count * min(self.queued, math.ceil(60.0 / self.delay))

    def allowed(self) -> float:
        """URLs that politeness lets one second fetch."""
        return self.count * min(self.queued, 1.0 / self.delay)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is queued at the start, and what is put later: (second, domains)."""

    name: str
    start: tuple[Domains, ...]
    later: tuple[tuple[float, Domains], ...] = ()
    seconds: float = 7200.0


def scenarios() -> Iterator[Scenario]:
    """Five ways in which a crawl asks for workers."""
    yield Scenario("broad crawl", (Domains(400, 3000),))
    yield Scenario("one deep host", (Domains(1, 100_000),))
    seeds = tuple((1800.0, Domains(100, 20 * (step + 1), 2.0)) for step in range(10))
    yield Scenario("burst of seeds", (Domains(20, 10_000),), seeds)
    yield Scenario("drain", tuple(Domains(40, 150 * 2**step) for step in range(8)))
    waves = tuple((240.0 * step, Domains(300, 60)) for step in range(1, 15))
    yield Scenario("flapping", (Domains(20, 10_000),), waves)


@dataclass(slots=True)
class Run:
    """What became of a scenario. pods: at each second; done: when the last URL was fetched."""

    pods: list[int] = field(default_factory=list)
    pages: float = 0.0
    done: float | None = None

    @property
    def hours(self) -> float:
        """Pod-hours until the work was done, or to the end."""
        return sum(self.pods[: None if self.done is None else int(self.done)]) / 3600

    @property
    def turns(self) -> int:
        """How often it went from more to fewer workers or back."""
        steps = [b - a for a, b in pairwise(self.pods) if a != b]
        return sum((a > 0) != (b > 0) for a, b in pairwise(steps))


def simulate(scenario: Scenario, scaler: Autoscaler, figure: Callable[[Iterable[Domains]], float]) -> Run:
    """Second by second; `figure` is what the autoscaler is shown."""
    domains = [Domains(d.count, d.queued, d.delay) for d in scenario.start]
    later, run, pods, shown = sorted(scenario.later, key=lambda put: put[0]), Run(), scaler.least, 0.0
    ready = [0.0] * pods  # when each worker begins to fetch
    for second in range(int(scenario.seconds)):
        while later and later[0][0] <= second:
            put = later.pop(0)[1]
            domains.append(Domains(put.count, put.queued, put.delay))
        if second % SCRAPE_SECONDS == 0:
            shown = figure(domains)
        if second % SYNC_SECONDS == 0:
            pods = scaler.sync(second, pods, shown)
            ready = ready[:pods] + [second + START_SECONDS] * (pods - len(ready))
        run.pods.append(pods)
        run.pages += _fetch(domains, PAGES_A_SECOND * sum(at <= second for at in ready))
        if run.done is None and not later and sum(d.depth for d in domains) < 0.5:
            run.done = second + 1.0
    return run


def _fetch(domains: list[Domains], power: float) -> float:
    """Take from each domain its share of what the workers can do."""
    allowed = sum(d.allowed() for d in domains)
    share = min(1.0, power / allowed) if allowed else 0.0
    for one in domains:
        one.queued -= share * one.allowed() / one.count
    return share * allowed


def depth(domains: Iterable[Domains]) -> float:
    """The length of the queues."""
    return sum(d.depth for d in domains)


def runnable(domains: Iterable[Domains]) -> float:
    """What more workers can do."""
    return sum(d.runnable for d in domains)
