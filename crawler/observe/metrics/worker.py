"""The metrics of a worker are its Scrapy counters under Prometheus' names, made when somebody asks for them.

Labels take their values from closed sets (stages, reasons, protocols, status codes), never from a URL or a domain, so
that the number of series is bounded. Names follow https://prometheus.io/docs/practices/naming/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from crawler import statkeys


@dataclass(frozen=True, slots=True)
class Family:
    """One metric: the counter or, with labels, all counters that begin with `key` and a slash.

    The rest of such a name is split at its slashes, one part a label, from the left; a counter with another number of
    parts is none of this family. `suffix`: what the names of the counters end with.
    """

    name: str
    doc: str
    key: str
    labels: tuple[str, ...] = ()
    suffix: str = ""

    def read(self, stats: Mapping[str, Any]) -> Metric:
        """The family with what the counters say now."""
        family = CounterMetricFamily(f"corpus_{self.name}", self.doc, labels=self.labels)
        for values, count in self._found(stats):
            family.add_metric(values, count)
        return family

    def _found(self, stats: Mapping[str, Any]) -> Iterator[tuple[list[str], float]]:
        if not self.labels:
            yield [], float(stats.get(self.key, 0))
            return
        start, end = self.key + "/", self.suffix
        for name, count in stats.items():
            if name.startswith(start) and name.endswith(end):
                values = name[len(start) : len(name) - len(end)].split("/", len(self.labels) - 1)
                if len(values) == len(self.labels):
                    yield values, float(count)


_SECONDS = statkeys.stage_seconds("\0").partition("\0")
_DOCUMENTS = statkeys.stage_documents("\0").partition("\0")
FAMILIES = (
    Family("responses", "Answers of sites, by HTTP status", statkeys.RESPONSE_STATUS, ("status",)),
    Family("response_bytes", "Bytes received, as sent", statkeys.RESPONSE_BYTES),
    Family("download_errors", "Requests without answer, by exception", statkeys.DOWNLOAD_ERRORS, ("error",)),
    Family("egress", "What went through, or did not, by proxy (EGRESS_PROXIES)", statkeys.EGRESS, ("proxy", "event")),
    Family("documents_kept", "Documents written into shards", statkeys.KEPT),
    Family("documents_rejected", "Documents with a verdict against them", statkeys.REJECTED, ("stage", "reason")),
    Family("documents_unreached", "Of the rejected: the host gave nothing to judge", statkeys.UNREACHED),
    Family("stage_cpu_seconds", "CPU time of a stage", _SECONDS[0].rstrip("/"), ("stage",), _SECONDS[2]),
    Family("stage_documents", "Documents a stage has seen", _DOCUMENTS[0].rstrip("/"), ("stage",), _DOCUMENTS[2]),
    Family("optouts", "Pages refused, by the protocol that said no", statkeys.DENIED, ("protocol",)),
    Family("blocks", "Pages of sites that blocked the crawler", statkeys.BLOCKED),
    Family("held", "URLs set aside until later, by reason", statkeys.HELD, ("reason",)),
    Family("leases", "URLs taken from the frontier", statkeys.LEASED),
    Family("leases_lost", "Leases that expired before their outcome", statkeys.LOST),
    Family("leases_orphaned", "Leases without a task in the worker", statkeys.ORPHANED),
    Family("frontier_puts", "Links and seeds put into the frontier, by answer", statkeys.PUT, ("status",)),
    Family("shell_pages", "Pages without text that a script seems to draw", statkeys.BROWSER_SHELLS),
    Family("drawn_pages", "Of these: drawn by the browser", statkeys.BROWSER_USED),
    Family("drawing_failures", "Of these: the browser failed", statkeys.BROWSER_FAILED),
    Family("log_messages", "Lines of the log, by level", statkeys.LOG_LINES, ("level",)),
)


class WorkerCollector(Collector):
    """Reads the counters when Prometheus asks, in the thread of the endpoint; behind them, what `others` collect."""

    def __init__(self, stats: Callable[[], Mapping[str, Any]], *others: Collector) -> None:
        self._stats, self._others = stats, others

    def collect(self) -> Iterator[Metric]:
        """All families; one without a counter yet has no series."""
        stats = dict(self._stats())  # a copy: the crawl goes on counting
        for family in FAMILIES:
            yield family.read(stats)
        for other in self._others:
            yield from other.collect()
