"""`scrapy dataset verify CORPUS_DIR`: is the corpus what its manifest says? `--fix` leaves each URL's newest record."""

from __future__ import annotations

import argparse
import sys

from crawler.commands.operation import Load, Operation
from crawler.dataset.verify import Findings, finish_dead_writers, fix, verify
from crawler.storage.files.place import Place


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, --fix."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--fix", action="store_true", help="seal what crashed workers left, remove surplus records")


def check(opts: argparse.Namespace, load: Load) -> list[str]:  # noqa: ARG001  # needs no settings
    """Hashes, counts, every line, and that each URL has one verdict. Raises: StorageError where there is no corpus."""
    place = Place(opts.corpus)
    place.manifest()
    if opts.fix and (sealed := finish_dead_writers(place)):
        sys.stdout.write(f"sealed {sealed} file(s) of workers that had crashed\n")
    found = verify(place)
    lines = found.surplus + found.superseded
    if lines and opts.fix and not found.damage:
        sys.stdout.write(f"removed {fix(place, lines):,} surplus record(s)\n")
        found = verify(place)
    problems = list(found.damage)
    if found.surplus:
        problems.append(f"{len(found.surplus):,} surplus record(s): each URL may be there once; use --fix")
    if not problems:
        sys.stdout.write(f"ok: {found.files:,} files, {found.documents:,} records, {_once(found)}\n")
        if found.expired[0]:
            archives, records = found.expired
            sys.stdout.write(
                f"{records:,} record(s) come from {archives:,} archive(s) that have expired (expired.jsonl)\n"
            )
    return problems


def _once(found: Findings) -> str:
    """Records that a later one replaces without any fault are counted, so that the numbers add up."""
    if not found.superseded:
        return "each URL exactly once"
    left, more = found.documents - len(found.superseded), len(found.superseded)
    return f"{left:,} URLs once each, and {more:,} verdict(s) that a later visit replaced or that were never final"


OPERATION = Operation("check every file, every line, and that each URL is there once", "verify corpus", declare, check)
