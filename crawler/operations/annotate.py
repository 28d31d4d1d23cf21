"""`scrapy dataset annotate CORPUS_DIR --name NAME --file ROWS`: labels, scores or embeddings beside the documents."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work, WrongCall

if TYPE_CHECKING:
    from crawler.dataset.annotate import Refused

REFUSED = {
    "unknown": "of pages that are not in the corpus",
    "changed": "of another text than the document has now",
    "repeated": "of documents that have a row already in this file; the first one counts",
}


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the rows, and what is known of the job that made them."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--name", required=True, metavar="NAME", help="of the annotation: a-z, then a-z, 0-9 and _")
    parser.add_argument(
        "--file", required=True, metavar="ROWS", help=".jsonl or .parquet: canonical_url, doc_id and columns of values"
    )
    parser.add_argument("--kind", default="score", metavar="KIND", help="label, score, embedding, judgement … (score)")
    parser.add_argument(
        "--meaning", action="append", default=[], metavar="COLUMN=TEXT", help="what a column says; repeatable"
    )
    parser.add_argument("--code", default="", metavar="TEXT", help="program and version, or who labelled")
    parser.add_argument("--job", metavar="FILE", help="JSON object: model, parameters, cost, code, started, ended")


def annotate(opts: argparse.Namespace, load: Load) -> Answer:
    """Say what was written; rows that were refused are the problems. Raises: WrongCall, InputError, StorageError."""
    from pathlib import Path

    from crawler.dataset.annotate import Annotations
    from crawler.dataset.annotations.job import job_of
    from crawler.dataset.annotations.rows_file import RowsFile
    from crawler.dataset.rewrite import corpus_place

    file, now = RowsFile(Path(opts.file)), time.time()
    said: dict[str, Any] = {"kind": opts.kind} | ({"code": opts.code} if opts.code else {})
    job = job_of(file.columns(), _meanings(opts.meaning), Path(opts.job) if opts.job else None, said, now=now)
    with corpus_place(opts.corpus, load().storage.spool_dir) as place:
        done, refused = Annotations(place).write(opts.name, job, file.rows(), now=now)
    facts = {
        "name": opts.name,
        "rows": done.annotated,
        **{what: getattr(refused, what) for what in REFUSED},
        "corpus_version": done.version,
    }
    version = f"; version {done.version} of the corpus" if done.annotated else "; nothing was changed"
    return Answer(facts, [f"{opts.name}: {number_of(done.annotated, 'row')}{version}"], list(_refused(refused)))


def _meanings(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    if wrong := [name for name, sign, _ in pairs if not sign]:
        raise WrongCall(f"--meaning {wrong[0]!r}: expected COLUMN=TEXT")
    return {name.strip(): text.strip() for name, _, text in pairs}


def _refused(refused: Refused) -> Iterator[str]:
    for what, meaning in REFUSED.items():
        if count := getattr(refused, what):
            named = refused.names[what]
            more = f" and {count - len(named):,} more" if count > len(named) else ""
            yield f"{number_of(count, 'row')} {meaning}: {', '.join(named)}{more}"


WORK = Work(
    "annotate corpus --name topic --file topics.jsonl --kind label",
    declare,
    annotate,
    {
        "name": ("string", "the annotation"),
        "rows": ("integer", "rows that were written, each in place of an earlier one of its document"),
        "unknown": ("integer", "rows of pages that are not in the corpus"),
        "changed": ("integer", "rows of another text than the document has now"),
        "repeated": ("integer", "rows of documents with a row before it in the same file"),
        "corpus_version": ("integer", "version of the corpus now"),
    },
)
