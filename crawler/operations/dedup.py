"""`gristmill dataset dedup SOURCE …`: duplicates in finished corpora or between them, and a corpus without them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.common import reading
from crawler.operations.declared import Load, Work, WrongCall

if TYPE_CHECKING:
    from crawler.dataset.deduplication.found import Found


def declare(parser: argparse.ArgumentParser) -> None:
    """The sources, the rule, and what is written."""
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="CORPUS_DIR, DIR@N, or an export's files")
    parser.add_argument("--keep", default="tier,quality,date,order", metavar="RULE",
                        help="which copy stays, the first that differs decides (%(default)s)")  # fmt: skip
    parser.add_argument("--list", metavar="FILE", help="write every document that goes as JSON lines")
    parser.add_argument("--out", metavar="DIR", help="write what remains to a new folder, as a corpus")
    parser.add_argument("--band-bits", type=int, choices=(32, 64), default=32,
                        help="64: for more than 10^8 documents, more than 32 bits tell apart (32)")  # fmt: skip


def deduplicate(opts: argparse.Namespace, load: Load) -> Answer:
    """Compare, write what is asked for. Raises: WrongCall, ConfigError, StorageError."""
    from crawler.dataset.deduplication.corpus import write
    from crawler.dataset.deduplication.found import Duplicates
    from crawler.storage.files.place import Place

    keep = _rule(opts.keep)
    config = load(CORPUS_DIR=opts.out) if opts.out else load()  # the corpus that is written is what remains
    with reading() as show_status:

        def show(count: int) -> None:
            show_status(number_of(count, "document"))

        with Duplicates(opts.sources, config, keep=keep, band_bits=opts.band_bits, progress=show) as duplicates:
            if opts.list:
                duplicates.write_list(Path(opts.list))
            if opts.out:
                write(duplicates, Place(opts.out, config.storage.spool_dir), now=time.time())
            found = duplicates.found
    return Answer(found.as_dict(), _lines(found, opts))


def _rule(text: str) -> list[str]:
    from crawler.dataset.deduplication.prints import CRITERIA

    names = text.split(",")
    if strange := [name for name in names if name not in CRITERIA]:
        raise WrongCall(f"--keep: there is no criterion {strange[0]!r}; known: {', '.join(CRITERIA)}")
    if len(set(names)) < len(names):
        raise WrongCall("--keep: names a criterion twice")
    return names


def _lines(found: Found, opts: argparse.Namespace) -> Iterator[str]:
    for pair in found.pairs:
        where = "each other" if pair.gone == pair.kept else pair.kept
        if pair.kind == "replaced":
            yield f"{pair.documents:,} older versions of pages: {pair.gone}, replaced in {pair.kept}"
        else:
            yield f"{pair.documents:,} {pair.kind} duplicates: {pair.gone} repeats {where}"
    for name, documents, stay in zip(found.names, found.documents, found.stay, strict=True):
        yield f"{name}: {stay:,} of {number_of(documents, 'document')} stay"
    if found.withdrawn:
        yield f"{found.withdrawn:,} withdrawn documents were left out"
    if found.empty:
        yield f"{number_of(found.empty, 'record')} without a text left out"
    yield f"which copy stays: {found.rule}"
    if opts.out:
        yield f"{number_of(sum(found.stay), 'document is', 'documents are')} in {opts.out}"


WORK = Work(
    "dedup --out merged corpus stricter",
    declare,
    deduplicate,
    {
        "rule": ("string", "which of several copies stays"),
        "sources": ("list of object", "name, documents and stay (documents that stay) of each source, as given"),
        "pairs": ("list of object", "documents of source gone that give way to kept, by kind: exact, near, replaced"),
        "withdrawn": ("integer", "withdrawn documents, which were left out"),
        "empty": ("integer", "records without a text, which were left out"),
    },
)
