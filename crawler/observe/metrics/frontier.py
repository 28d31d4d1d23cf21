"""The metrics of the frontier: how much is queued, and how much of it more workers could fetch.

`corpus_frontier_fetchable` is the figure to scale workers by: the URLs that politeness allows to be fetched within a
minute, over all domains. The length of the queues is none: a deep queue of one domain is work for one worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from crawler.frontier.overview import Overview

GAUGES: dict[str, tuple[str, Callable[[Overview], float]]] = {
    "queued": ("URLs that wait for their turn", lambda view: view.counts.queued),
    "waiting": ("of the queued: not before a pause of their own has passed", lambda view: view.counts.waiting),
    "leased": ("URLs in the hands of workers", lambda view: view.counts.leased),
    "held": ("URLs set aside until somebody says otherwise", lambda view: view.counts.held),
    "done": ("URLs with an outcome", lambda view: view.counts.done),
    "dead": ("URLs given up after their last try", lambda view: view.counts.dead),
    "seen": ("URLs ever taken", lambda view: view.counts.seen),
    "fetchable": ("URLs that politeness allows to be fetched within a minute", lambda view: view.fetchable),
    "scopes": ("domains that the frontier knows", lambda view: view.hosts),
    "ready_scopes": ("domains whose turn has come", lambda view: sum(s.ready_for > 0 for s in view.scopes)),
    "blocked_scopes": ("domains left alone for a while", lambda view: sum(s.blocked_for > 0 for s in view.scopes)),
    "paused_scopes": ("domains paused by a person", lambda view: sum(s.paused for s in view.scopes)),
    "oldest_ready_seconds": ("how long the domain that waits longest has been ready", lambda v: v.oldest_ready or 0),
    "finished_per_second": ("URLs finished a second over the last minute, by all workers", lambda view: view.rate),
}


class FrontierCollector(Collector):
    """Looks at the frontier when Prometheus asks. A frontier that does not answer has `up` 0 and nothing else."""

    def __init__(self, look: Callable[[], Overview | None]) -> None:
        self._look = look

    def collect(self) -> Iterator[Metric]:
        """The gauges, labelled with the crawl."""
        view = self._look()
        up = GaugeMetricFamily("corpus_frontier_up", "1 where the frontier answered")
        up.add_metric([], 0.0 if view is None else 1.0)
        yield up
        if view is None:
            return
        for name, (doc, value) in GAUGES.items():
            gauge = GaugeMetricFamily(f"corpus_frontier_{name}", doc, labels=["crawl"])
            gauge.add_metric([view.crawl], float(value(view)))
            yield gauge
