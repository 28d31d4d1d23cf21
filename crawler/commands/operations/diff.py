"""`scrapy dataset diff A B`: what a second run, another configuration or a rewrite made of the same URLs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import orjson

from crawler.commands.numbers import whole
from crawler.commands.operation import Load, Operation

if TYPE_CHECKING:
    from crawler.dataset.diff import Change, Difference


def declare(parser: argparse.ArgumentParser) -> None:
    """Two sides, --json, --show."""
    parser.add_argument("--json", action="store_true", help="everything, as one JSON object")
    parser.add_argument("--show", type=whole(0), default=5, metavar="N", help="examples of each kind (5)")
    parser.add_argument("before", metavar="A", help="a CORPUS_DIR, or CORPUS_DIR@VERSION")
    parser.add_argument("after", metavar="B", help="the other one")


def show_difference(opts: argparse.Namespace, load: Load) -> list[str]:  # noqa: ARG001  # needs no settings
    """Differences are an answer, no failure. Raises: StorageError."""
    from crawler.dataset.diff import compare, side_of

    found = compare(side_of(opts.before), side_of(opts.after), samples=opts.show)
    if opts.json:
        sys.stdout.write(orjson.dumps(found.as_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(found, opts.show)))
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


OPERATION = Operation(
    "what another configuration, or a later version, made of the same URLs",
    "diff corpus stricter",
    declare,
    show_difference,
)
