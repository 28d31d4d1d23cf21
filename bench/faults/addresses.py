"""Is a machine with many names asked as one?

`python -m bench.faults.addresses [--names 50] [--addresses 3] [--workers 4] [--delay 0.5]`

Workers crawl sites of a few pages, each with a robots.txt and a redirect to its neighbour; several sites share an
address. Judged by the log of each address: the smallest gap between the starts of two requests, and the share of the
permitted rate that was used while there was work left. Exit code 1 where a gap is shorter than the delay, a page was
not asked for, or less than two thirds of what is allowed was used.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from bench.faults.audit import by_host, gap_of
from bench.faults.fleet import Fleet, settings
from bench.faults.together import run_together
from bench.places import PROJECT
from bench.web.known_site import hosts_of
from bench.web.short_pages import short_page
from bench.web.target import Answer, Target, Visit, served
from crawler.server.embedded import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = 3  # of each site
FIRST_ADDRESS = 110
LEAST_USED = 2 / 3
RUN_SECONDS = 300.0
NAMED = "bench.faults.named_settings"


@dataclass(frozen=True, slots=True)
class Report:
    """What the log of one address says; times are seconds."""

    address: str
    requests: int
    smallest_gap: float
    share: float


def names_of(number: int, addresses: Sequence[str]) -> dict[str, list[str]]:
    """Made-up domains, each at one of the addresses."""
    return {f"site{n}.example": [addresses[n % len(addresses)]] for n in range(number)}


def site(names: Mapping[str, Sequence[str]], target: Target) -> dict[str, dict[str, Answer]]:
    """All sites of an address answer alike; each leads on to the next site."""
    every = list(names)
    after = {name: every[(n + 1) % len(every)] for n, name in enumerate(every)}
    answers: dict[str, dict[str, Answer]] = {address: {} for address in target.hosts}
    for name, (address, *_) in names.items():
        pages = answers[address]
        pages["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /private/\n", kind="text/plain")
        for page in range(PAGES):
            pages[f"/{name}/{page}"] = Answer(short_page(f"{name}/{page}"))
        there = f"http://{after[name]}:{target.port}/{name}/moved"
        pages[f"/{name}/{PAGES - 1}"] = Answer(status=302, location=there)
        answers[names[after[name]][0]][f"/{name}/moved"] = Answer(short_page(f"{name} moved"))
    return answers


@contextmanager
def named(names: Mapping[str, Sequence[str]], folder: Path) -> Iterator[None]:
    """Workers that are started in this block know these names."""
    file = folder / "names.json"
    file.write_text(json.dumps({name: list(addresses) for name, addresses in names.items()}), "utf-8")
    before = {name: os.environ.get(name) for name in ("BENCH_NAMES", "SCRAPY_SETTINGS_MODULE")}
    os.environ.update(BENCH_NAMES=str(file), SCRAPY_SETTINGS_MODULE=NAMED)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def crawl(names: Mapping[str, Sequence[str]], workers: int, folder: Path, target: Target, **given: object) -> None:
    """Every page of every site, by so many workers. Raises: RuntimeError where one fails."""
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"http://{name}:{target.port}/{name}/{p}\n" for name in names for p in range(PAGES)))
    with named(names, folder), EmbeddedServer(folder / "server") as url:

        def command(name: str) -> list[str]:
            return ["crawl", "corpus", "-a", f"seeds={seeds}", *settings(
                REDIS_URL=url, CORPUS_DIR=folder / "corpus", WORKER_ID=name, CRAWLER_CONTACT="https://example.org/bot",
                NETWORK_ALLOW="127.0.0.0/8", NETWORK_PORTS=target.port, OPTOUT_PROFILE="minimal",
                FRONTIER_IDLE_SECONDS=3, STAGE_WORKERS=0, PII_PERSON="off", PROGRESS="off",
                LOG_LEVEL="INFO",  # `start_all` reads it
                **given,
            )]  # fmt: skip

        with Fleet(command, folder / "logs", PROJECT) as fleet:
            run_together(fleet, workers, url, RUN_SECONDS)


def report(delay: float, visits: Sequence[Visit]) -> list[Report]:
    """One line an address, from its own log."""
    return [_of_address(delay, address, mine) for address, mine in sorted(by_host(visits).items())]


def _of_address(delay: float, address: str, visits: Sequence[Visit]) -> Report:
    gaps = [gap_of(before, after) for before, after in pairwise(visits)]
    seconds = visits[-1].start - visits[0].start
    return Report(address, len(visits), min(gaps), delay * len(gaps) / seconds if seconds else 1.0)


def missing(sites: Mapping[str, Mapping[str, Answer]], visits: Sequence[Visit]) -> list[str]:
    """Pages that nobody asked for."""
    asked = {(visit.host, visit.path) for visit in visits}
    return sorted(f"{host}{path}" for host, pages in sites.items() for path in pages if (host, path) not in asked)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.faults.addresses", description=__doc__)
    parser.add_argument("--names", type=int, default=50)
    parser.add_argument("--addresses", type=int, default=3)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--domain-delay", type=float, default=1.0)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="addresses-") as folder,
        served(hosts_of(options.addresses, FIRST_ADDRESS)) as target,
    ):
        names = names_of(options.names, target.hosts)
        target.sites = site(names, target)
        pace = {"ADDRESS_DELAY": options.delay, "DOWNLOAD_DELAY": options.domain_delay}
        crawl(names, options.workers, Path(folder), target, **pace)
        visits = target.log()
        found, lost = report(options.delay, visits), missing(target.sites, visits)
    for line in found:
        print(f"{line.address}: {line.requests} requests, smallest gap {line.smallest_gap:.3f} s, "
              f"{100 * line.share:.0f} % of the permitted rate")  # fmt: skip
    print(*(f"never asked: {page}" for page in lost), sep="\n")
    return int(bool(lost) or any(r.smallest_gap < options.delay or r.share < LEAST_USED for r in found))


if __name__ == "__main__":
    sys.exit(main())
