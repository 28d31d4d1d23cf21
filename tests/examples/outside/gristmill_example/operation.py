"""A dataset operation: `dataset words CORPUS_DIR` counts the words of the kept documents by language."""

from __future__ import annotations

import argparse
from collections import Counter

from crawler.dataset.rewrite import read_files
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Operation, Work, WrongCall
from crawler.storage.files.place import SHARDS, Place
from crawler.storage.files.shards import read_records


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, and the languages that are wanted."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--language", default="", metavar="L", help="this language only")


def count(opts: argparse.Namespace, load: Load) -> Answer:  # needs no settings
    """Raises: WrongCall, StorageError."""
    if len(opts.language) not in (0, 2):
        raise WrongCall("--language: expected a code of two letters")
    place, found = Place(opts.corpus), Counter[str]()
    for entry in read_files(place, (SHARDS,)):
        for record in read_records(place, entry["path"]):
            if opts.language in ("", record["language"]):
                found[record["language"]] += len(record["text"].split())
    lines = [f"{language}: {words:,} words" for language, words in found.most_common()]
    return Answer({"words": found.total(), "languages": found}, lines)


OPERATION = Operation(
    "words",
    "count the words of the kept documents by language",
    Work(
        "words corpus",
        declare,
        count,
        {"words": ("integer", "words of the kept documents"), "languages": ("object", "the same by language")},
    ),
    group="Look",
)
