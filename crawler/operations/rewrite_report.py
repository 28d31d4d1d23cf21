"""What the operations that make a new version have in common: the options of a rewrite, and its report."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Iterable
from typing import Any

from crawler.dataset.beside import outdated
from crawler.dataset.growing import unsealed_note
from crawler.dataset.rewrite import Rewritten
from crawler.dataset.supersede import pending
from crawler.number import number_of
from crawler.operations.answer import Answer, Fields
from crawler.operations.declared import WrongCall
from crawler.storage.files.place import Place

REWRITTEN: Fields = {
    "rewritten": (
        "object or null",
        "version, seen, changed, rejected, dropped, files and erased of the rewrite; null: nothing was written",
    )
}
"""Fields of an answer that may tell of a rewrite."""


def declare_rewrite(parser: argparse.ArgumentParser) -> None:
    """--remove, --drop-old."""
    parser.add_argument("--remove", action="store_true", help="write a new version without them")
    parser.add_argument("--drop-old", action="store_true", help="with --remove: do not keep the replaced files")


def refuse_without_rewrite(opts: argparse.Namespace) -> None:
    """Raises: WrongCall for an option that would do nothing."""
    if opts.drop_old and not opts.remove:
        raise WrongCall("--drop-old goes with --remove: nothing is replaced without it")


def report(place: Place, found: dict[str, Any], done: Rewritten | None, lines: Iterable[str]) -> Answer:
    """The findings, and what a rewrite (`done`) made of them. Raises: StorageError."""
    facts = found | {"rewritten": done and dataclasses.asdict(done)}
    if done is None:
        return Answer(facts, lines)
    tell_outdated(place)
    counts = (
        f"{number_of(done.changed, 'document')} changed, {done.rejected:,} "
        f"rejected, {number_of(done.files, 'new file')}"
    )
    return Answer(facts, [*lines, f"version {done.version}: {counts}"])


def tell_outdated(place: Place) -> None:
    """Say on standard error which descriptions in the corpus are of the version before. Raises: StorageError."""
    sys.stderr.writelines(f"{line}\n" for line in outdated(place))


def tell_pending(place: Place) -> None:
    """Say on standard error where records were read or counted that a later visit replaced. Raises: StorageError."""
    if line := pending(place):
        sys.stderr.write(f"{line}\n")


def tell_unsealed(place: Place) -> None:
    """Say on standard error where files in progress were not read."""
    if line := unsealed_note(place):
        sys.stderr.write(f"{line}\n")
