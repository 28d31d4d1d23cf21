"""`gristmill dataset page CORPUS_DIR URL|doc_id`: what became of one page, or with --raw its fetched bytes."""

from __future__ import annotations

import argparse
import sys

import orjson

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work, WrongCall
from crawler.storage.files.place import Place


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, one page, --raw."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("page", metavar="URL|doc_id")
    parser.add_argument("--raw", action="store_true", help="the archived bytes of the page instead of its record")


def show_page(opts: argparse.Namespace, load: Load) -> Answer | None:  # noqa: ARG001  # needs no settings
    """The record, with what became of it; for a person that is on standard error. Raises: WrongCall, StorageError."""
    from crawler.dataset.page import archived_bytes, find_page, refused_by
    from crawler.dataset.records.fields import SAID, state_of
    from crawler.dataset.registry.behind import refusals_of
    from crawler.observe.plain import write_bytes

    if opts.raw and opts.json:
        raise WrongCall("--raw prints the bytes as they are: leave out --json")
    place = Place(opts.corpus)
    refused = refusals_of([place])
    found = find_page(place, opts.page, refused)
    if opts.raw:
        write_bytes(archived_bytes(place, found.record))
        return None
    state = SAID.get(state := state_of(found.record), state)
    verdict = state if found.kept else f"{state} ({found.record['stage']}/{found.record['reason']})"
    older = f"; {number_of(found.older, 'older record')} of it" if found.older else ""
    sys.stderr.write(f"{verdict}: {found.file}, line {found.line:,}{older}\n")
    withdrawn = refused_by(found.record, refused)
    if withdrawn:
        sys.stderr.write(f"{withdrawn}\n")
    facts = {"kept": found.kept, "file": found.file, "line": found.line, "older": found.older, "record": found.record}
    facts |= {"withdrawn": withdrawn or None}
    return Answer(facts, [orjson.dumps(found.record, option=orjson.OPT_INDENT_2).decode()])


WORK = Work(
    "page corpus https://example.org/1",
    declare,
    show_page,
    {
        "kept": ("boolean", "false: it was rejected, is held, or waits, for the reason in its record"),
        "file": ("string", "file of the record"),
        "line": ("integer", "line of the file, from 1"),
        "older": ("integer", "older records of the page"),
        "record": ("object", "the record (docs/record.md)"),
        "withdrawn": ("string or null", "which entry of withdrawals.jsonl refuses the page: number, day, reason"),
    },
)
