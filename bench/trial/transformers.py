"""Do transformers tell apart what the character model does, and in the same direction?

Run: `python -m bench.trial.transformers --held-out PLACE … --work FOLDER [--sizes tiny] [--tokens N] [--seeds N]`;
needs the extra `trial`. Raw text, 50 % copies and 20 % navigation beside the extracted text, by equal size, with the
`marked` texts as one kind. Ended, the same command goes on; `--pack` and `--answer` as in `gristmill dataset trial`.
Exit code 1 where both separate a side and contradict each other; what one of them does not separate is named.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.machine import commit, machine
from bench.trial.pages import sides
from bench.trial.separates import told
from crawler.config import from_mapping
from crawler.trial.difference import EQUAL
from crawler.trial.pack import TOKENS, Wanted
from crawler.trial.trial import CHARACTERS, SEEDS, SIZE, Trial, run

SIDES = ("ours", "raw", "half-copies", "navigation")


def beside(found: Trial) -> Iterator[tuple[bool, str]]:
    """Of each size, kind and side whether it contradicts the character model, and a sentence."""
    known = {(one.by, one.kind, one.side): one.found for one in found.compared if one.model == CHARACTERS}
    for one in found.compared:
        if one.model == CHARACTERS:
            continue
        plain = known[one.by, one.kind, one.side]
        verdicts, name = (plain.verdict, one.found.verdict), f"{one.model}, {one.kind}, {Path(one.side).stem}"
        if EQUAL in verdicts:
            yield False, f"{name}: characters {verdicts[0]}, transformer {verdicts[1]}"
        else:
            same = verdicts[0] == verdicts[1]
            yield not same, f"{name}: both {verdicts[0]}" if same else f"{name}: contradict each other"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="append", default=[])
    parser.add_argument("--folder", type=Path, default=Path("bench/.cache/trial"))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--sizes", default="tiny")
    parser.add_argument("--tokens", type=int, default=TOKENS)
    for name in ("work", "pack", "answer"):
        parser.add_argument(f"--{name}", type=Path)
    options = parser.parse_args()
    files = sides(options.folder, (*SIDES, "marked"))
    wanted = Wanted(tuple(options.sizes.split(",")), options.tokens, options.work, options.pack, options.answer)
    print(machine(), commit(), sep="; ", flush=True)
    begin, held_out = time.process_time(), [str(files["marked"]), *options.held_out]
    names = [str(files[name]) for name in SIDES]
    found = run(
        names, held_out, from_mapping({}), seeds=options.seeds, size=options.size, transformer=wanted, progress=_tell
    )
    print(*(f"{one.model:10} {told(one)}" for one in found.compared), sep="\n")
    said = list(beside(found))
    print(*(sentence for _, sentence in said), *(f"weak: {one}" for one in found.weak), sep="\n")
    print(f"{time.process_time() - begin:.0f} CPU seconds of this process")
    return int(any(wrong for wrong, _ in said))


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
