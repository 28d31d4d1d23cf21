"""Settings of what a worker tells machines: metrics and log."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.config.declare import setting


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """Where Prometheus finds a worker's counters, and how its log reads."""

    port: int = setting("METRICS_PORT", 0, "serves Prometheus metrics of this worker at /metrics; 0 = off. gristmill work "
                        "gives each worker the next port", minimum=0, maximum=65535, digest=False)  # fmt: skip
    host: str = setting("METRICS_HOST", "127.0.0.1", "address that METRICS_PORT listens on; the metrics name no page, but "
                        "have no access control", digest=False)  # fmt: skip
    log_json: bool = setting("LOG_JSON", False, "the log of a crawl as JSON lines, everything outside printable ASCII "
                             "escaped; LOG_FORMAT remains Scrapy's", digest=False)  # fmt: skip
