"""`scrapy dataset best CORPUS_DIR`: kept documents with a better copy among the duplicates, listed or exchanged."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import orjson
from scrapy.exceptions import UsageError

from crawler.commands.operation import Load, Operation
from crawler.commands.rewrite_report import tell_outdated
from crawler.dataset.rewrite import corpus_place

if TYPE_CHECKING:  # imported where it runs: Scrapy loads every command before each crawl
    from crawler.dataset import best

SHOWN = 20


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, and what is done with the findings."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--exchange", action="store_true", help="write a new version that keeps the better copies")
    parser.add_argument("--drop-old", action="store_true", help="with --exchange: do not keep the replaced files")
    parser.add_argument("--json", action="store_true", help="the report as JSON")


def choose(opts: argparse.Namespace, load: Load) -> list[str]:
    """List, or with --exchange exchange. Raises: UsageError, ConfigError, StorageError."""
    from crawler.dataset import best

    if opts.drop_old and not opts.exchange:
        raise UsageError("--drop-old goes with --exchange: nothing is replaced without it")
    config, version = load(), None
    with corpus_place(opts.corpus, config.storage.spool_dir) as place:
        if opts.exchange:
            found, done = best.exchange(place, config, now=time.time(), keep_old=not opts.drop_old)
            version = done.version if found.exchanges else None
            tell_outdated(place)
        else:
            found = best.find(place, config, now=time.time())
    if opts.json:
        report = found.as_dict() | {"version": version}
        sys.stdout.write(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(found, version))
    return []


def _lines(found: best.Best, version: int | None) -> Iterator[str]:
    yield f"{len(found.exchanges):,} of {found.clusters:,} kept documents with duplicates have a better copy"
    for each in found.exchanges[:SHOWN]:
        yield f"  {each.better['url']}\n    instead of {each.kept['url']}"
    if len(found.exchanges) > SHOWN:
        yield f"  … and {len(found.exchanges) - SHOWN:,} more (--json lists all)"
    if found.without_text:
        yield (
            f"{found.without_text:,} duplicates cannot stand in: their records have no text, or not its placeholders "
            "(REJECTED_TEXT was off, an older version wrote them, or they were withdrawn)"
        )
    if version is not None:
        yield f"version {version} keeps the better copies"


OPERATION = Operation(
    "find kept documents that have a better copy among the duplicates; --exchange keeps that one",
    "best --exchange corpus",
    declare,
    choose,
)
