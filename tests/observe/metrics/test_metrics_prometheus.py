"""A real Prometheus scrapes a real crawl: the queries of dashboard, alerts and adapter name what is there."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.places import PROJECT
from tests.support.serving import DEADLINE, Gate

FOLDER = PROJECT / "k8s/components"
DASHBOARD = json.loads((FOLDER / "monitoring/dashboard.json").read_text())
PANELS = {panel["title"]: [t["expr"] for t in panel["targets"]] for panel in DASHBOARD["panels"]}
ALERTS = yaml.safe_load((FOLDER / "monitoring/alerts.yaml").read_text())["spec"]["groups"]
EXPRESSIONS = {rule["alert"]: rule["expr"] for group in ALERTS for rule in group["rules"]}
NOT_YET = {
    f"corpus_{name}_total"
    for name in ("download_errors", "optouts", "held", "pii_spans", "documents_rejected", "log_messages")
}
"""Counters with labels have no series before they count, and these need not in the crawl of this test."""
ELSEWHERE = {"kube_job_status_failed"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class Prometheus:
    """One server with its own folder; `ask` gives the result of an instant query."""

    def __init__(self, program: str, folder: Path, targets: list[str]) -> None:
        scrape = {
            "job_name": "crawler",
            "static_configs": [{"targets": targets, "labels": {"namespace": "crawler"}}],
        }
        config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]}
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        self._port = free_port()
        self._process = subprocess.Popen(
            [program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{self._port}", "--log.level=error"],
        )  # fmt: skip

    def ask(self, expression: str) -> list[dict[str, Any]]:
        query = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/api/v1/query?{query}", timeout=30) as answer:
            found = json.load(answer)
        assert found["status"] == "success", (expression, found)
        return found["data"]["result"]

    def await_some(self, expression: str) -> list[dict[str, Any]]:
        end = time.monotonic() + DEADLINE
        while True:
            try:
                if found := self.ask(expression):
                    return found
            except OSError:
                pass  # it is starting
            assert time.monotonic() < end, f"no answer to {expression}"
            time.sleep(0.2)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=60)


@pytest.fixture
def scraped(crawl, make_site, tmp_path: Path) -> Iterator[tuple[Prometheus, Gate]]:
    """A crawl that stands in its middle, its exporter, and a Prometheus that has looked at both twice."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("no prometheus (Debian: the package prometheus)")
    site, worker, frontier = make_site(pages=40), free_port(), free_port()
    site.gate = Gate(12)
    process = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port, METRICS_PORT=worker, CRAWL_ID="main")
    site.gate.wait()
    exporter = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "frontier", "export", "--port", str(frontier),
         "-s", f"CORPUS_DIR={crawl.folder}", "-s", "CRAWL_ID=main"], cwd=PROJECT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    prometheus = Prometheus(program, tmp_path, [f"127.0.0.1:{worker}", f"127.0.0.1:{frontier}"])
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
    for title, expected in (("Runnable work and ready domains", 2), ("Queue", 4), ("Leases", 3), ("Memory", 3)):
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


def test_a_real_crawl_that_stands_is_seen_by_the_condition_of_the_alert(scraped):
    prometheus, _ = scraped
    prometheus.await_some("corpus_frontier_finished_per_second == 0")  # a minute after the last page
    assert prometheus.ask(EXPRESSIONS["CrawlStalled"])
    assert prometheus.ask(EXPRESSIONS["FrontierUnreachable"]) == prometheus.ask(EXPRESSIONS["FrontierUnobserved"]) == []
