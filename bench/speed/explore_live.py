"""Is a crawl slowed while somebody looks at it? `python -m bench.speed.explore_live [--pages 20000] [--pairs 3]`

Crawls the same pages (made when they are asked for, without a delay, so that the processors are the limit) in turn with
nobody looking and with `scrapy explore` at its side, whose live page is open: its stream is read to the end of the
crawl, as a browser reads it, and the page is loaded anew every ten seconds. Seconds are those from the moment a
quarter of the pages had been asked for (everything has started by then) to the last request; "looking" is the CPU time
of `scrapy explore` meanwhile as a share of the machine. Means something on a quiet machine only; the bar is a median
ratio of 1.02.
"""

from __future__ import annotations

import argparse
import http.client
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.faults.fleet import settings
from bench.machine import commit, machine
from bench.places import PROJECT
from bench.speed.explore import TOKEN
from bench.speed.memory import Pages
from bench.web.target import Target, served

HOSTS = 16
BAR = 1.02
RELOAD_SECONDS = 10.0
LIMIT = 900.0


@dataclass(frozen=True, slots=True)
class Crawled:
    """One crawl. seconds: of three quarters of its pages; looking: share of the machine's CPU that the looker took."""

    seconds: float
    looking: float
    events: int


class Looker:
    """`scrapy explore` with its live page open. Counts the events that came."""

    def __init__(self, corpus: Path) -> None:
        command = [sys.executable, "-m", "scrapy", "explore", "--no-open", "--token", TOKEN, str(corpus)]
        self._process = subprocess.Popen(
            command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        self._port = int(self._process.stdout.readline().partition("/?")[0].rpartition(":")[2])
        self._cookie = ""
        with self._get(f"/?token={TOKEN}") as answer:
            self._cookie = str(answer.headers.get("set-cookie")).partition(";")[0]
        self.events, self._over, self._seen = 0, threading.Event(), threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._reload)]
        for thread in self._threads:
            thread.start()
        self._seen.wait(LIMIT)

    def cpu(self) -> float:
        """CPU seconds so far."""
        times = psutil.Process(self._process.pid).cpu_times()
        return times.user + times.system

    def close(self) -> None:
        """End it."""
        self._over.set()
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate(timeout=60)
        for thread in self._threads:
            thread.join(60)

    @contextmanager
    def _get(self, path: str) -> Iterator[http.client.HTTPResponse]:
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)) as connection:
            connection.request("GET", path, headers={"Cookie": self._cookie} if self._cookie else {})
            with connection.getresponse() as answer:
                yield answer

    def _read(self) -> None:
        with suppress(OSError, http.client.HTTPException), self._get("/0/live/stream") as stream:
            while line := stream.readline():
                if line == b"\n":
                    self.events += 1
                    self._seen.set()

    def _reload(self) -> None:
        with suppress(OSError, http.client.HTTPException):
            while not self._over.wait(RELOAD_SECONDS):
                with self._get("/0/live") as page:
                    page.read()


@contextmanager
def _crawling(target: Target, corpus: Path) -> Iterator[subprocess.Popen[bytes]]:
    arguments = ["crawl", "corpus", "-a", f"url={','.join(f'{target.base(host)}/p/0' for host in target.hosts)}"]
    arguments += settings(
        CORPUS_DIR=corpus, NETWORK_ALLOW="127.0.0.0/8", NETWORK_PORTS=target.port, DOWNLOAD_DELAY=0,
        FRONTIER_LATENCY_FACTOR=0, CONCURRENT_REQUESTS_PER_DOMAIN=4, FRONTIER_IDLE_SECONDS=0.5, JS_MODE="never",
        PROGRESS="off", LOG_LEVEL="ERROR",
    )  # fmt: skip
    process = subprocess.Popen([sys.executable, "-m", "scrapy", *arguments], cwd=PROJECT)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def crawl(pages: int, folder: Path, *, looking: bool) -> Crawled:
    """One crawl of so many pages. Raises: RuntimeError where it fails or nothing was seen of it."""
    corpus = folder / "corpus"
    with served([f"127.0.73.{n + 1}" for n in range(HOSTS)]) as target:
        target.sites = {host: Pages(host, -(-pages // HOSTS)) for host in target.hosts}
        with _crawling(target, corpus) as process:
            looker = _look_at(target, corpus) if looking else None
            try:
                target.wait_for(pages // 4, LIMIT)
                before = looker.cpu() if looker else 0.0
                begun = time.monotonic()
                target.wait_for(pages - HOSTS, LIMIT)
                seconds = time.monotonic() - begun
                used = looker.cpu() - before if looker else 0.0
                events = looker.events if looker else 0
                process.wait(LIMIT)
            finally:
                if looker:
                    looker.close()
    if process.returncode or (looking and not events):
        raise RuntimeError(f"the crawl ended with {process.returncode}, {events} events came")
    return Crawled(seconds, used / (seconds * (psutil.cpu_count() or 1)), events)


def _look_at(target: Target, corpus: Path) -> Looker:
    target.wait_for(1, LIMIT)  # the corpus and its server are there
    return Looker(corpus)


def main() -> int:
    """Print a line for each pair and the medians. 1 where the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    print(f"{options.pages:,} pages; {machine()}, commit {commit()}")
    pairs = []
    for number in range(options.pairs):
        found = {}
        for looking in (False, True) if number % 2 else (True, False):
            with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                found[looking] = crawl(options.pages, Path(folder), looking=looking)
        alone, seen = found[False], found[True]
        pairs.append((seen.seconds / alone.seconds, seen.looking))
        print(
            f"alone {alone.seconds:.1f} s, looked at {seen.seconds:.1f} s: {pairs[-1][0]:.3f}; "
            f"looking took {seen.looking:.2%} of the machine, {seen.events} events",
            flush=True,
        )
    ratio, share = (statistics.median(pair[n] for pair in pairs) for n in (0, 1))
    print(f"median {ratio:.3f} (bar {BAR}), looking {share:.2%} of the machine")
    return int(ratio > BAR)


if __name__ == "__main__":
    sys.exit(main())
