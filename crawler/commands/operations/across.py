"""`scrapy dataset across CORPUS CORPUS …`: duplicates between finished corpora, and what remains without them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from scrapy.exceptions import UsageError

from crawler.commands.operation import Load, Operation
from crawler.commands.operations.export import NAMES

if TYPE_CHECKING:
    from crawler.dataset.across.across import Found


def declare(parser: argparse.ArgumentParser) -> None:
    """The corpora, the rule, and what is written."""
    parser.add_argument("corpora", nargs="+", metavar="CORPUS", help="CORPUS_DIR, DIR@N, or an export's files")
    parser.add_argument("--keep", default="tier,quality,date,order", metavar="RULE",
                        help="which copy stays, the first that differs decides (%(default)s)")  # fmt: skip
    parser.add_argument("--list", metavar="FILE", help="write every copy that goes as JSON lines")
    parser.add_argument("--out", metavar="DIR", help="write what remains to a new folder on this machine")
    parser.add_argument("--to", choices=NAMES, default="jsonl.zst", help="%(choices)s (jsonl.zst)", metavar="FORMAT")
    parser.add_argument("--json", action="store_true", help="the report as JSON")


def compare(opts: argparse.Namespace, load: Load) -> list[str]:
    """Compare, write what is asked for, print the report. Raises: UsageError, ConfigError, StorageError."""
    from rich.console import Console

    from crawler.dataset.across.across import Across

    if opts.out is not None and "://" in opts.out:
        raise UsageError("--out: expected a folder on this machine; copy it from there")
    keep, config = _rule(opts.keep), load()
    with Console(stderr=True).status("reading …") as status:

        def show(count: int) -> None:
            status.update(f"{count:,} documents")

        with Across(opts.corpora, config, keep=keep, progress=show) as across:
            if opts.list:
                across.write_list(Path(opts.list))
            if opts.out:
                across.write(Path(opts.out), opts.to, max_bytes=config.storage.shard_max_bytes)
            found = across.found
    if opts.json:
        sys.stdout.write(orjson.dumps(found.as_dict(), option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(found, opts))
    return []


def _rule(text: str) -> list[str]:
    from crawler.dataset.across.prints import CRITERIA

    names = text.split(",")
    if strange := [name for name in names if name not in CRITERIA]:
        raise UsageError(f"--keep: no criterion is called {strange[0]!r}; these are: {', '.join(CRITERIA)}")
    if len(set(names)) < len(names):
        raise UsageError("--keep: names a criterion twice")
    return names


def _lines(found: Found, opts: argparse.Namespace) -> Iterator[str]:
    for pair in found.pairs:
        where = "each other" if pair.gone == pair.kept else pair.kept
        yield f"{pair.documents:,} {pair.kind} duplicates: {pair.gone} repeats {where}"
    for name, documents, stay in zip(found.names, found.documents, found.stay, strict=True):
        yield f"{name}: {stay:,} of {documents:,} documents stay"
    if found.withdrawn:
        yield f"{found.withdrawn:,} withdrawn documents were left out"
    yield f"of several copies stays: {found.rule}"
    if opts.out:
        yield f"{sum(found.stay):,} documents are in {opts.out}"


OPERATION = Operation(
    "duplicates between corpora, by the rules of the crawl; --out writes what remains",
    "across --out merged corpus stricter",
    declare,
    compare,
)
