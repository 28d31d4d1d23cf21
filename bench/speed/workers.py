"""How pages a second grow with the number of workers: where the machine is the limit, and where waiting is.

`python -m bench.speed.workers [--seconds 30] [--round cpu|waiting]`

Round `cpu`: full articles through all stages, no delay, 1, 2 and 4 workers; the share of the machine that stays idle
says who is the limit. Round `waiting`: short pages that each take 200 ms to answer, few requests at a time in a worker,
1 to 8 workers: what grows is the number of answers that are waited for. Bar: within a tenth of as many times one
worker's pages as there are workers, as long as a fifth of the machine stays idle (that it does not is said, with the
share); and politeness: the sites' own log has no two requests to a host closer than the delay, or at a time. The target
and the server run on the same machine. Exit code 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.faults.audit import politeness
from bench.faults.fleet import Fleet, cold, settings
from bench.faults.together import run_together
from bench.machine import commit, machine
from bench.places import PROJECT
from bench.web.known_site import page_html
from bench.web.prose import prose
from bench.web.short_pages import ROBOTS, site, write_seeds
from bench.web.target import Answer, Target, Visit, served
from crawler.server.embedded import EmbeddedServer

LATENCY = 0.2  # seconds
BAR = 0.9  # share of linear
IDLE_SECONDS = 1.0  # that workers wait for more before they end
IDLE = 0.2  # share of the machine that has to be idle for the machine not to be the limit
EDGE = 0.2  # share of a run's pages at its beginning, and at its end, that are not measured
LEAST = 0.9  # of the delay; see bench/faults/politeness.py
LIMIT_SECONDS = 900.0
WORDS = 500  # of a full article


@dataclass(frozen=True, slots=True)
class Round:
    """One kind of site. hosts: for each worker; guess: pages a second of one, which gives the number of pages."""

    name: str
    workers: tuple[int, ...]
    hosts: int
    latency: float
    delay: float
    guess: float
    most: float
    settings: dict[str, object]
    linear: bool = False


ROUNDS = {
    "cpu": Round("cpu", (1, 2, 4), 8, 0.0, 0.0, 120.0, 150.0, {"STAGE_WORKERS": 1, "PII_PERSON": "off"}),
    "waiting": Round(
        "waiting", (1, 2, 4, 8), 10, LATENCY, 0.5, 9.0, 75.0,
        {"STAGE_WORKERS": 0, "PII_PERSON": "off", "EXTRACTOR": "resiliparse", "CONCURRENT_REQUESTS": 2}, True,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """One run. `rate`: pages a second; `idle`: share of the machine meanwhile.

    Where waiting is the limit both are of the middle of the run. Otherwise pages are asked for long before they are
    through, so both are from the first request until the last worker has written everything and ended.
    """

    workers: int
    pages: int
    rate: float
    idle: float
    violations: tuple[str, ...]


def run(kind: Round, workers: int, seconds: float) -> Result:
    """Crawl so many pages that it takes about so long."""
    hosts = [f"127.0.70.{number + 1}" for number in range(kind.hosts * workers)]
    each = max(2, round(min(kind.guess * workers, kind.most) * seconds / len(hosts)))
    with tempfile.TemporaryDirectory(prefix="bench-") as name, served(hosts) as target, _idle() as idle:
        folder = Path(name)
        target.sites = {host: _site(kind, host, each) for host in hosts}
        _crawl(kind, workers, folder, target)
        ended = time.monotonic()
        visits = [visit for visit in target.log() if visit.path.startswith("/p/")]
        polite = politeness(target.log(), LEAST * kind.delay, 1) if kind.delay else []
    begin, end, pages = measured_part(visits) if kind.linear else (visits[0].start, ended - IDLE_SECONDS, len(visits))
    return Result(workers, len(visits), pages / (end - begin), idle(begin, end), tuple(polite))


def measured_part(visits: Sequence[Visit]) -> tuple[float, float, int]:
    """When the part of a run began and ended that has no start and no tail, and the pages in it."""
    starts = sorted(visit.start for visit in visits)
    first, last = round(EDGE * len(starts)), round((1 - EDGE) * len(starts)) - 1
    return starts[first], starts[last], last - first


def _site(kind: Round, host: str, pages: int) -> dict[str, Answer]:
    if kind.linear:
        return site(host, pages, kind.latency)
    texts = {f"/p/{n}": Answer(page_html(f"{host}/{n}", prose(f"{host}/{n}", WORDS))) for n in range(pages)}
    return texts | {"/robots.txt": ROBOTS}


def _crawl(kind: Round, workers: int, folder: Path, target: Target) -> None:
    seeds = write_seeds(target, folder / "seeds.txt")
    with EmbeddedServer(folder / "server") as url:

        def command(name: str) -> list[str]:
            arguments = ["crawl", "corpus", "-a", f"seeds={seeds}"]
            return arguments + settings(
                REDIS_URL=url,
                CORPUS_DIR=folder / "corpus",
                WORKER_ID=name,
                NETWORK_ALLOW="127.0.0.0/8",
                NETWORK_PORTS=target.port,
                DOWNLOAD_DELAY=kind.delay,
                FRONTIER_IDLE_SECONDS=IDLE_SECONDS,
                PROGRESS="off",
                LOG_LEVEL="INFO",
                **kind.settings,
            )

        with Fleet(command, folder / "logs", PROJECT, cold) as fleet:
            run_together(fleet, workers, url, LIMIT_SECONDS)


@contextmanager
def _idle() -> Iterator[Idle]:
    """The share of the machine that is idle between two moments (`time.monotonic()`), looked at five times a second."""
    idle, stop = Idle(), threading.Event()

    def look() -> None:
        while not stop.wait(0.2):
            times = psutil.cpu_times()
            idle.samples.append((time.monotonic(), times.idle + getattr(times, "iowait", 0.0)))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield idle
    finally:
        stop.set()
        thread.join()


class Idle:
    """Samples of the machine's idle seconds, summed over its processors."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, float]] = []

    def __call__(self, begin: float, end: float) -> float:
        within = [sample for sample in self.samples if begin <= sample[0] <= end]
        if len(within) < 2:
            return float("nan")
        (at, idle), (at_end, idle_end) = within[0], within[-1]
        return min(1.0, (idle_end - idle) / (at_end - at) / (psutil.cpu_count() or 1))


def missed(kind: Round, results: Sequence[Result]) -> list[str]:
    """The bars that are not reached, a sentence each."""
    found = [f"{kind.name}, {r.workers} workers: {line}" for r in results for line in r.violations]
    if kind.linear:
        found += [
            f"{kind.name}: {r.workers} workers have {share(results, r):.2f} of {r.workers} times one worker's pages, "
            f"bar {BAR}, while {r.idle:.0%} of the machine is idle"
            for r in results
            if share(results, r) < BAR and r.idle >= IDLE
        ]
    return found


def share(results: Sequence[Result], one: Result) -> float:
    """Pages a second as a share of so many times those of the first run's workers."""
    return one.rate / one.workers / (results[0].rate / results[0].workers)


def table(kind: Round, results: Sequence[Result]) -> str:
    """A row a number of workers."""
    lines = [f"| {kind.name}: workers | pages | pages/s | of linear | machine idle |", "|---|---|---|---|---|"]
    lines += [f"| {r.workers} | {r.pages} | {r.rate:.1f} | {share(results, r):.2f} | {r.idle:.0%} |" for r in results]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.speed.workers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="about how long each run takes")
    parser.add_argument("--round", choices=ROUNDS, action="append")
    options = parser.parse_args()
    found = []
    print(f"commit {commit()}, {machine()}", flush=True)
    for name in options.round or ROUNDS:
        kind = ROUNDS[name]
        results = [run(kind, workers, options.seconds) for workers in kind.workers]
        print(table(kind, results), flush=True)
        found += missed(kind, results)
    print("\n".join(f"missed: {line}" for line in found) or "all bars reached")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
