"""Does the instrument tell apart what differs, and only that?

Run: `python -m bench.trial.separates --held-out FOLDER [--folder CACHE] [--seeds N] [--halvings N]`. FOLDER is made by
`bench.trial.held_out`, the sides are of `bench.trial.pages`. First raw text, 25 % copies and 20 % navigation beside
the extracted text; then random halvings of the extracted text, which may differ by chance only. Exit code 1 where one
of the three is not worse by equal size, or more halvings differ than may (`MOST_ALARMS` of 40).
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.machine import commit, machine
from bench.trial.pages import read, sides, write
from crawler.config import from_mapping
from crawler.trial.difference import EQUAL, WORSE
from crawler.trial.trial import ALL, SEEDS, SIZE, Compared, run

WORSE_ONES = ("raw", "copies", "navigation")
MOST_ALARMS = 5
"""Of forty. At 95 % two are expected; more than five have a probability of .014."""


def overall(found: list[Compared], by: str = "size") -> Iterator[Compared]:
    """The comparisons over all kinds."""
    return (one for one in found if one.by == by and one.kind == ALL)


def told(one: Compared) -> str:
    """A line."""
    found = one.found
    name = Path(one.side).stem
    return (
        f"{name:14} {one.by:6} {one.kind:10} {found.value:+.4f} [{found.low:+.4f}, {found.high:+.4f}] {found.verdict}"
    )


def separated(files: dict[str, Path], held_out: list[str], seeds: int, size: int) -> bool:
    """Whether each of the three is worse than the extracted text."""
    names = [str(files[name]) for name in ("ours", *WORSE_ONES)]
    found = run(names, held_out, from_mapping({}), seeds=seeds, size=size)
    print(*map(told, found.compared), sep="\n")
    return all(one.found.verdict == WORSE for one in overall(found.compared))


def alarms(files: dict[str, Path], held_out: list[str], halvings: int, seeds: int, size: int) -> int:
    """How many halvings differ, by equal size."""
    records, count = read(files["ours"]), 0
    for number in range(halvings):
        random.Random(number).shuffle(records)
        with tempfile.TemporaryDirectory() as folder:
            half = len(records) // 2
            names = [
                str(write(Path(folder) / f"{name}.jsonl", some))
                for name, some in (("one", records[:half]), ("other", records[half:]))
            ]
            found = run(names, held_out, from_mapping({}), seeds=seeds, size=size)
        one = next(overall(found.compared))
        count += one.found.verdict != EQUAL
        print(f"halving {number + 1}: {told(one)}", flush=True)
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="append", required=True)
    parser.add_argument("--folder", type=Path, default=Path("bench/.cache/trial"))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--halvings", type=int, default=40)
    options = parser.parse_args()
    files = sides(options.folder, ("ours", *WORSE_ONES))
    print(machine(), commit(), sep="; ")
    begin = time.process_time()
    good = separated(files, options.held_out, options.seeds, options.size)
    print(f"{time.process_time() - begin:.0f} CPU seconds", flush=True)
    count = alarms(files, options.held_out, options.halvings, options.seeds, options.size)
    print(f"{count} of {options.halvings} halvings differ; {time.process_time() - begin:.0f} CPU seconds in all")
    return int(not good or count > MOST_ALARMS * options.halvings / 40)


if __name__ == "__main__":
    sys.exit(main())
