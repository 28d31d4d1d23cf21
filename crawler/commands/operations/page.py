"""`scrapy dataset page CORPUS_DIR URL|doc_id`: what became of one page, and with --raw the bytes that were fetched."""

from __future__ import annotations

import argparse
import sys

import orjson

from crawler.commands.operation import Load, Operation
from crawler.storage.files.place import Place


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, one page, --raw."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("page", metavar="URL|doc_id")
    parser.add_argument("--raw", action="store_true", help="the archived bytes of the page instead of its record")


def show_page(opts: argparse.Namespace, load: Load) -> list[str]:  # noqa: ARG001  # needs no settings
    """The record as JSON on standard output; where it stands, on standard error. Raises: StorageError."""
    from crawler.dataset.page import archived_bytes, find_page

    place = Place(opts.corpus)
    found = find_page(place, opts.page)
    if opts.raw:
        sys.stdout.buffer.write(archived_bytes(place, found.record))
        sys.stdout.buffer.flush()
        return []
    verdict = "kept" if found.kept else f"rejected ({found.record['stage']}/{found.record['reason']})"
    older = f"; {found.older:,} older record(s) of it" if found.older else ""
    sys.stderr.write(f"{verdict}: {found.file}, line {found.line:,}{older}\n")
    sys.stdout.write(orjson.dumps(found.record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
    return []


OPERATION = Operation(
    "show the record of one page, or the bytes that were fetched",
    "page corpus https://example.org/1",
    declare,
    show_page,
)
