"""The metrics of the frontier: how much is queued, and how much of it more workers could fetch.

`corpus_frontier_fetchable` is the figure to scale workers by: the URLs that politeness allows to be fetched within a
minute, over all domains. The length of the queues is none: a deep queue of one domain is work for one worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from crawler.frontier.model import Mode
from crawler.frontier.overview import Overview


@dataclass(frozen=True, slots=True)
class Look:
    """The frontier at one moment; memory of its server in bytes, limit 0 = none."""

    view: Overview
    used: int
    limit: int


GAUGES: dict[str, tuple[str, Callable[[Look], float]]] = {
    "queued": ("URLs that wait in a queue", lambda look: look.view.counts.queued),
    "waiting": ("queued URLs that wait for a later try", lambda look: look.view.counts.waiting),
    "leased": ("URLs leased to workers", lambda look: look.view.counts.leased),
    "held": ("URLs on hold until they are requeued", lambda look: look.view.counts.held),
    "done": ("URLs with an outcome", lambda look: look.view.counts.done),
    "dead": ("URLs given up after their last try", lambda look: look.view.counts.dead),
    "seen": ("URLs ever taken", lambda look: look.view.counts.seen),
    "fetchable": ("URLs that politeness allows to be fetched within a minute", lambda look: look.view.fetchable),
    "scopes": ("domains that the frontier knows", lambda look: look.view.hosts),
    "ready_scopes": ("domains whose turn has come", lambda look: sum(s.ready_for > 0 for s in look.view.scopes)),
    "blocked_scopes": ("domains blocked for a while", lambda look: sum(s.blocked_for > 0 for s in look.view.scopes)),
    "paused_scopes": ("domains paused by a person", lambda look: sum(s.paused for s in look.view.scopes)),
    "mode": (
        "0 = the crawl runs, 1 = paused, 2 = draining",
        lambda look: list(Mode).index(look.view.counts.mode),
    ),
    "workers": ("workers that show signs of life", lambda look: look.view.workers),
    "oldest_ready_seconds": (
        "how long the longest waiting domain has been ready",
        lambda look: look.view.oldest_ready or 0,
    ),
    "finished_per_second": ("URLs finished a second over the last minute, by all workers", lambda look: look.view.rate),
    "server_memory_bytes": ("memory that the frontier's server uses", lambda look: look.used),
    "server_memory_limit_bytes": ("what it may use (maxmemory); 0 = no limit", lambda look: look.limit),
}


class FrontierCollector(Collector):
    """Looks at the frontier when Prometheus asks. A frontier that does not answer has `up` 0 and nothing else."""

    def __init__(self, look: Callable[[], Look | None]) -> None:
        self._look = look

    def collect(self) -> Iterator[Metric]:
        """The gauges, labelled with the crawl."""
        look = self._look()
        up = GaugeMetricFamily("corpus_frontier_up", "1 where the frontier answered")
        up.add_metric([], 0.0 if look is None else 1.0)
        yield up
        if look is None:
            return
        for name, (doc, value) in GAUGES.items():
            gauge = GaugeMetricFamily(f"corpus_frontier_{name}", doc, labels=["crawl"])
            gauge.add_metric([look.view.crawl], float(value(look)))
            yield gauge
