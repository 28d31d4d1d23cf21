"""`python -m bench.scale [mixed|template|chain|files] [--documents N] [--check]`: duplicates in rounds in DuckDB.

`python -m bench.scale simulate [--pages N] [--days N] …` prints what a crawl of that size needs (`simulate.py`).

Prints CPU seconds and memory of the rounds alone (the documents are made and stored by another process), and with
`--check` whether every verdict, owner and similarity is that of `MemoryIndex`. `files --folder F` takes real ones
(`files.py`); `--spark MASTER …` runs the same rounds there, too; `--trouble kill` kills an executor in mid-job,
`stall` lets one stand still.
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

from bench.scale import cluster, peer
from bench.scale.duplicates import KINDS, STORED, differing, rounds, store
from bench.scale.simulate import Crawl, table


def main() -> int:
    """Exit code 1 where a verdict differs."""
    if sys.argv[1:2] == ["simulate"]:
        return _simulate(sys.argv[2:])
    options = _options()
    with TemporaryDirectory(prefix="scale-") as name:
        folder = Path(name)
        count = _apart(store, options.kind, options.documents, folder, options.folder)
        result = {"kind": options.kind, "documents": count} | _apart(rounds, folder)
        others = {}
        for number, partitions in enumerate(options.partitions if options.spark else ()):
            others[f"spark_{partitions}"] = out = folder / f"spark-{number}"
            work = folder / f"work-{number}"
            trouble = "" if number else options.trouble
            said = _apart(cluster.rounds, folder / STORED, work, out, options.spark, partitions, trouble)
            result |= {f"{key}_{partitions}": value for key, value in said.items()}
        result |= _apart(differing, folder, others) if options.check else {}
        if options.peer:
            found = peer.load(options.folder, options.documents)
            result |= _apart(peer.ours, found, folder) | _apart(peer.datatroves, found, folder)
    for key, value in result.items():
        sys.stdout.write(f"{key}: {value}\n")
    return 1 if any(value for key, value in result.items() if key.endswith("differ")) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="Duplicates in rounds, in DuckDB.")
    parser.add_argument("kind", nargs="?", choices=[*KINDS, "files"], default="mixed")
    parser.add_argument("--documents", type=int, default=100_000, help="of real files: at most")
    parser.add_argument("--folder", type=Path, help="files: where they are")
    parser.add_argument("--check", action="store_true", help="compare with MemoryIndex")
    parser.add_argument("--spark", metavar="MASTER", help="in Spark, too: local[2], local-cluster[2,1,1024]")
    parser.add_argument("--partitions", type=int, nargs="+", default=[4], help="of Spark, a run for each")
    parser.add_argument("--trouble", choices=("kill", "stall"), default="", help="of an executor in Spark's first run")
    parser.add_argument("--peer", action="store_true", help="files: the same texts through datatrove's MinHash")
    options = parser.parse_args()
    if options.peer and options.folder is None:
        parser.error("--peer goes with files")
    if (options.kind == "files") is not (options.folder is not None):
        parser.error("files and --folder go together")
    return options


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
