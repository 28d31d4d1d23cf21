"""The distributions of a worker: how long sites took to answer, how good texts are, how much personal data they had.

Counted page by page, only where METRICS_PORT is set. Labels come from closed sets, as in `worker.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import psutil
from prometheus_client import Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from crawler.document import Document
from crawler.scheduler.in_flight import ANSWERED_AT, SENT_AT

LATENCIES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds; DOWNLOAD_TIMEOUT is 30
TENTHS = tuple(step / 10 for step in range(1, 10))
MOST_TYPES = 64
"""Types of personal data that get a label; there are fewer detectors. Whatever comes beyond counts as `other`."""


class Observed(Collector):
    """Handlers of Scrapy's signals on one side, a collector on the other."""

    def __init__(self, pool_restarts: Callable[[], int]) -> None:
        self._pool_restarts = pool_restarts
        self._latency = Histogram("corpus_response_seconds", "From request sent to answer complete", registry=None,
                                  buckets=LATENCIES)  # fmt: skip
        self._quality = Histogram("corpus_quality_score", "Quality of documents that were scored, kept or not",
                                  registry=None, buckets=TENTHS)  # fmt: skip
        self._pii = Counter("corpus_pii_spans", "Pieces of personal data found, by type", ["type"], registry=None)
        self._types: set[str] = set()

    def answered(self, request: Any) -> None:
        """Signal `response_received`."""
        sent, complete = request.meta.get(SENT_AT), request.meta.get(ANSWERED_AT)
        if sent is not None and complete is not None:
            self._latency.observe(complete - sent)

    def judged(self, item: Any) -> None:
        """Signals `item_scraped` and `item_dropped`."""
        if not isinstance(item, Document):
            return
        if item.quality_score is not None:
            self._quality.observe(item.quality_score)
        for _, _, kind in item.pii_spans:
            self._pii.labels(self._label(kind)).inc()

    def collect(self) -> Iterator[Metric]:
        """The distributions, and what the processes of this worker take."""
        yield from chain[Metric](self._latency.collect(), self._quality.collect(), self._pii.collect())
        restarts = CounterMetricFamily("corpus_pool_restarts", "How often the stage pool was restarted")
        restarts.add_metric([], float(self._pool_restarts()))
        yield restarts
        memory = GaugeMetricFamily(
            "corpus_worker_memory_bytes", "Resident memory of the worker and the processes below it"
        )
        memory.add_metric([], float(_memory_of(psutil.Process())))
        yield memory

    def _label(self, kind: str) -> str:
        if kind not in self._types and len(self._types) >= MOST_TYPES:
            return "other"
        self._types.add(kind)
        return kind


def _memory_of(worker: psutil.Process) -> int:
    """Pages that the processes share count for each of them."""
    return sum(_resident(process) for process in [worker, *_children(worker)])


def _children(worker: psutil.Process) -> Iterable[psutil.Process]:
    try:
        return list(worker.children(recursive=True))
    except psutil.Error:
        return []


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # it has ended meanwhile
        return 0
