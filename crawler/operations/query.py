"""`gristmill dataset query CORPUS_DIR SQL`: ask every field of every record but the text."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import orjson

from crawler.dataset.spreadsheet import harmless
from crawler.operations.answer import Answer
from crawler.operations.common import reading
from crawler.operations.declared import Load, Work
from crawler.operations.rewrite_report import tell_pending, tell_unsealed


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the question, and how the answer is written."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("sql", metavar="SQL", help="one SELECT on the tables documents, rejected and files")
    parser.add_argument("--format", choices=("csv", "jsonl"), default="csv", help="of the answer (csv)")


def ask(opts: argparse.Namespace, load: Load) -> None:  # noqa: ARG001  # needs no settings
    """Tell the answer while the index is open: without --json row by row. Raises: StorageError."""
    from crawler.dataset.query import query
    from crawler.storage.files.place import Place

    place = Place(opts.corpus)
    place.manifest()  # says what is wrong where there is none, before anything is made
    with ExitStack() as stack:
        with reading() as show_status:
            asked = query(place, opts.sql, progress=lambda path: show_status(f"indexing {path}"))
            names, rows = stack.enter_context(asked)
        facts = {"columns": names, "rows": list(rows)} if opts.json else {}
        opts.tell(Answer(facts, lambda: _write(names, rows, opts.format)))
    tell_pending(place)
    tell_unsealed(place)


def _write(names: list[str], rows: Iterator[tuple[Any, ...]], form: str) -> None:
    if form == "jsonl":
        for row in rows:
            sys.stdout.write(orjson.dumps(dict(zip(names, row, strict=True)), default=str).decode() + "\n")
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(harmless, names))
    writer.writerows(map(harmless, row) for row in rows)


WORK = Work(
    'query corpus "SELECT domain, count(*) FROM documents GROUP BY domain"',
    declare,
    ask,
    {
        "columns": ("list of string", "names of the columns"),
        "rows": ("list of list", "values in the order of the columns; what JSON has no type for is a string"),
    },
)
