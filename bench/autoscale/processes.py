"""The autoscaler with real workers in place of pods: it reads the exporter of a real frontier, starts and stops them.

The algorithm is `hpa.py` with the bounds of k8s/components/hpa/hpa.yaml; its clock runs `HASTE` times as fast, so that
five minutes of stabilisation pass in half a minute. Pages and politeness are not hastened: sites answer after 200 ms. A
worker that is to go gets SIGTERM, as a pod does; the one with the highest number goes first.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from urllib.request import urlopen

from bench.autoscale.hpa import Autoscaler
from bench.faults.audit import bookkeeping, politeness
from bench.faults.fleet import Fleet, Worker, cold, settings
from bench.places import PROJECT
from bench.web.short_pages import site, urls_of, write_seeds
from bench.web.target import Target, served
from crawler.server.embedded import EmbeddedServer
from demo.outputs import read_corpus

MANIFEST = PROJECT / "k8s/components/hpa/hpa.yaml"
HASTE = 10.0
SYNC_SECONDS = 15.0
LATENCY, DELAY = 0.2, 0.5  # seconds
AT_ONCE = 2  # requests of a worker
POWER = AT_ONCE / LATENCY * 60 * 2 / 3
"""Pages a minute that one worker is asked for: what it can do, less a third in reserve."""
MOST = 6
LEAST_GAP = 0.9  # of the delay; see bench/faults/politeness.py
QUEUED, RUNNABLE = "corpus_frontier_queued", "corpus_frontier_fetchable"


@dataclass(frozen=True, slots=True)
class Sites:
    """A crawl: so many hosts with so many pages each. seconds: how long it is looked at, at most."""

    name: str
    hosts: int
    pages: int
    seconds: float = 150.0


BROAD, DEEP = Sites("broad crawl", 60, 60), Sites("one deep host", 1, 4000, 60.0)
SMALL = Sites("a few hosts", 6, 8, 40.0)


@dataclass(slots=True)
class Run:
    """What happened: (second, value of the metric, workers that shall be, workers that live) at each look."""

    looks: list[tuple[float, float, int, int]] = field(default_factory=list)
    pages: int = 0
    done: float | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def worker_seconds(self) -> float:
        """Seconds that workers lived, until the work was done or to the end."""
        ends = [look for look in self.looks if self.done is None or look[0] <= self.done]
        return sum((after[0] - before[0]) * before[3] for before, after in pairwise(ends))


@dataclass
class Pods:
    """The workers as a StatefulSet has them: the highest number goes first, and is free when its worker has ended."""

    fleet: Fleet
    going: list[Worker] = field(default_factory=list)

    @property
    def serving(self) -> list[Worker]:
        """Those that live and have not been told to go."""
        return [worker for worker in self.fleet.alive if worker not in self.going]

    def scale(self, wanted: int) -> None:
        """Start what is missing, tell the rest to go."""
        for worker in (worker for worker in self.serving if int(worker.name) >= wanted):
            os.kill(worker.process.pid, signal.SIGTERM)
            self.going.append(worker)
        taken = {worker.name for worker in self.fleet.alive}
        for number in range(wanted):
            if str(number) not in taken:
                self.fleet.start(str(number))


def run(sites: Sites, metric: str, most: int = MOST) -> Run:
    """One crawl under the autoscaler. Its problems are sentences: lost, twice, impolite, a worker that failed."""
    hosts = [f"127.0.72.{number + 1}" for number in range(sites.hosts)]
    with tempfile.TemporaryDirectory(prefix="bench-") as name, served(hosts) as target:
        folder = Path(name)
        target.sites = {host: site(host, sites.pages, LATENCY) for host in hosts}
        seeds = write_seeds(target, folder / "seeds.txt")
        with EmbeddedServer(folder / "server") as url, _exporter(url) as figures:
            _scrapy("seed", "-a", f"seeds={seeds}", *_settings(url, folder, target))
            arguments = ["crawl", "corpus", *_settings(url, folder, target)]
            with Fleet(
                lambda number: [*arguments, *settings(WORKER_ID=f"worker-{number}")], folder, PROJECT, cold
            ) as f:
                found = _drive(sites, metric, most, Pods(f), figures)
                found.problems += [f"{w.name} ended with {w.process.poll()}: {w.output.name}" for w in f.failed()]
        corpus = read_corpus(folder / "corpus")
        found.problems += bookkeeping(folder / "corpus", corpus)
        found.problems += politeness(target.log(), LEAST_GAP * DELAY, 1)
        seen = Counter(record["url"] for record in [*corpus.kept, *corpus.rejected])
    found.pages = len(seen)
    found.problems += [f"{url} has {count} records" for url, count in seen.items() if count > 1]
    if found.done is not None:
        found.problems += [f"{url} is lost" for url in urls_of(target) if url not in seen]
    return found


def _drive(sites: Sites, metric: str, most: int, pods: Pods, figures: str) -> Run:
    scaler = replace(Autoscaler.read(MANIFEST), target=POWER, most=most)
    run, began = Run(), time.monotonic()
    pods.scale(scaler.least)
    wanted, looks = scaler.least, 0
    while (elapsed := time.monotonic() - began) < sites.seconds:
        values = _scrape(figures)
        wanted = scaler.sync(elapsed * HASTE, wanted, values[metric])
        pods.scale(wanted)
        run.looks.append((elapsed, values[metric], wanted, len(pods.fleet.alive)))
        if run.done is None and not values["open"]:
            run.done = elapsed
        if run.done is not None and wanted == scaler.least:
            break
        looks += 1
        time.sleep(max(0.0, looks * SYNC_SECONDS / HASTE - (time.monotonic() - began)))  # the controller's interval
    pods.scale(0)
    for worker in pods.fleet.workers:
        worker.process.wait()
    return run


def _settings(url: str, folder: Path, target: Target) -> list[str]:
    return settings(
        REDIS_URL=url,
        CORPUS_DIR=folder / "corpus",
        NETWORK_ALLOW="127.0.0.0/8",
        NETWORK_PORTS=target.port,
        DOWNLOAD_DELAY=DELAY,
        CONCURRENT_REQUESTS=AT_ONCE,
        FRONTIER_IDLE_SECONDS=0,
        STAGE_WORKERS=0,
        PII_PERSON="off",
        EXTRACTOR="resiliparse",
        PROGRESS="off",
        LOG_LEVEL="ERROR",
    )


def _scrapy(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "scrapy", *arguments], cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def _exporter(url: str) -> Iterator[str]:
    """`gristmill frontier export` in a process of its own; gives the address it serves."""
    command = [sys.executable, "-m", "scrapy", "frontier", "export", "--port", "0", "-s", f"REDIS_URL={url}"]
    with subprocess.Popen(
        command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _scrape(address: str) -> dict[str, float]:
    """Figures of the frontier by name, and `open`: URLs that wait or are worked on."""
    with urlopen(address) as answer:
        text = answer.read().decode()
    values = {name: float(value) for name, value in re.findall(r"^(corpus_frontier_\w+)\{[^}]*\} (\S+)$", text, re.M)}
    return {
        QUEUED: values[QUEUED],
        RUNNABLE: values[RUNNABLE],
        "open": values[QUEUED] + values["corpus_frontier_leased"],
    }


def table(runs: list[tuple[Sites, str, Run]]) -> list[str]:
    """Workers that live at each quarter of a minute."""
    moments = range(0, 150, 15)
    rows = [f"| real workers | by | pages | done after | worker-seconds | {' | '.join(f'{m} s' for m in moments)} |"]
    rows.append("|" + "---|" * (5 + len(moments)))
    for sites, metric, run in runs:
        done = "–" if run.done is None else f"{run.done:.0f} s"
        alive = [next((str(look[3]) for look in run.looks if look[0] >= m), "") for m in moments]
        kind = "depth" if metric == QUEUED else "runnable"
        rows.append(f"| {' | '.join([sites.name, kind, str(run.pages), done, f'{run.worker_seconds:.0f}', *alive])} |")
    return rows


def measure() -> tuple[list[str], list[str]]:
    """The table of both crawls by both figures, and what went wrong."""
    runs = [(sites, metric, run(sites, metric)) for sites in (BROAD, DEEP) for metric in (QUEUED, RUNNABLE)]
    return table(runs), [f"{s.name} by {m}: {line}" for s, m, found in runs for line in found.problems]
