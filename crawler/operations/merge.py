"""`gristmill dataset merge --out DIR CORPUS_DIR …`: several corpora, such as those of several machines, become one."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.common import reading
from crawler.operations.declared import Load, Work

if TYPE_CHECKING:
    from crawler.storage.types import MergedFrom


def declare(parser: argparse.ArgumentParser) -> None:
    """The corpora, and where the new one is written."""
    parser.add_argument("corpora", nargs="+", metavar="CORPUS_DIR", help="two corpora at least; none is changed")
    parser.add_argument("--out", required=True, metavar="DIR", help="a new folder for the merged corpus")
    parser.add_argument("--leave-archives", action="store_true",
                        help="archives stay where they are; the manifest names them by path and hash")  # fmt: skip


def merge(opts: argparse.Namespace, load: Load) -> Answer:
    """Check, choose, write. Raises: ConfigError, StorageError."""
    from crawler.dataset.merge.corpus import merge_corpora
    from crawler.storage.files.place import Place

    config = load(CORPUS_DIR=opts.out)
    with reading() as say:
        run = merge_corpora(
            [Place(name) for name in opts.corpora],
            Place(opts.out, config.storage.spool_dir),
            config,
            now=time.time(),
            leave_archives=opts.leave_archives,
            progress=say,
        )
    found = run["merged_from"]
    return Answer(dict(found), _lines(found, opts))


def _lines(found: MergedFrom, opts: argparse.Namespace) -> Iterator[str]:
    for name, source in zip(opts.corpora, found["sources"], strict=True):
        yield f"{name}: {source['kept']:,} kept, {source['rejected']:,} rejected, {source['held']:,} held"
    if found["several"]:
        have = "page is in more than one of them" if found["several"] == 1 else "pages are in more than one of them"
        yield f"{found['several']:,} {have}"
    if found["replaced"]:
        yield f"{number_of(found['replaced'], 'record')} gave way: {found['rule']}"
    if found["withdrawn"]:
        yield f"{number_of(found['withdrawn'], 'withdrawn record')}: left out, and refused from now on"
    if found["elsewhere"]:
        stay = "archive stays where it is" if found["elsewhere"] == 1 else "archives stay where they are"
        yield f"{found['elsewhere']:,} {stay}, out of reach of `rejudge` and `page --raw`"
    if unsaid := found.get("unsaid", 0):
        pages = "page was" if unsaid == 1 else "pages were"
        yield (
            f"{unsaid:,} {pages} found unchanged since a visit of which none of them has a record: docs/frontier.md "
            "says how to fetch what a lost machine had"
        )
    yield f"{opts.out}: the merged corpus, with {number_of(found['archives'], 'archive')}; it has no frontier"


WORK = Work(
    "merge --out all corpus stricter",
    declare,
    merge,
    {
        "sources": (
            "list of object",
            "each corpus, as given: manifest_sha256, version, kept, rejected, held, archived",
        ),
        "rule": ("string", "which record of a page stays"),
        "read": ("integer", "records that were read"),
        "replaced": ("integer", "records of pages that have a later or a final one, which stays"),
        "several": ("integer", "pages that more than one of the corpora had"),
        "withdrawn": ("integer", "records of pages that one of the corpora has withdrawn"),
        "archives": ("integer", "archives that were brought along"),
        "elsewhere": ("integer", "archives that stayed where they are"),
        "unsaid": ("integer", "pages found unchanged, of which no corpus has what they said before"),
    },
)
