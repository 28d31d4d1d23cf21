"""Every alert fires where it should and is silent where it should not: promtool's unit tests on the rules of k8s/."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from crawler.observe.metrics.export import PATIENCE_SECONDS
from tests.support.kustomize import K8S
from tests.support.places import PROJECT

ALERTS = K8S / "components/monitoring/alerts.yaml"
SPEC = yaml.safe_load(ALERTS.read_text())["spec"]
RULES = {rule["alert"]: rule for group in SPEC["groups"] for rule in group["rules"]}
CRAWL, SPACE = '{crawl="main"}', '{namespace="crawler"}'


def counts(name: str, a_minute: float, labels: str = SPACE, minutes: int = 3000) -> dict[str, str]:
    return {"series": f"{name}{labels}", "values": f"0+{a_minute}x{minutes}"}


def gauge(name: str, value: float, labels: str = CRAWL, minutes: int = 3000) -> dict[str, str]:
    return {"series": f"{name}{labels}", "values": f"{value}x{minutes}"}


def rejected(a_minute: float, reason: str = "too_short") -> dict[str, str]:
    return counts("corpus_documents_rejected_total", a_minute, f'{{namespace="crawler",reason="{reason}"}}')


def answers(a_minute: float, status: int = 200) -> dict[str, str]:
    return counts("corpus_responses_total", a_minute, f'{{namespace="crawler",status="{status}"}}')


KEPT, LEASES = "corpus_documents_kept_total", "corpus_leases_total"
USED, LIMIT = "corpus_frontier_server_memory_bytes", "corpus_frontier_server_memory_limit_bytes"
FETCHABLE, FINISHED = "corpus_frontier_fetchable", "corpus_frontier_finished_per_second"
SEALING, DELIVERY = "corpus_output_seal_seconds_total", "corpus_output_delivery_seconds_total"
OF_POD, OF_OTHER = (f'{{namespace="crawler",pod="{name}",instance="{name}",folder="shards"}}' for name in "ab")
UP = gauge("corpus_frontier_up", 1, "{}")
FEWER = {"series": KEPT + SPACE, "values": "0+60x1440 86400+10x300"}
MORE_REJECTED = {"series": 'corpus_documents_rejected_total{namespace="crawler",reason="x"}',
                 "values": "0+20x1440 28800+90x300"}  # fmt: skip
CASES: dict[str, tuple[list[dict[str, str]], list[dict[str, str]], str]] = {
    # alert: (series under which it fires, series under which it does not, when)
    "CrawlStalled": ([gauge(FETCHABLE, 60), gauge(FINISHED, 0)], [gauge(FETCHABLE, 60), gauge(FINISHED, 0.1)], "12m"),
    "FrontierUnreachable": ([gauge("corpus_frontier_up", 0, "{}")], [UP], "6m"),
    "FrontierUnobserved": ([gauge("other", 1)], [UP], "12m"),
    "BlocksRising": ([answers(4, 429), answers(2, 403), answers(94)], [answers(4, 429), answers(6, 404), answers(90)],
                     "40m"),
    "YieldFalling": ([FEWER, MORE_REJECTED], [counts(KEPT, 60), rejected(20)], "1540m"),
    "DuplicatesHigh": ([counts(KEPT, 10), rejected(6, "near_duplicate"), rejected(6, "exact_duplicate")],
                       [counts(KEPT, 10), rejected(9, "near_duplicate"), rejected(6)], "150m"),
    "LeasesExpire": ([counts("corpus_leases_lost_total", 2), counts(LEASES, 100)],
                     [counts("corpus_leases_lost_total", 0.5), counts(LEASES, 100)], "40m"),
    "FrontierMemory": ([gauge(USED, 81), gauge(LIMIT, 100)], [gauge(USED, 79), gauge(LIMIT, 100)], "12m"),
    "OutputSlow": ([counts(SEALING, 4, OF_POD), counts(DELIVERY, 30, OF_POD)],
                   [counts(SEALING, 4, OF_POD), counts(DELIVERY, 20, OF_POD), counts(DELIVERY, 20, OF_OTHER)], "90m"),
    "TaskFailed": ([gauge("kube_job_status_failed", 1, '{namespace="crawler",job_name="seed"}')],
                   [gauge("kube_job_status_failed", 1, '{namespace="other",job_name="seed"}')], "3m"),
}  # fmt: skip


@pytest.fixture(scope="module")
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("no promtool (Debian: the package prometheus)")
    return found


def fired(promtool: str, folder: Path, alert: str, series: list[dict[str, str]], at: str) -> str:
    """What promtool says against the claim that this alert does not fire."""
    (folder / "rules.yaml").write_text(yaml.safe_dump(SPEC))
    test: dict[str, Any] = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "1m",
        "tests": [
            {"interval": "1m", "input_series": series, "alert_rule_test": [{"eval_time": at, "alertname": alert}]}
        ],
    }
    (folder / "test.yaml").write_text(yaml.safe_dump(test))
    done = subprocess.run(
        [promtool, "test", "rules", "test.yaml"], cwd=folder, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_rules_are_what_prometheus_accepts(promtool, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(SPEC))
    command = [promtool, "check", "rules", str(tmp_path / "rules.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"SUCCESS: {len(RULES)} rules found" in done.stdout


def test_every_alert_has_a_case_a_line_in_the_page_and_says_what_to_do() -> None:
    table = (PROJECT / "docs/metrics.md").read_text().partition("| alert | fires where |")[2]
    rows = [line.partition(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    assert set(CASES) == set(RULES) == {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    for rule in RULES.values():
        assert set(rule["annotations"]) == {"summary", "what_to_do"}
        assert rule["labels"]["severity"] in {"critical", "warning"}


@pytest.mark.parametrize("alert", CASES)
def test_an_alert_fires_where_something_is_wrong(promtool, alert, tmp_path: Path) -> None:
    said = fired(promtool, tmp_path, alert, CASES[alert][0], CASES[alert][2])
    assert f"alertname: {alert}" in said
    assert "got:[" in said.replace(" ", "").replace("\n", "")
    assert "summary=" in said, "it has a text"


@pytest.mark.parametrize("alert", CASES)
def test_an_alert_is_silent_where_nothing_is_wrong(promtool, alert, tmp_path: Path) -> None:
    assert fired(promtool, tmp_path, alert, CASES[alert][1], CASES[alert][2]) == ""


@pytest.mark.parametrize("alert", CASES)
def test_an_alert_waits_before_it_fires(promtool, alert, tmp_path: Path) -> None:
    assert fired(promtool, tmp_path, alert, CASES[alert][0], "30s") == ""


STANDING = [gauge(FETCHABLE, 60, SPACE), gauge(FINISHED, 0, SPACE)]


def test_a_crawl_whose_pages_wait_for_their_file_to_be_uploaded_does_not_stand(promtool, tmp_path: Path) -> None:
    """With ACK_AFTER=upload nothing is finished until then, which may take SHARD_MAX_AGE_SECONDS."""
    assert fired(promtool, tmp_path, "CrawlStalled", [*STANDING, answers(30)], "40m") == ""
    assert fired(promtool, tmp_path, "CrawlStalled", [*STANDING, answers(30, 404)], "40m") == ""


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([answers(30, 429), answers(30, 503)], id="every site asks to wait"),
        pytest.param([{**answers(0), "values": "0+30x10 300x90"}], id="the answers have ended"),
        pytest.param([counts("corpus_responses_total", 30, '{namespace="other",status="200"}')], id="another crawl"),
    ],
)
def test_a_crawl_without_answers_stands(promtool, others, tmp_path: Path) -> None:
    assert "alertname: CrawlStalled" in fired(promtool, tmp_path, "CrawlStalled", [*STANDING, *others], "27m")


def test_a_server_without_a_limit_of_memory_is_never_full(promtool, tmp_path: Path) -> None:
    assert fired(promtool, tmp_path, "FrontierMemory", [gauge(USED, 81), gauge(LIMIT, 0)], "12m") == ""


def test_prometheus_waits_until_the_exporter_says_that_the_frontier_does_not_answer() -> None:
    """Else the scrape fails instead, and FrontierUnreachable has nothing to look at."""
    (endpoint,) = yaml.safe_load((ALERTS.parent / "pod-monitor.yaml").read_text())["spec"]["podMetricsEndpoints"]
    interval, timeout = (float(endpoint[name].removesuffix("s")) for name in ("interval", "scrapeTimeout"))
    assert PATIENCE_SECONDS < timeout <= interval
