"""Is the memory of a worker flat? One worker, one stage process, very many small pages, looked at ten times a second.

`python -m bench.speed.memory [--pages 100000] [--hosts 20]`

Pages are made when they are asked for (text of our own in an order of its own for each page, links to three others), so
that the links of a page are new to the crawl. Printed for each tenth of the pages: memory of the worker, of its stage
process, of the frontier's server (which grows with the URLs it knows, as it should), and pages a second. Bar: in the
last tenth the worker and its stage process take at most 1.05 times what they took in the third. Exit code 1 otherwise.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.faults.fleet import settings
from bench.machine import commit, machine
from bench.places import PROJECT
from bench.web.known_site import page_html
from bench.web.prose import prose
from bench.web.target import Answer, served
from crawler.server.embedded import EmbeddedServer

PARAGRAPHS, ON_A_PAGE = 400, 3
BAR, BASE = 1.05, 3
"""Of the last tenth as a share of this one: before it the caches of a worker are still filling."""
TENTHS = 10
LOOK_SECONDS = 0.1
MIB = 2**20


class Pages(Mapping[str, Answer]):
    """The pages of a host: /p/N leads to /p/3N+1, /p/3N+2 and /p/3N+3, as long as they exist."""

    def __init__(self, host: str, count: int) -> None:
        self._host, self._count = host, count
        self._texts = [" ".join(prose(f"memory {n}", 60)) for n in range(PARAGRAPHS)]

    def __getitem__(self, path: str) -> Answer:
        number = path.removeprefix("/p/")
        if number == path or not number.isdigit() or int(number) >= self._count:
            raise KeyError(path)
        n = int(number)
        texts = random.Random(f"{self._host}{n}").sample(self._texts, ON_A_PAGE)
        links = [f"/p/{m}" for m in range(3 * n + 1, 3 * n + 4) if m < self._count]
        return Answer(page_html(f"{self._host} {n}", texts, links))

    def __iter__(self) -> Iterator[str]:
        return (f"/p/{n}" for n in range(self._count))

    def __len__(self) -> int:
        return self._count


@dataclass(slots=True)
class Look:
    """Memory at one moment, in bytes, and how many pages had been asked for."""

    at: float
    pages: int
    worker: int
    stages: int
    server: int


def look(worker: psutil.Process, server: psutil.Process | None, pages: int) -> Look:
    """Raises: psutil.Error where the worker has ended."""
    stages = 0
    for process in worker.children(recursive=True):
        with suppress(psutil.Error):
            stages += process.memory_info().rss
    return Look(
        time.monotonic(),
        pages,
        worker.memory_info().rss,
        stages,
        server.memory_info().rss if server else 0,
    )


def run(pages: int, hosts: int, folder: Path) -> list[Look]:
    """Crawl so many pages; what was seen meanwhile. Raises: RuntimeError where the crawl fails."""
    looks = []
    with served([f"127.0.71.{n + 1}" for n in range(hosts)]) as target, EmbeddedServer(folder / "server") as url:
        target.sites = {host: Pages(host, -(-pages // hosts)) for host in target.hosts}
        arguments = ["crawl", "corpus", "-a", f"url={','.join(f'{target.base(host)}/p/0' for host in target.hosts)}"]
        arguments += settings(
            REDIS_URL=url,
            CORPUS_DIR=folder / "corpus",
            NETWORK_ALLOW="127.0.0.0/8",
            NETWORK_PORTS=target.port,
            DOWNLOAD_DELAY=0,
            STAGE_WORKERS=1,
            JS_MODE="never",
            PROGRESS="off",
            LOG_LEVEL="ERROR",
        )
        server = server_in(folder)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "scrapy", *arguments], cwd=PROJECT, stdout=log, stderr=subprocess.STDOUT
            )
            worker = psutil.Process(process.pid)
            while process.poll() is None:
                with suppress(psutil.Error):
                    looks.append(look(worker, server, len(target.visits)))
                time.sleep(LOOK_SECONDS)  # the sampling interval
        if process.returncode:
            raise RuntimeError(f"the crawl ended with {process.returncode}:\n{(folder / 'log').read_text()[-2000:]}")
    return looks


def server_in(folder: Path) -> psutil.Process | None:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if Path(process.cwd()).is_relative_to(folder):
                return process
    return None


def by_tenth(looks: list[Look]) -> list[list[Look]]:
    """What was seen in each tenth of the pages; the time after the last page belongs to none."""
    total = looks[-1].pages
    found: list[list[Look]] = [[] for _ in range(TENTHS)]
    for one in looks:
        if 0 < one.pages < total:
            found[one.pages * TENTHS // total].append(one)
    return found


def peak(looks: list[Look]) -> int:
    """The most that the worker and its stage process took together."""
    return max((one.worker + one.stages for one in looks), default=0)


def growth(tenths: list[list[Look]]) -> float:
    """The last tenth as a share of the one after which it has to be flat."""
    base = peak(tenths[BASE - 1])
    return peak(tenths[-1]) / base if base else float("inf")


def table(tenths: list[list[Look]]) -> str:
    lines = ["| tenth | pages | worker | stage process | server | pages/s |", "|---|---|---|---|---|---|"]
    for number, some in enumerate(tenths, 1):
        if not some:
            continue
        seconds = some[-1].at - some[0].at
        rate = (some[-1].pages - some[0].pages) / seconds if seconds else 0.0
        sizes = [max(getattr(one, name) for one in some) / MIB for name in ("worker", "stages", "server")]
        memory = " | ".join(f"{size:.0f} MiB" for size in sizes)
        lines.append(f"| {number} | {some[-1].pages} | {memory} | {rate:.0f} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.speed.memory", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--hosts", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        tenths = by_tenth(run(options.pages, options.hosts, Path(name)))
    print(f"commit {commit()}, {machine()}\n{table(tenths)}")
    found = growth(tenths)
    print(f"the last tenth takes {found:.3f} of the third, bar {BAR}{'' if found <= BAR else ': missed'}")
    return int(found > BAR)


if __name__ == "__main__":
    sys.exit(main())
