"""`scrapy dataset diff A B`: what a second run, another configuration or a rewrite made of the same URLs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import orjson
from scrapy.exceptions import UsageError

from crawler.commands._operation import Load, Operation

if TYPE_CHECKING:
    from crawler.dataset.diff import Change, Difference

SYNTAX = "diff [--json] [--show N] A B        (a CORPUS_DIR, or CORPUS_DIR@VERSION)"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the option of `diff` that no other operation has."""
    group = parser.add_argument_group("diff")
    group.add_argument("--show", type=int, default=5, metavar="N", help="examples of each kind (default 5)")


def show_difference(paths: list[str], opts: argparse.Namespace, load: Load) -> list[str]:
    """Differences are an answer, no failure. Raises: UsageError, ConfigError, StorageError."""
    from crawler.dataset.diff import compare, side_of

    if len(paths) != 2:
        raise UsageError(f"expected: scrapy dataset {SYNTAX}")
    spool = load(CORPUS_DIR=paths[0]).storage.spool_dir
    found = compare(side_of(paths[0], spool), side_of(paths[1], spool), samples=max(0, opts.show))
    if opts.json:
        sys.stdout.write(orjson.dumps(found.as_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(found, max(0, opts.show))))
    return []


def _lines(found: Difference, most: int) -> list[str]:
    lines = [f"{found.same:,} documents are the same"]
    for name, title in (("gained", "documents gained"), ("lost", "documents lost"), ("reasons", "other reasons")):
        changes: list[Change] = getattr(found, name)
        lines.append(f"{len(changes):,} {title}")
        lines += [f"    {count:,} {kind}" for kind, count in found.kinds(name).most_common()]
        lines += [f"  {change.url}" for change in changes[:most]]
    lines.append(f"{len(found.texts):,} documents with another text")
    for url, sample in found.samples.items():
        lines += [f"  {url}", *(f"    {line}" for line in sample)]
    return lines


OPERATION = Operation(SYNTAX, show_difference, many=True)
