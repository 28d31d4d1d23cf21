"""`python -m bench.plan.limits --runs N --workers N`: no limit of a plan is exceeded by more than a page a worker.

One corpus and its frontier over all runs, real worker processes; each run has another limit, and what was spent is read
from the site's own log (requests, bytes of bodies) and from the records. Exit code 1 where a limit was exceeded by
more, or not reached although pages were left.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.machine import commit, machine
from bench.plan.site import Town, gristmill, plan_text
from crawler.config.budget import FIGURES
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_records

SITES, PAGES = 8, 600
LARGEST = 65_536
"""Bytes that a page may have (DOWNLOAD_MAXSIZE)."""
KINDS = ("run.kept", "run.money", "run.bytes", "run.fetched", "in_all.money", "seed.kept", "seed.money")
"""A request costs 1: money is what the site's log has."""


class Ended(NamedTuple):
    """One run. spent: of what was limited, of the seed that spent most; page: what the dearest one has cost."""

    kind: str
    limit: float
    spent: float
    page: float
    seconds: float

    @property
    def over(self) -> float:
        """By how many pages the limit was exceeded; below 0: it was not reached."""
        return (self.spent - self.limit) / self.page


def run(folder: Path, town: Town, kind: str, number: int, workers: int, size: float) -> Ended:
    """One run with one limit of about `size` pages. town: has a log that goes on."""
    reach, _, figure = kind.partition(".")
    before, kept = len(town.log), kept_of(folder)
    had = _spent(figure, town, 0, kept, Counter())
    most = {"run": 0.0, "in_all": had[""], "seed": max(had[site] for site in had if site or len(had) == 1)}[reach]
    bytes_a_page = 2_500
    limit = most + (size * bytes_a_page if figure == "bytes" else size)
    seeds = f"seeds: [{', '.join(town.home(site) for site in range(SITES))}]"
    text = plan_text(
        town, seeds, {reach: {figure: limit}}, workers=workers, COST_REQUEST=1, DOWNLOAD_MAXSIZE=LARGEST,
        DOCUMENT_MAXSIZE=LARGEST, CONCURRENT_REQUESTS_PER_DOMAIN=4, FRONTIER_LEASE_SECONDS=60,
    )  # fmt: skip
    (folder / "plan.yaml").write_text(text)
    began = time.monotonic()
    gristmill(folder, "plan", "run", "--run", str(number), "plan.yaml")
    seconds = time.monotonic() - began
    start, kept_at_start = (before, kept) if reach == "run" else (0, Counter[str]())
    spent_now = _spent(figure, town, start, kept_of(folder), kept_at_start)
    spent = spent_now[""] if reach != "seed" else max(value for site, value in spent_now.items() if site)
    page = float(max(one.sent for one in town.log)) if figure == "bytes" else 1.0
    return Ended(kind, limit, spent, page, seconds)


def _spent(figure: str, town: Town, before: int, kept: Counter[str], kept_before: Counter[str]) -> Mapping[str, float]:
    """By site, and of all under ""."""
    found: Counter[str] = Counter()
    if figure == "kept":
        found = kept - kept_before
    for one in town.asked_since(before) if figure != "kept" else ():
        amount = one.sent if figure == "bytes" else 1 if figure == "money" else one.is_page
        found[one.site] += int(amount)
    return {"": float(found.total())} | {site: float(count) for site, count in found.items()}


def kept_of(folder: Path) -> Counter[str]:
    """Kept pages of the corpus in this folder, by site."""
    place = Place(str(folder / "corpus"))
    if place.load_json("manifest.json") is None:
        return Counter()
    files = [entry["path"] for entry in place.manifest()["files"] if entry["kind"] == "shards"]
    return Counter(str(record["domain"]).partition(":")[0] for path in files for record in read_records(place, path))


def campaign(folder: Path, runs: int, workers: int, size: float, kinds: Sequence[str], say: Any = print) -> list[Ended]:
    """All runs, one after the other."""
    found = []
    with Town(PAGES) as town:
        for number in range(runs):
            one = run(folder, town, kinds[number % len(kinds)], number, workers, size)
            bound = f"limit {one.limit:10,.0f} spent {one.spent:10,.0f}"
            say(f"{number + 1:3} {one.kind:12} {bound} over by {one.over:+.2f} pages ({one.seconds:.0f} s)", flush=True)
            found.append(one)
    return found


def main() -> int:
    """Print every run; 1 where one spent more than a page a worker beyond its limit, or less than the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--pages", type=float, default=25, help="that a limit leaves to a run (25)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="one run after the other (all)")
    opts = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = campaign(Path(folder), opts.runs, opts.workers, opts.pages, opts.kinds)
    print(f"{machine()}, commit {commit()}")
    worst = max(one.over for one in found)
    short = sum(one.over <= -1 for one in found)
    print(f"{len(found)} runs of {opts.workers} workers; figures: {', '.join(FIGURES)} but hours")
    print(
        f"exceeded by {worst:.2f} pages at most, in {sum(one.over > 0 for one in found)} runs; not reached in {short}"
    )
    return int(worst > opts.workers or short > 0)


if __name__ == "__main__":
    sys.exit(main())
