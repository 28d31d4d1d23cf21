"""Every alert that a crawl can cause fires in a real Prometheus, over real crawls that have its trouble.

An hour lasts half a minute here: `faster` divides each duration of a range and of `for` by 120, and changes nothing
else of the rules. Two times stay real, as they are the program's own: the minute over which the frontier counts what
was finished, and the nine seconds after which the exporter says that a frontier does not answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis
import yaml

from crawler.server.embedded import EmbeddedServer
from tests.observe.metrics.prometheus_server import Prometheus, installed, job, until
from tests.observe.metrics.slow_link import SlowLink
from tests.support.crawl import Crawl
from tests.support.places import PROJECT
from tests.support.ports import free_port
from tests.support.server import kill
from tests.support.serving import Gate, article
from tests.support.site import Site

TIMES_FASTER = 120
UNITS = {"m": 60, "h": 3600, "d": 86_400}
RULES = yaml.safe_load((PROJECT / "k8s/components/monitoring/alerts.yaml").read_text())["spec"]
OF_THE_CLUSTER = "TaskFailed"
"""It looks at Jobs, through kube-state-metrics; promtool fires it (tests/k8s/test_k8s_alerts.py)."""
FIRED = {
    ("FrontierUnobserved", ""),
    ("CrawlStalled", "standing"),
    ("FrontierMemory", "standing"),
    ("BlocksRising", "turning"),
    ("YieldFalling", "turning"),
    ("DuplicatesHigh", "turning"),
    ("LeasesExpire", "starved"),
    ("OutputSlow", "slow-store"),
    ("FrontierUnreachable", "slow-store"),
}
"""Which alert, and the namespace of the crawl that has the trouble."""
LEASE_SECONDS = 1.5
UPLOAD_SECONDS = 0.4  # that each piece of a request to the object store takes


def faster(rules: str) -> str:
    """The same rules with less patience."""

    def shorter(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) * UNITS[found[3]] * 1000 // TIMES_FASTER}ms"

    return re.sub(r"(\[|for: )(\d+)([mhd])\b", shorter, rules)


@dataclass
class Turning(Site):
    """Good pages first; then the same text at every address, and every fourth one turns the crawler away."""

    good: int = 60

    def answer(self, path: str) -> tuple[int, bytes]:
        found = re.fullmatch(r"/p/(\d+)", path)
        if found is None or sum(hit.path.startswith("/p/") for hit in self.hits) <= self.good:
            return super().answer(path)
        return (429, b"") if int(found[1]) % 4 == 0 else (200, article("the same"))


class Scene:
    """Crawls, their exporters and the Prometheus that looks at them; `seen`: the alerts that have fired."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.seen: dict[tuple[str, str], dict[str, Any]] = {}
        workers = ("standing", "turning", "starved", "starved-too", "slow-store")
        self.ports = {name: free_port() for name in (*workers, "of-standing", "of-slow-store")}
        jobs = [job(name, [self.ports[name]], name.removesuffix("-too")) for name in workers]
        jobs += [
            job("of-standing", [self.ports["of-standing"]], "standing"),
            job("of-slow-store", [self.ports["of-slow-store"]], "slow-store", every="10s"),  # or it gives up too early
        ]
        self.prometheus = Prometheus(folder, jobs, faster(yaml.safe_dump(RULES, width=10_000)))
        stack.callback(self.prometheus.stop)

    def site(self, made: Site) -> Site:
        self.stack.callback(made.stop)
        return made.start()

    def crawl(self, name: str, site: Site, **settings: object) -> subprocess.Popen[str]:
        """A worker on all pages of a site."""
        namespace = name.removesuffix("-too")
        seeds = self.folder / f"{name}.txt"
        seeds.write_text("".join(f"{site.url(n)}\n" for n in range(site.pages)))
        process = Crawl(self.folder / namespace).start(
            {"seeds": str(seeds)}, NETWORK_PORTS=site.port, METRICS_PORT=self.ports[name], CRAWL_ID=namespace,
            WORKER_ID=name, LOG_LEVEL="ERROR", OPTOUT_PROFILE="minimal", FRONTIER_LATENCY_FACTOR=0, **settings,
        )  # fmt: skip
        self.stack.callback(_end, process)
        return process

    def exporter(self, name: str, url: str) -> None:
        """It has looked at the frontier of this crawl once."""
        command = [sys.executable, "-m", "scrapy", "frontier", "export", "--port", str(self.ports[f"of-{name}"])]
        process = subprocess.Popen(
            [*command, "-s", f"REDIS_URL={url}", "-s", f"CRAWL_ID={name}"], cwd=PROJECT, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.stack.callback(_end, process)
        self.prometheus.await_some(f'corpus_frontier_up{{namespace="{name}"}} == 1')
        assert not psutil.Process(process.pid).children(), "nothing outlives it (k8s/base/exporter.yaml)"

    def await_alerts(self, *wanted: tuple[str, str]) -> None:
        """Until each of them has fired."""

        def look() -> bool:
            for alert in self.prometheus.get("alerts")["alerts"]:
                if alert["state"] == "firing":
                    of = alert["labels"]["alertname"], alert["labels"].get("namespace", "")
                    self.seen.setdefault(of, alert)
            return set(wanted) <= self.seen.keys()

        until(look, lambda: f"{sorted(set(wanted) - self.seen.keys())} did not fire, but {sorted(self.seen)}")


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    installed()
    with ExitStack() as stack:
        yield Scene(tmp_path, stack)


@contextmanager
def short_of_cpu(worker: subprocess.Popen[str]) -> Iterator[None]:
    """The worker stands still for longer than a lease, again and again, as one does that gets no CPU."""
    over = threading.Event()

    def stop_and_go() -> None:
        while not over.wait(LEASE_SECONDS):
            worker.send_signal(signal.SIGSTOP)
            over.wait(2 * LEASE_SECONDS)
            worker.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=stop_and_go)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def start_standing(scene: Scene, url: str) -> Gate:
    """Twelve pages, and then the site answers nobody any more."""
    gate = Gate(12)
    scene.stack.callback(gate.open)
    scene.crawl("standing", scene.site(Site(pages=40, gate=gate)), REDIS_URL=url)
    return gate


def start_starved(scene: Scene) -> tuple[Site, subprocess.Popen[str]]:
    """Two workers that share a frontier, and the one that will get no CPU."""
    site = scene.site(Site(pages=2000, latency=1.0))
    both = {"FRONTIER_LEASE_SECONDS": LEASE_SECONDS, "CONCURRENT_REQUESTS": 3, "CONCURRENT_REQUESTS_PER_DOMAIN": 6}
    scene.crawl("starved-too", site, **both)
    return site, scene.crawl("starved", site, **both)


def start_slow_store(scene: Scene, url: str, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that reaches its object store over a slow link."""
    options = json.loads(os.environ["FSSPEC_S3"])
    link = scene.stack.enter_context(SlowLink(int(options["endpoint_url"].rpartition(":")[2]), UPLOAD_SECONDS))
    monkeypatch.setenv("FSSPEC_S3", json.dumps(options | {"endpoint_url": f"http://127.0.0.1:{link.port}"}))
    scene.crawl(
        "slow-store", scene.site(Site(pages=2000, latency=1.0)), REDIS_URL=url, SHARD_MAX_AGE_SECONDS=1,
        CORPUS_DIR=f"{store}/{scene.folder.name}", CORPUS_SPOOL_DIR=scene.folder / "spool",
    )  # fmt: skip


def fill(url: str) -> None:
    """The server may use little more memory than it does."""
    with redis.Redis.from_url(url) as client:
        client.config_set("maxmemory", int(client.info("memory")["used_memory"] / 0.9))


def test_the_rules_are_those_of_the_file_but_for_their_times():
    text = yaml.safe_dump(RULES, width=10_000)
    timeless = re.compile(r"(\[|for: )\w+")
    assert timeless.sub(r"\1", faster(text)) == timeless.sub(r"\1", text)
    assert faster("rate(x[15m]) > 0.5\nfor: 1h") == "rate(x[7500ms]) > 0.5\nfor: 30000ms"
    named = {rule["alert"] for group in RULES["groups"] for rule in group["rules"]}
    assert {name for name, _ in FIRED} == named - {OF_THE_CLUSTER}


def test_every_alert_fires_for_the_crawl_that_has_its_trouble_and_for_no_other(scene, store, tmp_path, monkeypatch):
    servers = [EmbeddedServer(tmp_path / name) for name in ("full", "fragile")]
    full, fragile = map(scene.stack.enter_context, servers)
    gate = start_standing(scene, full)
    turning = scene.site(Turning(pages=3000, latency=0.5))
    scene.crawl("turning", turning, FRONTIER_SLOWDOWN_MAX_SECONDS=0, FRONTIER_BREAKER_FAILURES=0)
    shared, starved = start_starved(scene)
    start_slow_store(scene, fragile, store, monkeypatch)

    scene.await_alerts(("FrontierUnobserved", ""))
    gate.wait()
    scene.exporter("standing", full)
    scene.prometheus.await_some('corpus_frontier_finished_per_second{namespace="standing"} > 0')
    fill(full)
    scene.prometheus.await_some('corpus_leases_total{namespace="starved",job="starved"} > 0')
    with short_of_cpu(starved):
        scene.await_alerts(("LeasesExpire", "starved"))
    scene.await_alerts(("OutputSlow", "slow-store"))
    scene.exporter("slow-store", fragile)
    kill(servers[1])
    scene.await_alerts(*FIRED)

    assert set(scene.seen) == FIRED
    assert len(shared.hits) > len({hit.path for hit in shared.hits}), "pages were fetched twice"
    texts = [text for alert in scene.seen.values() for text in alert["annotations"].values()]
    assert not [text for text in texts if "error expanding" in text or "%!" in text or "NaN" in text]
    rules = [rule for group in scene.prometheus.get("rules")["groups"] for rule in group["rules"]]
    assert {rule["health"] for rule in rules} == {"ok"}
