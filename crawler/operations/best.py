"""`gristmill dataset best CORPUS_DIR`: kept documents with a better copy among the duplicates, listed or exchanged."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from crawler.dataset.rewrite import corpus_place
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.rewrite_report import tell_outdated

if TYPE_CHECKING:  # imported where it runs: Scrapy loads every command before each crawl
    from crawler.dataset import best

SHOWN = 20


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, and what is done with the findings."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--exchange", action="store_true", help="write a new version that keeps the better copies")
    parser.add_argument("--drop-old", action="store_true", help="with --exchange: do not keep the replaced files")


def choose(opts: argparse.Namespace, load: Load) -> Answer:
    """List, or with --exchange exchange. Raises: WrongCall, ConfigError, StorageError."""
    from crawler.dataset import best

    if opts.drop_old and not opts.exchange:
        raise WrongCall("--drop-old goes with --exchange: nothing is replaced without it")
    config, version = load(), None
    with corpus_place(opts.corpus, config.storage.spool_dir) as place:
        if opts.exchange:
            found, done = best.exchange(place, config, now=time.time(), keep_old=not opts.drop_old)
            version = done.version if found.exchanges else None
            tell_outdated(place)
        else:
            found = best.find(place, config, now=time.time())
    return Answer(found.as_dict() | {"corpus_version": version}, _lines(found, version))


def _lines(found: best.Best, version: int | None) -> Iterator[str]:
    yield f"{len(found.exchanges):,} of {found.clusters:,} kept documents with duplicates have a better copy"
    for each in found.exchanges[:SHOWN]:
        yield f"  {each.better['url']}\n    instead of {each.kept['url']}"
    if len(found.exchanges) > SHOWN:
        yield f"  … and {len(found.exchanges) - SHOWN:,} more (--json lists all)"
    if found.without_text:
        yield (
            f"{found.without_text:,} duplicates cannot replace it: their records have no text, or not its placeholders "
            "(REJECTED_TEXT was off, an older version wrote them, or they were withdrawn)"
        )
    if version is not None:
        yield f"version {version} keeps the better copies"


WORK = Work(
    "best --exchange corpus",
    declare,
    choose,
    {
        "rule": ("string", "which copy is the better one"),
        "clusters": ("integer", "kept documents with duplicates"),
        "copies": ("integer", "duplicates of them"),
        "without_text": ("integer", "duplicates that cannot replace the kept document"),
        "exchanges": ("list of object", "URL of the kept document, URL of the better copy, similarity"),
        "corpus_version": ("integer or null", "version of the corpus that has the better copies; null: none was made"),
    },
)
