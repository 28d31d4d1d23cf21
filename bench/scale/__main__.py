"""`python -m bench.scale [mixed|template|chain] [--documents N] [--check]`: duplicates in rounds in DuckDB.

`python -m bench.scale simulate [--pages N] [--days N] …` prints what a crawl of that size needs (`simulate.py`).

Prints CPU seconds and memory of the rounds alone (the documents are made and stored by another process), and with
`--check` whether every verdict, owner and similarity is that of `MemoryIndex`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.scale.duplicates import KINDS, differing, rounds, store
from bench.scale.simulate import Crawl, table


def main() -> int:
    """Exit code 1 where a verdict differs."""
    if sys.argv[1:2] == ["simulate"]:
        return _simulate(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="Duplicates in rounds, in DuckDB.")
    parser.add_argument("kind", nargs="?", choices=KINDS, default="mixed")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--check", action="store_true", help="compare with MemoryIndex")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="scale-") as name:
        folder, result = Path(name), {"kind": options.kind, "documents": options.documents}
        _apart(store, options.kind, options.documents, folder)
        result |= _apart(rounds, folder)
        result |= _apart(differing, options.kind, options.documents, folder) if options.check else {}
    for key, value in result.items():
        sys.stdout.write(f"{key}: {value}\n")
    return 1 if result.get("differ") else 0


def _simulate(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.scale simulate", description="What a crawl needs.")
    for each in fields(Crawl):
        option = "--" + each.name.replace("_", "-")
        parser.add_argument(option, type=type(each.default), default=each.default, metavar="N")
    options = parser.parse_args(words)
    try:
        sys.stdout.write(table(Crawl(**vars(options))))
    except ValueError as error:
        parser.error(str(error))
    return 0


def _apart(function: Any, *arguments: Any) -> Any:
    """Called in a process of its own, so that its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        return executor.submit(function, *arguments).result()


if __name__ == "__main__":
    sys.exit(main())
