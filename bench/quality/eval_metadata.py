"""How often title, author and date of labelled pages are read right, beside trafilatura's own metadata.

Run: `python -m bench.quality.eval_metadata [--data ../shared/data] [--half chosen|held] [--limit N] [--wrong FIELD]`.

1,497 labelled pages (`wcxb-dev.jsonl.zst`) and, as another opinion, the metadata that Readability.js gives of 130
pages (`readability-pages.jsonl.zst`). Right is: the same words (title; authors without "and" and "by"), the same day.
F1 is of what is said against what is labelled. The order of the readers and their thresholds were chosen on one half
of the domains; the other half is held. The interval holds the difference of F1 in 95 % of the draws. `--wrong` lists
the pages of which a field is read wrong. Exit code 1 where a floor is broken.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from trafilatura.metadata import extract_metadata

from bench.places import SHARED_DATA
from bench.quality.eval_pages import read_lines
from crawler.stages.extraction.metadata.read import read_metadata
from crawler.stages.extraction.metadata.source import Source
from crawler.stages.parse.stage import parse_html
from crawler.stages.text.charset import decode

FIELDS = ("title", "author", "date")
FLOORS = {"title": 0.78, "author": 0.75, "date": 0.73}
"""F1 over all labelled pages. May rise; a lower one needs a reason."""
DRAWS = 1_000
_WORD = re.compile(r"\w+")
_NO_NAMES = frozenset({"and", "by"})


@dataclass(frozen=True, slots=True)
class Read:
    """What is said of one page: three answers in the order of FIELDS, "" for none."""

    id: str
    kind: str
    url: str
    held: bool
    expected: tuple[str, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    seconds: tuple[float, float] = (0.0, 0.0)
    """Of the processor, ours and theirs, for this page."""


def is_held(domain: str) -> bool:
    """False for the half of the domains on which the readers were chosen."""
    return bool(hashlib.md5(domain.encode(), usedforsecurity=False).digest()[-1] & 1)


def plain_title(text: str | None) -> str:
    """The words of a title."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text or "").lower()))


def plain_author(text: str | None) -> str:
    """The words of the names."""
    return " ".join(word for word in plain_title(text).split() if word not in _NO_NAMES)


def plain_date(text: str | None) -> str:
    """The day."""
    return (text or "")[:10]


_PLAIN: tuple[Callable[[str | None], str], ...] = (plain_title, plain_author, plain_date)


def labelled(data: Path) -> Iterator[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Pages and what they are labelled with."""
    for entry in read_lines(data / "wcxb-dev.jsonl.zst"):
        yield entry, (entry["title"], entry["author"], entry["publish_date"])


def agreement(data: Path) -> Iterator[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Pages and what Readability.js says of them."""
    for entry in read_lines(data / "readability-pages.jsonl.zst"):
        said = entry["metadata"]
        page = {**entry, "url": f"http://{entry['id']}.test/", "domain": entry["id"], "page_type": "readability"}
        yield page, (said.get("title"), said.get("byline"), said.get("publishedTime"))


def measure(pages: Iterable[tuple[dict[str, Any], tuple[Any, ...]]]) -> Iterator[Read]:
    """Every page through our readers and through trafilatura's."""
    for page, expected in pages:
        html = page["html"].encode()
        decoded = decode(html, None)
        trees = [parse_html(decoded[0]) for _ in range(2)] if decoded else []
        if any(tree is None or isinstance(tree, str) for tree in trees) or not trees:
            continue
        started = time.process_time()
        ours = read_metadata(trees[0], page["url"] or "", source=Source(html))
        between = time.process_time()
        theirs = extract_metadata(trees[1], default_url=page["url"] or None, extensive=True)
        seconds = between - started, time.process_time() - between
        yield Read(
            page["id"],
            page["page_type"],
            page["url"] or "",
            is_held(page["domain"] or page["id"]),
            _plain(expected),
            _plain((ours.title, ours.author, ours.pub_date)),
            _plain((theirs.title, theirs.author, theirs.date)),
            seconds,
        )


def _plain(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(plain(value) for plain, value in zip(_PLAIN, values, strict=True))


def counts(reads: Sequence[Read], field: int, who: str) -> Any:
    """Of every page: is something expected, said, right (0 or 1 each)."""
    rows = [(read.expected[field], getattr(read, who)[field]) for read in reads]
    return np.array([(bool(wanted), bool(said), bool(wanted) and wanted == said) for wanted, said in rows], np.int64)


def f1(sums: Any) -> Any:
    """F1 of sums of such rows."""
    return 2 * sums[..., 2] / np.maximum(sums[..., 0] + sums[..., 1], 1)


def interval(ours: Any, theirs: Any) -> tuple[float, float]:
    """Where 95 % of the differences of F1 lie when pages are drawn again (bootstrap, the same draws each time)."""
    drawn = np.random.default_rng(0).integers(0, len(ours), (DRAWS, len(ours)))
    differences = f1(ours[drawn].sum(1)) - f1(theirs[drawn].sum(1))
    low, high = np.percentile(differences, (2.5, 97.5))
    return float(low), float(high)


def table(name: str, reads: Sequence[Read]) -> dict[str, float]:
    """Print a line a field; our F1 of each."""
    found = {}
    for field, label in enumerate(FIELDS):
        ours, theirs = (counts(reads, field, who) for who in ("ours", "theirs"))
        if not ours[:, 0].any():
            continue
        low, high = interval(ours, theirs)
        found[label] = float(f1(ours.sum(0)))
        line = f"{name:12}{label:8}{ours[:, 0].sum():6} labelled"
        for who, rows in (("ours", ours), ("trafilatura", theirs)):
            wanted, said, right = rows.sum(0)
            shares = f"{right / max(said, 1):.3f} {right / wanted:.3f} {f1(rows.sum(0)):.3f}"
            line += f"  {who} {shares}"
        print(f"{line}  {found[label] - f1(theirs.sum(0)):+.3f} ({low:+.3f} to {high:+.3f})")
    own, other = (1000 * fmean(read.seconds[who] for read in reads) for who in range(2)) if reads else (0.0, 0.0)
    print(f"{name:12}ms a page: ours {own:.1f}, trafilatura {other:.1f}")
    return found


def verdict(found: dict[str, float]) -> int:
    """Print what the floors say; 1 where one is broken."""
    broken = [name for name, floor in FLOORS.items() if name in found and found[name] < floor]
    for name in broken:
        print(f"{name}: {found[name]:.4f} is under the floor of {FLOORS[name]:.2f}")
    return int(bool(broken))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--half", choices=("chosen", "held"), default=None)
    parser.add_argument("--limit", type=int, default=None, help="only the first N pages of each set")
    parser.add_argument("--wrong", choices=FIELDS, default=None, help="list the pages of which this is read wrong")
    options = parser.parse_args()
    if not (options.data / "wcxb-dev.jsonl.zst").is_file():
        print(f"no labelled pages in {options.data}: give --data", file=sys.stderr)
        return 1
    logging.disable(logging.CRITICAL)
    reads = list(measure(islice(labelled(options.data), options.limit)))
    print("precision, recall and F1 of ours and of trafilatura's, difference of F1 with the interval of 95 %")
    found: dict[str, float] = {}
    for name in ("chosen", "held", "all"):
        if options.half in {None, name}:
            found = table(name, [r for r in reads if name == "all" or r.held == (name == "held")])
    table("readability", list(measure(islice(agreement(options.data), options.limit))))
    if options.wrong:
        field = FIELDS.index(options.wrong)
        for read in reads:
            if read.expected[field] != read.ours[field]:
                print(f"{read.kind:14}{read.expected[field][:60]!r} read as {read.ours[field][:60]!r} {read.url[:80]}")
    return verdict(found) if options.half is None and options.limit is None else 0


if __name__ == "__main__":
    sys.exit(main())
