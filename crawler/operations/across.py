"""`gristmill dataset across CORPUS CORPUS …`: duplicates between finished corpora, and what remains without them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.operations.answer import Answer
from crawler.operations.common import reading, refuse_url
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.export import NAMES

if TYPE_CHECKING:
    from crawler.dataset.across.across import Found


def declare(parser: argparse.ArgumentParser) -> None:
    """The corpora, the rule, and what is written."""
    parser.add_argument("corpora", nargs="+", metavar="CORPUS", help="CORPUS_DIR, DIR@N, or an export's files")
    parser.add_argument("--keep", default="tier,quality,date,order", metavar="RULE",
                        help="which copy stays, the first that differs decides (%(default)s)")  # fmt: skip
    parser.add_argument("--list", metavar="FILE", help="write every copy that goes as JSON lines")
    parser.add_argument("--out", metavar="DIR", help="write what remains to a new folder on this machine")
    parser.add_argument("--to", choices=NAMES, default="jsonl.zst", help="%(choices)s (jsonl.zst)", metavar="FORMAT")


def compare(opts: argparse.Namespace, load: Load) -> Answer:
    """Compare, write what is asked for. Raises: WrongCall, ConfigError, StorageError."""
    from crawler.dataset.across.across import Across

    refuse_url(opts.out)
    keep, config = _rule(opts.keep), load()
    with reading() as show_status:

        def show(count: int) -> None:
            show_status(f"{count:,} documents")

        with Across(opts.corpora, config, keep=keep, progress=show) as across:
            if opts.list:
                across.write_list(Path(opts.list))
            if opts.out:
                across.write(Path(opts.out), opts.to, max_bytes=config.storage.shard_max_bytes)
            found = across.found
    return Answer(found.as_dict(), _lines(found, opts))


def _rule(text: str) -> list[str]:
    from crawler.dataset.across.prints import CRITERIA

    names = text.split(",")
    if strange := [name for name in names if name not in CRITERIA]:
        raise WrongCall(f"--keep: there is no criterion {strange[0]!r}; known: {', '.join(CRITERIA)}")
    if len(set(names)) < len(names):
        raise WrongCall("--keep: names a criterion twice")
    return names


def _lines(found: Found, opts: argparse.Namespace) -> Iterator[str]:
    for pair in found.pairs:
        where = "each other" if pair.gone == pair.kept else pair.kept
        yield f"{pair.documents:,} {pair.kind} duplicates: {pair.gone} repeats {where}"
    for name, documents, stay in zip(found.names, found.documents, found.stay, strict=True):
        yield f"{name}: {stay:,} of {documents:,} documents stay"
    if found.withdrawn:
        yield f"{found.withdrawn:,} withdrawn documents were left out"
    yield f"which copy stays: {found.rule}"
    if opts.out:
        yield f"{sum(found.stay):,} documents are in {opts.out}"


WORK = Work(
    "across --out merged corpus stricter",
    declare,
    compare,
    {
        "rule": ("string", "which of several copies stays"),
        "corpora": ("list of object", "name, documents and stay (documents that stay) of each corpus, as given"),
        "pairs": ("list of object", "documents of corpus gone that repeat corpus kept, by kind of duplicate"),
        "withdrawn": ("integer", "withdrawn documents, which were left out"),
    },
)
