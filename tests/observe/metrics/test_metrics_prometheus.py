"""A real Prometheus scrapes a real crawl: the queries of dashboard, alerts and adapter name what is there."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.observe.metrics.prometheus_server import Prometheus, installed, job
from tests.support import warm
from tests.support.places import PROJECT
from tests.support.ports import free_port
from tests.support.serving import DEADLINE, Gate

FOLDER = PROJECT / "k8s/components"
DASHBOARD = json.loads((FOLDER / "monitoring/dashboard.json").read_text())
PANELS = {
    panel["title"]: [t["expr"].replace("$crawl", "main") for t in panel["targets"]] for panel in DASHBOARD["panels"]
}
"""The queries by panel; the crawl of the tests is chosen."""
ALERTS = yaml.safe_load((FOLDER / "monitoring/alerts.yaml").read_text())["spec"]["groups"]
EXPRESSIONS = {rule["alert"]: rule["expr"] for group in ALERTS for rule in group["rules"]}
NOT_YET = {
    f"corpus_{name}_total"
    for name in ("download_errors", "optouts", "held", "pii_spans", "documents_rejected", "log_messages")
}
"""Counters with labels have no series before they count, and these need not in the crawl of this test."""
ELSEWHERE = {"kube_job_status_failed"}


@pytest.fixture
def scraped(crawl, make_site, tmp_path: Path) -> Iterator[tuple[Prometheus, Gate]]:
    """A crawl that stands in its middle, its exporter, and a Prometheus that has looked at both twice."""
    installed()
    site, worker, frontier = make_site(pages=40), free_port(), free_port()
    site.gate = Gate(12)
    process = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port, METRICS_PORT=worker, CRAWL_ID="main")
    site.gate.wait()
    exporter = warm.Popen(
        [sys.executable, "-m", "scrapy", "frontier", "export", "--port", str(frontier),
         "-s", f"CORPUS_DIR={crawl.folder}", "-s", "CRAWL_ID=main"], cwd=PROJECT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    prometheus = Prometheus(tmp_path, [job("crawler", [worker, frontier])])
    try:
        prometheus.await_some("count_over_time(corpus_frontier_fetchable[1m]) >= 2")
        prometheus.await_some("count_over_time(corpus_leases_total[1m]) >= 2")
        yield prometheus, site.gate
    finally:
        prometheus.stop()
        exporter.send_signal(signal.SIGTERM)
        exporter.communicate(timeout=DEADLINE)
        site.gate.open()
        process.communicate(timeout=DEADLINE)


def names_in(expression: str) -> set[str]:
    return set(re.findall(r"\b(?:corpus|kube)_\w+", expression))


def test_every_query_of_dashboard_alerts_and_adapter_is_answered_by_a_real_prometheus(scraped):
    prometheus, _ = scraped
    there = {row["metric"]["__name__"] for row in prometheus.ask('{__name__=~"corpus_.+"}')}
    queries = [expr for exprs in PANELS.values() for expr in exprs] + list(EXPRESSIONS.values())
    named = set().union(*map(names_in, queries)) - ELSEWHERE
    assert named - there <= NOT_YET
    for query in queries:
        prometheus.ask(query.replace("$__rate_interval", "1m"))
    for title, expected in (
        ("Runnable work and ready domains", 2),
        ("Queue", 4),
        ("Leases", 3),
        ("Memory", 3),
        ("Queued", 1),
        ("Workers", 1),
    ):
        found = [row for expr in PANELS[title] for row in prometheus.ask(expr.replace("$__rate_interval", "1m"))]
        assert len(found) == expected, title
    adapter_passes_on_the_runnable_work(prometheus)


def adapter_passes_on_the_runnable_work(prometheus: Prometheus) -> None:
    """What prometheus-adapter puts into its templates for `crawl=main` in the namespace of the autoscaler."""
    (rule,) = yaml.safe_load((FOLDER / "hpa/adapter-values.yaml").read_text())["rules"]["external"]
    assert prometheus.ask(rule["seriesQuery"]), "the adapter finds the series by this"
    query = rule["metricsQuery"].replace("<<.Series>>", rule["name"]["as"])
    (row,) = prometheus.ask(query.replace("<<.LabelMatchers>>", 'namespace="crawler",crawl="main"'))
    (shown,) = prometheus.ask("corpus_frontier_fetchable")
    assert float(row["value"][1]) == float(shown["value"][1]) > 0
    assert prometheus.ask(query.replace("<<.LabelMatchers>>", 'namespace="crawler",crawl="other"')) == []
    keda = yaml.safe_load((FOLDER / "keda/scaled-object.yaml").read_text())["spec"]["triggers"][0]["metadata"]["query"]
    assert prometheus.ask(keda)[0]["value"][1] == row["value"][1]
