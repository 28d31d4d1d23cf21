"""The metrics of what a worker has written: sealed files by folder, and the time that sealing and delivery took.

While a file is sealed and delivered the writer takes no record, so that pages wait and fetching slows down: the sum of
both times a second is the share of time for which the output holds the crawl up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from crawler.storage.files.throughput import Totals

COUNTERS: dict[str, tuple[str, Callable[[Totals], float]]] = {
    "files": ("Files sealed", attrgetter("files")),
    "bytes": ("Bytes of these files", attrgetter("bytes")),
    "records": ("Records in them; of archives: pages", attrgetter("records")),
    "seal_seconds": ("Time from the journal to the final file", attrgetter("seal_seconds")),
    "delivery_seconds": ("Time until the file is uploaded, listed and indexed", attrgetter("delivery_seconds")),
}


class OutputCollector(Collector):
    """Reads the totals when Prometheus asks. The label `folder` is shards, rejected, held/pii or archive."""

    def __init__(self, totals: Callable[[], Mapping[str, Totals]]) -> None:
        self._totals = totals

    def collect(self) -> Iterator[Metric]:
        """One counter for each column of the totals."""
        totals = self._totals()
        for name, (doc, value) in COUNTERS.items():
            family = CounterMetricFamily(f"corpus_output_{name}", doc, labels=["folder"])
            for folder, found in totals.items():
                family.add_metric([folder], float(value(found)))
            yield family
