"""`scrapy dataset query CORPUS_DIR SQL`: ask every field of every record but the text."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from typing import Any

import orjson

from crawler.commands.operation import Load, Operation
from crawler.commands.rewrite_report import tell_pending
from crawler.dataset.spreadsheet import harmless


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the question, and how the answer is written."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("sql", metavar="SQL", help="one SELECT on the tables documents, rejected and files")
    parser.add_argument("--format", choices=("csv", "jsonl"), default="csv", help="of the answer (csv)")


def ask(opts: argparse.Namespace, load: Load) -> list[str]:  # noqa: ARG001  # needs no settings
    """Write the answer to standard output. Raises: StorageError."""
    from rich.console import Console

    from crawler.dataset.query import query
    from crawler.storage.files.place import Place

    place = Place(opts.corpus)
    place.manifest()  # says what is wrong where there is none, before anything is made
    with Console(stderr=True).status("reading …") as status:

        def show(path: str) -> None:
            status.update(f"indexing {path}")

        with query(place, opts.sql, progress=show) as (names, rows):
            status.stop()
            _write(names, rows, opts.format)
    tell_pending(place)
    return []


def _write(names: list[str], rows: Iterator[tuple[Any, ...]], form: str) -> None:
    if form == "jsonl":
        for row in rows:
            sys.stdout.write(orjson.dumps(dict(zip(names, row, strict=True)), default=str).decode() + "\n")
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(harmless, names))
    writer.writerows(map(harmless, row) for row in rows)


OPERATION = Operation(
    "ask every field of every record but the text, in SQL",
    'query corpus "SELECT domain, count(*) FROM documents GROUP BY domain"',
    declare,
    ask,
)
