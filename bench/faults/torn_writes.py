"""SIGKILL while archive and shards are written: is everything acknowledged readable?

`python -m bench.faults.torn_writes [--kills 50]`

Kills a writer `--kills` times: half at random moments, half at steps spread over every write, fsync, rename and removal
that the writer makes (`bench/faults/torn.py`); each third recovery is killed, too. After each kill the next start seals
what was left, and the audit reads everything back with FastWARC, warcio and `verify`. Exit code 1 where anything is
wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.faults.torn import Steps, audit, corpus_of, write_pages

PAGES = 40
COMPRESSIONS = ("gzip", "zstd")


def main(arguments: list[str]) -> int:
    """Run the campaign; answers the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="torn-") as folder:
        total = _count_steps(Path(folder) / "count")
        print(f"{PAGES} pages: {total} steps at which a writer can die")
        failures = 0
        for number in range(options.kills):
            at = 1 + number * total // options.kills if number % 2 else None
            what, wrong = _one(Path(folder) / str(number), number, at, chance)
            failures += bool(wrong)
            print(f"kill {number + 1:3} {what}: " + ("; ".join(wrong) if wrong else "ok"))
    print(f"{options.kills} kills, {failures} with something wrong")
    return 1 if failures else 0


def _one(folder: Path, number: int, at: int | None, chance: random.Random) -> tuple[str, list[str]]:
    compression = COMPRESSIONS[number // 2 % 2]
    after = chance.randrange(1, PAGES // 4)
    acknowledged = _killed(lambda tell: _write(folder, compression, at, tell), None if at else after)
    what = f"at step {at}" if at else f"after {after} acknowledgements"
    if number % 3 == 2:
        step = chance.randrange(1, 30)
        _killed(lambda _: _recover(folder, compression, step), None)
        what += f", its recovery at step {step}"
    _recover(folder, compression, None)
    return f"{compression} {what}, {acknowledged + 1} acknowledged", audit(folder, acknowledged)


def _write(folder: Path, compression: str, at: int | None, tell: Callable[[int], None]) -> None:
    if at:
        Steps(at).inject()
    write_pages(corpus_of(folder, "killed", compression), PAGES, tell)


def _recover(folder: Path, compression: str, at: int | None) -> None:
    if at:
        Steps(at).inject()
    corpus = corpus_of(folder, "next", compression)
    corpus.open()
    corpus.close()


def _count_steps(folder: Path) -> int:
    """How many steps a writer makes that nobody kills."""
    steps = Steps(None)

    def run(tell: Callable[[int], None]) -> None:
        steps.inject()
        write_pages(corpus_of(folder, "killed", "gzip"), PAGES, lambda _: None)
        tell(steps.count)

    return _killed(run, None)


def _killed(run: Callable[[Callable[[int], None]], None], after: int | None) -> int:
    """Run in a child that may die, or that is killed after so many answers; the last number it told, or -1."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _child(run, writing)
    os.close(writing)
    told: list[int] = []
    with os.fdopen(reading) as lines:
        for line in lines:
            told.append(int(line))
            if after is not None and len(told) == after:
                os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return told[-1] if told else -1


def _child(run: Callable[[Callable[[int], None]], None], writing: int) -> None:
    code = 1
    try:
        with os.fdopen(writing, "w", buffering=1) as told:
            run(lambda number: print(number, file=told))
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
