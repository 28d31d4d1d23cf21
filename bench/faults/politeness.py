"""Is anybody overloaded, and is what is allowed used?

`python -m bench.faults.politeness [--workers 6] [--delay 0.3] [--peer]`

Several workers crawl eight sites with robots.txt, a Crawl-delay, sitemaps, redirects within and between the sites, and
a broken connection; two of them answer 503 once, and from then on permit less until they have recovered. Judged by the
sites' own log: the smallest gap between the starts of two requests to one site, the largest number at a time, and the
share of the rate permitted at that time that was used while there was work left. A second round has no delay and two
requests at a time. `--peer` adds scrapy-redis, whose delay and limit hold for each
process. Exit code 1 where ours breaks a limit or leaves more than a tenth of what is allowed unused.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import redis

from bench.faults.audit import by_host, gap_of, most_at_once
from bench.faults.fleet import Fleet, Warm, settings
from bench.faults.permitted import permitted_gaps
from bench.faults.together import run_together, start_all, wait_for_end
from bench.peer_spider import SEEDS
from bench.places import PROJECT
from bench.web.known_site import hosts_of, page_html
from bench.web.short_pages import short_page
from bench.web.target import RESET, Answer, Target, Visit, served
from crawler.server.embedded import EmbeddedServer

PEER = PROJECT / "bench" / "peer_spider.py"
HOSTS = 8
FIRST_HOST = 60
TROUBLED = (4, 6)  # those that answer 503 once
PATIENT_HOST = 2  # the one whose robots.txt asks for a longer delay
PATIENCE = 1.5  # times the delay
LATENCY = 0.03  # seconds a page takes to answer
SLOW = 0.3  # the same where there is no delay: then the sites, not the machine, decide how fast it goes
BAR = 0.9  # share of the permitted rate
LEAST = 0.9  # of the delay; what is missing was lost between the two clocks (`docs/benchmarks.md`)
RUN_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Setting:
    """One round: the limits of each site."""

    delay: float
    concurrency: int
    pages: int
    latency: float

    @property
    def name(self) -> str:
        return f"delay {self.delay:g} s, {self.concurrency} at a time"


@dataclass(frozen=True, slots=True)
class Report:
    """What the log of one site says. `share` is of the rate permitted at that time (`permitted.py`), or of the
    permitted number where there is no delay; times are seconds."""

    host: str
    requests: int
    delay: float
    smallest_gap: float
    early: int  # requests less than LEAST of the delay after the one before
    most: int
    share: float
    troubled: bool = False


def site(setting: Setting, target: Target) -> dict[str, dict[str, Answer]]:
    """Eight sites of small pages; what each page does on the wire depends on its number."""
    return {host: _pages(setting, target, number, host) for number, host in enumerate(target.hosts)}


def _pages(setting: Setting, target: Target, number: int, host: str) -> dict[str, Answer]:
    paths = [f"/p/{i}" for i in range(setting.pages)]
    answers = {path: Answer(short_page(host + path), seconds=setting.latency) for path in paths}
    neighbour = target.base(target.hosts[(number + 1) % len(target.hosts)])
    for path in paths[5::12]:
        answers[path] = Answer(status=301, location=f"{path}/here")
        answers[f"{path}/here"] = Answer(short_page(path), seconds=setting.latency)
    for path in paths[6::12]:
        answers[path] = Answer(status=302, location=f"{neighbour}{path}/there")
        answers[f"{path}/there"] = Answer(short_page(path), seconds=setting.latency)
    if number in TROUBLED:
        answers[paths[7]] = Answer(short_page(paths[7]), first=(503,))
    answers[paths[8]] = Answer(short_page(paths[8]), first=(RESET,))
    wait = f"Crawl-delay: {PATIENCE * setting.delay}\n" if number == PATIENT_HOST and setting.delay else ""
    robots = f"User-agent: *\nDisallow: /private/\n{wait}Sitemap: {target.base(host)}/sitemap.xml\n"
    answers["/robots.txt"] = Answer(robots.encode(), kind="text/plain")
    listed = "".join(f"<url><loc>{target.base(host)}{path}</loc></url>" for path in paths)
    xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
    answers["/sitemap.xml"] = Answer(xml.encode(), kind="application/xml")
    answers["/index.html"] = Answer(page_html("index", [], paths))
    return answers


def run_ours(setting: Setting, workers: int, folder: Path, target: Target) -> None:
    """All workers are up before the first request: the crawl is paused until then."""
    with EmbeddedServer(folder / "server") as url:

        def command(name: str) -> list[str]:
            sitemaps = ",".join(f"{target.base(host)}/sitemap.xml" for host in target.hosts)
            arguments = ["crawl", "corpus", "-a", f"sitemap={sitemaps}"]
            return arguments + settings(
                REDIS_URL=url,
                CORPUS_DIR=folder / "corpus",
                WORKER_ID=name,
                NETWORK_ALLOW="127.0.0.0/8",
                NETWORK_PORTS=target.port,
                DOWNLOAD_DELAY=setting.delay,
                CONCURRENT_REQUESTS_PER_DOMAIN=setting.concurrency,
                FRONTIER_IDLE_SECONDS=3,
                FRONTIER_RETRY_BACKOFF_SECONDS=1,
                STAGE_WORKERS=0,
                PII_PERSON="off",
                EXTRACTOR="resiliparse",
                PROGRESS="off",
                LOG_LEVEL="INFO",  # `start_all` reads it
            )

        with Fleet(command, folder / "logs", PROJECT, Warm) as fleet:
            run_together(fleet, workers, url, RUN_SECONDS)


def run_peer(setting: Setting, workers: int, folder: Path, target: Target) -> None:
    """All workers are up before the first seed is pushed."""
    with EmbeddedServer(folder / "server") as url, contextlib.closing(redis.Redis.from_url(url)) as client:

        def command(name: str) -> list[str]:
            arguments = ["runspider", str(PEER), "-a", f"hosts={','.join(target.hosts)}"]
            arguments += ["-a", f"output={folder / name}.jsonl"]
            return arguments + settings(
                REDIS_URL=url,
                DOWNLOAD_DELAY=setting.delay,
                CONCURRENT_REQUESTS_PER_DOMAIN=setting.concurrency,
                MAX_IDLE_TIME_BEFORE_CLOSE=20,
                LOG_LEVEL="INFO",
            )

        with Fleet(command, folder / "logs", folder, Warm) as fleet:
            start_all(fleet, workers)
            client.rpush(SEEDS, *(f"{target.base(host)}/index.html" for host in target.hosts))
            wait_for_end(fleet, RUN_SECONDS)


def report(setting: Setting, visits: Sequence[Visit]) -> list[Report]:
    """One line a site, from its own log."""
    return [_of_host(setting, number, host, of_host) for number, (host, of_host) in enumerate(
        sorted(by_host(visits).items()))]  # fmt: skip


def _of_host(setting: Setting, number: int, host: str, visits: list[Visit]) -> Report:
    delay = setting.delay * (PATIENCE if number == PATIENT_HOST else 1.0)
    gaps = [gap_of(before, after) for before, after in pairwise(visits)]
    if number == PATIENT_HOST:
        gaps = gaps[1:]  # the longer delay is known when robots.txt has been read
    early = sum(gap < LEAST * delay for gap in gaps)
    share = _share_of_rate(visits, delay) if delay else _share_of_places(visits, setting.concurrency)
    return Report(host, len(visits), delay, min(gaps), early, most_at_once(visits), share, number in TROUBLED)


def _with_work_left(visits: Sequence[Visit]) -> list[Visit]:
    """Up to the last request for a page of the list that had not been asked for before: then only retries are left."""
    first = {visit.path: index for index, visit in reversed(list(enumerate(visits)))}
    return list(visits[: max(i for path, i in first.items() if path.startswith("/p/") and path.count("/") == 2) + 1])


def _share_of_rate(visits: Sequence[Visit], delay: float) -> float:
    busy = _with_work_left(visits)
    return sum(permitted_gaps(busy, delay)) / (busy[-1].start - busy[0].start)


def _share_of_places(visits: Sequence[Visit], places: int) -> float:
    busy = _with_work_left(visits)
    used = sum((visit.end or visit.start) - visit.start for visit in busy)
    return used / places / (max(visit.end or visit.start for visit in busy) - busy[0].start)


def row(name: str, setting: Setting, reports: Sequence[Report]) -> str:
    """One contestant in one setting as a row of the table."""
    gap = min(r.smallest_gap - r.delay for r in reports)
    cells = (
        name,
        setting.name,
        sum(r.requests for r in reports),
        f"{1000 * gap:+.0f} ms" if setting.delay else "–",
        sum(r.early for r in reports) if setting.delay else "–",
        max(r.most for r in reports),
        _range([r.share for r in reports if not r.troubled]),
        _range([r.share for r in reports if r.troubled]),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _range(shares: Sequence[float]) -> str:
    if not shares:
        return "–"
    return f"{100 * min(shares):.0f}–{100 * max(shares):.0f} % (median {100 * statistics.median(shares):.0f} %)"


def violations(setting: Setting, reports: Sequence[Report]) -> list[str]:
    """Sentences for everything that ours may not do."""
    found = [f"{r.host}: {r.early} requests too early, the worst {1000 * (r.delay - r.smallest_gap):.0f} ms"
             for r in reports if r.early]  # fmt: skip
    found += [f"{r.host}: {r.most} requests at a time" for r in reports if r.most > setting.concurrency]
    if setting.delay:
        found += [
            f"{r.host}: {100 * r.share:.0f} % of the rate permitted at that time" for r in reports if r.share < BAR
        ]
    return found


HEADER = """| | limits | requests | smallest gap minus delay | too early | most at a time | share used | after a 503 |
|---|---|---|---|---|---|---|---|"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.faults.politeness", description=__doc__)
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--delay", type=float, default=0.3)
    parser.add_argument("--pages", type=int, default=60, help="listed pages a site")
    parser.add_argument("--peer", action="store_true", help="scrapy-redis as well")
    options = parser.parse_args()
    rounds = (Setting(options.delay, 1, options.pages, LATENCY), Setting(0.0, 2, options.pages, SLOW))
    runs = {"ours": run_ours, **({"scrapy-redis": run_peer} if options.peer else {})}
    found = []
    print(HEADER, flush=True)
    for setting in rounds:
        for name, run in runs.items():
            with (
                tempfile.TemporaryDirectory(prefix="polite-") as folder,
                served(hosts_of(HOSTS, FIRST_HOST)) as target,
            ):
                target.sites = site(setting, target)
                run(setting, options.workers, Path(folder), target)
                reports = report(setting, target.log())
            print(row(name, setting, reports), flush=True)
            if name == "ours":
                found += violations(setting, reports)
    print(*found, sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
