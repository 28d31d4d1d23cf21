"""Are near duplicates found, and only these? Detection by true similarity on a labelled stream of edited real pages.

`python -m bench.quality.eval_dedup [--pages 400] [--copies 10] [--packages NAME …] [--set NEARDUP_THRESHOLD=0.75 …]`.
The pages are the public extraction set (`../shared/data/extraction` or `--data`), then documentation as
`bench/web/realweb.py` gets it. Exit code 1 where a bar is missed: found end to end ≥ 99 % from 0.9 up and ≥ 90 % around
0.85, false positives < 0.1 % below 0.6.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path

import numpy as np

from bench.places import SHARED_DATA
from bench.quality.dedup_stream import (
    SHORT_EDITS,
    Fingerprinted,
    Pair,
    extraction_pages,
    jaccard,
    package_pages,
    pairs,
    short_pairs,
    texts_of,
)
from crawler.config import DedupConfig, from_mapping
from crawler.dedup.index import Questions, candidate_probability, similarity

EDGES = [0.0, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.825, 0.875, 0.9, 0.95, 1.0001]


@dataclass(frozen=True, slots=True)
class Judged:
    """One pair as the index sees it."""

    jaccard: float
    estimate: float
    candidate: bool  # a band in common
    found: bool  # and enough agreement


def judged(labelled: Iterable[tuple[Fingerprinted, Fingerprinted, float]], config: DedupConfig) -> list[Judged]:
    """What bands and verification say about each pair by itself."""
    questions, result = Questions(config), []
    for left, right, true in labelled:
        a, b = (questions.about(p.doc_id, p.signature, len(p.shingles)) for p in (left, right))
        if not (a.signature and b.signature):  # compared exactly only
            result.append(Judged(true, 0.0, candidate=False, found=False))
            continue
        agreeing = int(np.count_nonzero(np.frombuffer(a.signature, np.uint8) == np.frombuffer(b.signature, np.uint8)))
        candidate = any(x == y for x, y in zip(a.bands, b.bands, strict=True))
        estimate = similarity(agreeing, questions.scheme.permutations)
        result.append(Judged(true, estimate, candidate, candidate and agreeing >= b.needed))
    return result


def share(rows: list[Judged], low: float, high: float) -> tuple[float, int]:
    """Share found end to end with low ≤ J < high, and how many pairs that is."""
    inside = [row.found for row in rows if low <= row.jaccard < high]
    return (sum(inside) / len(inside) if inside else float("nan")), len(inside)


def estimate_error(rows: list[Judged], permutations: int) -> tuple[float, float, float]:
    """Mean error of the estimate, its standard deviation, and the deviation theory expects (Li and König 2010)."""
    errors = np.array([row.estimate - row.jaccard for row in rows])
    chance = 1 / 256
    agree = chance + (1 - chance) * np.array([row.jaccard for row in rows])
    expected = np.sqrt(np.mean(agree * (1 - agree)) / permutations) / (1 - chance)
    return float(errors.mean()), float(errors.std()), float(expected)


def table(rows: list[Judged], config: DedupConfig) -> list[str]:
    """One line a bucket of true similarity."""
    lines = [f"{'true J':>14} {'pairs':>7} {'curve':>7} {'candidates':>11} {'found':>7} {'est. error':>11}"]
    for low, high in pairwise(EDGES):
        inside = [row for row in rows if low <= row.jaccard < high]
        if inside:
            curve = np.mean([candidate_probability(row.jaccard, config.bands, config.rows) for row in inside])
            candidates, found = (np.mean([getattr(r, name) for r in inside]) for name in ("candidate", "found"))
            error = np.mean([row.estimate - row.jaccard for row in inside])
            lines.append(
                f"{low:6.3f}–{min(high, 1):6.3f} {len(inside):8} {curve:7.1%} {candidates:11.1%} {found:7.1%} "
                f"{error:+11.3f}"
            )
    return lines


def strangers(labelled: list[Pair], most: int) -> list[tuple[Fingerprinted, Fingerprinted, float]]:
    """Pairs of different pages of the same set: navigation, templates and licences in common, hardly more."""
    originals = list({pair.original.url: pair.original for pair in labelled}.values())
    combinations = ((a, b) for i, a in enumerate(originals) for b in originals[:i])
    return [(a, b, jaccard(a, b)) for a, b in islice(combinations, most)]


def by_edit(labelled: list[Pair], rows: list[Judged]) -> list[str]:
    """Found from 0.8 up, by kind of edit."""
    kinds: dict[str, list[bool]] = defaultdict(list)
    for pair, row in zip(labelled, rows, strict=True):
        if row.jaccard >= 0.8:
            kinds[pair.edit if "+" not in pair.edit else "two edits"].append(row.found)
    return [f"  {name:20} {len(found):5} pairs, {np.mean(found):6.1%} found" for name, found in sorted(kinds.items())]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED_DATA / "extraction")
    parser.add_argument("--packages", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--set", action="append", default=[], metavar="SETTING=VALUE")
    options = parser.parse_args()
    if not options.packages and not (options.data / "pages.tar.gz").is_file():
        print(f"no pages in {options.data}: give --data or --packages", file=sys.stderr)
        return 1
    config = from_mapping(dict(item.split("=", 1) for item in options.set)).dedup
    sources = [extraction_pages(options.data)] if (options.data / "pages.tar.gz").is_file() else []
    texts = texts_of(chain(*sources, package_pages(options.packages)), options.pages)
    labelled = list(pairs(texts, config, options.copies))
    rows = judged(((p.original, p.copy, p.jaccard) for p in labelled), config)
    others = judged(strangers(labelled, 40_000), config)
    print(
        f"{len(texts)} pages, {len(labelled)} edited copies; {config.bands} × {config.rows} bands, "
        f"threshold {config.threshold}"
    )
    print("\n".join([*table(rows, config), "found from 0.8 up:", *by_edit(labelled, rows)]))
    error, deviation, expected = estimate_error(rows, config.bands * config.rows)
    print(f"estimate against truth: mean error {error:+.4f}, s.d. {deviation:.4f} (theory {expected:.4f})")
    print("short texts:", *short_table(texts, config), sep="\n")
    return verdict(rows, others)


def short_table(texts: list[str], config: DedupConfig) -> list[str]:
    """How many short texts are dropped as near duplicates, by length and by what was done to them."""
    lines = [f"{'words':>9}" + "".join(f"{name:>24}" for name in SHORT_EDITS) + "   dropped"]
    for low, high in pairwise([25, 35, 50, 75, 100, 150]):
        labelled = list(short_pairs(texts, config, low, high))
        rows = judged(((p.original, p.copy, p.jaccard) for p in labelled), config)
        cells = {name: [r.found for p, r in zip(labelled, rows, strict=True) if p.edit == name] for name in SHORT_EDITS}
        lines.append(f"{low:4}–{high:4}" + "".join(f"{np.mean(cell):24.1%}" for cell in cells.values()))
    return lines


def verdict(rows: list[Judged], others: list[Judged]) -> int:
    """Print the bars; 1 where one is missed."""
    checks = [
        ("found, J ≥ 0.9", *share(rows, 0.9, 1.01), 0.99, 1.0),
        ("found, 0.825 ≤ J < 0.875", *share(rows, 0.825, 0.875), 0.90, 1.0),
        ("false positives, copies with J < 0.6", *share(rows, 0.0, 0.6), 0.0, 0.001),
        ("false positives, different pages with J < 0.6", *share(others, 0.0, 0.6), 0.0, 0.001),
    ]
    missed = 0
    for name, value, count, low, high in checks:
        good = low <= value <= high
        missed += not good
        print(f"{name:48} {value:8.3%} of {count:6}  {'ok' if good else 'MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
