"""How often the publication date of labelled pages is found, beside htmldate's own answer.

Run: `python -m bench.quality.eval_dates [--data ../shared/data] [--half chosen|held] [--wrong]`.

`pages-dev/dates.jsonl.zst` (332 pages, the dates that a person found) and `pages-dev/news.jsonl.zst` (121 news pages).
Right is a date within a day of the label, wrong another one; both are shares of all labelled pages. Exit code 1 where a
floor is broken.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

from htmldate import find_date

from bench.places import SHARED_DATA
from bench.quality.eval_metadata import is_held
from bench.quality.eval_pages import read_lines
from crawler.stages.extraction.metadata.read import read_metadata
from crawler.stages.extraction.metadata.source import Source
from crawler.stages.parse.stage import parse_html

RIGHT, WRONG = 0.93, 0.05
"""Floors: at least so many right, at most so many wrong, on both sets together."""


@dataclass(frozen=True, slots=True)
class Read:
    """One page: what a person found, and two answers ("" for none)."""

    url: str
    held: bool
    wanted: str
    ours: str
    theirs: str


def measure(path: Path) -> Iterator[Read]:
    """Every labelled page of a set."""
    for page in read_lines(path):
        wanted, html, url = str(page.get("date") or "")[:10], page["html"], page["url"]
        trees = [parse_html(html) for _ in range(2)]
        if not wanted or any(tree is None or isinstance(tree, str) for tree in trees):
            continue
        latest = str(page.get("crawl") or "2026-01-01")[:10]
        ours = read_metadata(trees[0], url, latest, source=Source(html.encode("utf-8", "replace"))).pub_date or ""
        theirs = find_date(trees[1], url=url, original_date=True, max_date=latest) or ""
        yield Read(url, is_held(urlsplit(url).hostname or url), wanted, ours, theirs)


def is_right(wanted: str, said: str) -> bool:
    """True for the day, and for the one before or after it (time zones)."""
    return bool(said) and abs((date.fromisoformat(said) - date.fromisoformat(wanted)).days) <= 1


def shares(reads: Sequence[Read], who: str) -> tuple[float, float]:
    """Of all pages: right, and wrong."""
    right = sum(is_right(read.wanted, getattr(read, who)) for read in reads)
    said = sum(bool(getattr(read, who)) for read in reads)
    return right / max(len(reads), 1), (said - right) / max(len(reads), 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--half", choices=("chosen", "held"), default=None)
    parser.add_argument("--wrong", action="store_true", help="list the pages of which the date is wrong or missing")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    everything: list[Read] = []
    for name in ("dates", "news"):
        path = options.data / "pages-dev" / f"{name}.jsonl.zst"
        if not path.is_file():
            print(f"no labelled pages in {options.data}: give --data", file=sys.stderr)
            return 1
        reads = [read for read in measure(path) if options.half is None or read.held == (options.half == "held")]
        everything += reads
        _print(name, reads)
    _print("both", everything)
    for read in everything if options.wrong else ():
        if not is_right(read.wanted, read.ours):
            print(f"{read.wanted} read as {read.ours or '-':10} (htmldate {read.theirs or '-'}) {read.url}")
    right, wrong = shares(everything, "ours")
    return int(right < RIGHT or wrong > WRONG)


def _print(name: str, reads: Sequence[Read]) -> None:
    ours, theirs = shares(reads, "ours"), shares(reads, "theirs")
    print(f"{name:6}{len(reads):5} pages  ours {ours[0]:.3f} right {ours[1]:.3f} wrong", end="")
    print(f"  htmldate {theirs[0]:.3f} right {theirs[1]:.3f} wrong")


if __name__ == "__main__":
    sys.exit(main())
