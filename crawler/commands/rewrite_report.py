"""What the operations that make a new version have in common: the options of a rewrite, and its report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import orjson
from scrapy.exceptions import UsageError

from crawler.dataset.beside import outdated
from crawler.dataset.rewrite import Rewritten
from crawler.dataset.supersede import pending
from crawler.storage.files.place import Place


def declare_rewrite(parser: argparse.ArgumentParser) -> None:
    """--remove, --drop-old, --json."""
    parser.add_argument("--remove", action="store_true", help="write a new version without them")
    parser.add_argument("--drop-old", action="store_true", help="with --remove: do not keep the replaced files")
    parser.add_argument("--json", action="store_true", help="the report as JSON")


def refuse_without_rewrite(opts: argparse.Namespace) -> None:
    """Raises: UsageError for an option that would do nothing."""
    if opts.drop_old and not opts.remove:
        raise UsageError("--drop-old goes with --remove: nothing is replaced without it")


def show(report: dict[str, Any], done: Rewritten | None, lines: Iterator[str], *, as_json: bool) -> None:
    """Print the findings, and what a rewrite (`done`) made of them."""
    removed = None if done is None else {name: getattr(done, name) for name in Rewritten.__slots__}
    if as_json:
        sys.stdout.write(orjson.dumps(report | {"rewritten": removed}, option=orjson.OPT_INDENT_2).decode() + "\n")
        return
    sys.stdout.writelines(line + "\n" for line in lines)
    if done is not None:
        sys.stdout.write(
            f"version {done.version}: {done.changed:,} documents changed, {done.rejected:,} rejected, "
            f"{done.files:,} new files\n"
        )


def tell_outdated(place: Place) -> None:
    """Say on standard error which descriptions in the corpus are of the version before. Raises: StorageError."""
    sys.stderr.writelines(f"{line}\n" for line in outdated(place))


def tell_pending(place: Place) -> None:
    """Say on standard error where records were read or counted that a later visit replaced. Raises: StorageError."""
    if line := pending(place):
        sys.stderr.write(f"{line}\n")
