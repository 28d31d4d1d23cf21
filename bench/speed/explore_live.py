"""Is a crawl slowed while somebody looks at it? `python -m bench.speed.explore_live [--rounds 8] [--seconds 20]`

One crawl of pages that are made when they are asked for, without a delay, so that the processors are the limit, with
`gristmill explore` at its side. In turn nobody looks for some seconds, and somebody does: the live page is loaded, and
its stream is read as a browser reads it. A round is four such spans (alone, looked at, looked at, alone; the next one
the other way about), so that whatever changes steadily as the crawl goes on is the same for both; each two neighbours
are compared, and the median counts, so that one odd span does not decide. Measured in each
span: pages asked for a second, the CPU time of the crawl for each page (workers, stages and server; it tells whether
looking costs the crawl anything, however busy the machine is otherwise), and that of `gristmill explore` as a share of
the machine. Two crawls beside each other say less: two of one kind differ by 2 to 6 %. Means something on a quiet
machine only; the bar is 1.02 for the time of a page while somebody looks, as a share of the time of one alone.
"""

from __future__ import annotations

import argparse
import http.client
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
from scipy.stats import bootstrap

from bench.faults.fleet import settings
from bench.machine import commit, machine
from bench.places import PROJECT
from bench.speed.explore import TOKEN
from bench.speed.memory import Pages, server_in
from bench.web.target import Target, served

HOSTS = 16
BAR = 1.02
PAGES = 1_000_000
"""More than any crawl here comes to: it is ended when everything is measured."""
SETTLED_PAGES = 8_000
LIMIT = 900.0
FRONTIER = b"<dt>queued</dt>"
"""Stands in an event that shows the frontier of a crawl, once."""
EVENT_LIMIT = 60.0


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the crawl. cpu, looker: CPU seconds of the crawl and of `gristmill explore`."""

    looking: bool
    pages: int
    seconds: float
    cpu: float
    looker: float
    events: int


class Looker:
    """`gristmill explore`; in `looking` its live page is open. Counts the events that show the crawl's frontier."""

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
        self.events = 0

    def cpu(self) -> float:
        """CPU seconds so far."""
        times = psutil.Process(self._process.pid).cpu_times()
        return times.user + times.system

    def close(self) -> None:
        """End it."""
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate(timeout=60)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Load the page and read its stream meanwhile."""
        with self._get("/0/live") as page:
            page.read()
        with self._connected() as connection, self._asked(connection, "/0/live/stream") as stream:
            reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
            reader.start()
            try:
                yield
            finally:
                connection.sock.shutdown(socket.SHUT_RDWR)
                reader.join(60)

    def _connected(self) -> closing[http.client.HTTPConnection]:
        return closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=60))

    @contextmanager
    def _get(self, path: str) -> Iterator[http.client.HTTPResponse]:
        with self._connected() as connection, self._asked(connection, path) as answer:
            yield answer

    def _asked(self, connection: http.client.HTTPConnection, path: str) -> http.client.HTTPResponse:
        connection.request("GET", path, headers={"Cookie": self._cookie} if self._cookie else {})
        return connection.getresponse()

    def _read(self, stream: http.client.HTTPResponse) -> None:
        with suppress(OSError, ValueError, http.client.HTTPException):
            while line := stream.readline():
                self.events += FRONTIER in line


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


def _tree(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def _cpu(crawl: Sequence[psutil.Process]) -> float:
    """CPU seconds so far of all these processes. Raises: RuntimeError where one has ended."""
    try:
        return sum(times.user + times.system for times in (one.cpu_times() for one in crawl))
    except psutil.NoSuchProcess as error:
        raise RuntimeError("the crawl ended before its time") from error


def order(rounds: int) -> list[bool]:
    """Whether somebody looks in each span: ABBA, then BAAB, and so on."""
    return [(n % 4 in {1, 2}) != bool(n // 4 % 2) for n in range(4 * rounds)]


def measured(
    folder: Path, rounds: int, seconds: float, *, settled: int = SETTLED_PAGES, told: Callable[[Span], object] = id
) -> list[Span]:
    """One crawl with its spans. Raises: RuntimeError where it ends before they do, or nothing was seen of it."""
    spans: list[Span] = []
    with served([f"127.0.73.{n + 1}" for n in range(HOSTS)]) as target:
        target.sites = {host: Pages(host, -(-PAGES // HOSTS)) for host in target.hosts}
        with _crawling(target, folder / "corpus") as process:
            if not target.wait_for(1, LIMIT):
                raise RuntimeError("the crawl asked for nothing")
            with closing(Looker(folder / "corpus")) as looker:
                if not target.wait_for(settled, LIMIT):
                    raise RuntimeError(f"the crawl did not come to {settled:,} pages in {LIMIT:.0f} s")
                server = server_in(folder)
                if server is None:
                    raise RuntimeError("the crawl has no server of its own")
                crawl = [*_tree(psutil.Process(process.pid)), server]
                for looking in order(rounds):
                    spans.append(_span(target, crawl, looker, looking, seconds))
                    told(spans[-1])
            process.send_signal(signal.SIGTERM)
            process.wait(LIMIT)
    if not all(span.events for span in spans if span.looking):
        raise RuntimeError("in one of the spans the live page did not show the crawl")
    return spans


def _span(target: Target, crawl: Sequence[psutil.Process], looker: Looker, looking: bool, seconds: float) -> Span:
    begun, pages, cpu, used, events = time.monotonic(), len(target.visits), _cpu(crawl), looker.cpu(), looker.events
    with looker.looking() if looking else nullcontext():
        time.sleep(max(0.0, begun + seconds - time.monotonic()))
        # A short span on a busy machine goes on until there is something to compare.
        if not target.wait_for(pages + 1, LIMIT):
            raise RuntimeError(f"the crawl asked for nothing in {time.monotonic() - begun:.0f} s")
        while looking and looker.events == events and time.monotonic() < begun + seconds + EVENT_LIMIT:
            time.sleep(0.05)
    return Span(
        looking, len(target.visits) - pages, time.monotonic() - begun, _cpu(crawl) - cpu, looker.cpu() - used,
        looker.events - events,
    )  # fmt: skip


def ratios(spans: Sequence[Span], cost: Callable[[Span], float]) -> list[float]:
    """For each two spans, what a page cost while somebody looked as a share of what one cost alone."""
    found = []
    for at in range(0, len(spans) - 1, 2):
        alone, seen = sorted(spans[at : at + 2], key=lambda span: span.looking)
        found.append((cost(seen) / seen.pages) / (cost(alone) / alone.pages))
    return found


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, and the interval that holds it with 95 % (percentile bootstrap, Efron 1979)."""
    found = bootstrap((values,), np.median, method="percentile", rng=np.random.default_rng(0)).confidence_interval
    return statistics.median(values), float(found.low), float(found.high)


def _told(span: Span) -> None:
    cores = psutil.cpu_count() or 1
    print(
        f"{'looked at' if span.looking else 'alone':>9}: {span.pages / span.seconds:6.1f} pages/s, "
        f"{span.cpu / span.pages * 1e3:5.2f} ms of the crawl's CPU a page; explore took "
        f"{span.looker / span.seconds / cores:.2%} of the machine, {span.events} events",
        flush=True,
    )


def main() -> int:
    """Print a line for each span and the ratios. 1 where the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0, help="of a span")
    options = parser.parse_args()
    print(f"{options.rounds} rounds of four spans of {options.seconds:.0f} s; {machine()}, commit {commit()}")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        spans = measured(Path(folder), options.rounds, options.seconds, told=_told)
    time_of, low, high = interval(ratios(spans, lambda span: span.seconds))
    print(f"time of a page while somebody looks: {time_of:.3f} of one alone, {low:.3f} to {high:.3f} (bar {BAR})")
    cpu, low, high = interval(ratios(spans, lambda span: span.cpu))
    print(f"the crawl's CPU for a page: {cpu:.3f}, {low:.3f} to {high:.3f}")
    seen = [span.looker / span.seconds / (psutil.cpu_count() or 1) for span in spans if span.looking]
    print(f"explore: {statistics.fmean(seen):.2%} of the machine while somebody looks")
    return int(time_of > BAR)


if __name__ == "__main__":
    sys.exit(main())
