"""`gristmill dataset substrings CORPUS_DIR`: passages that stand more than once, listed or cut out."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from crawler.dataset.rewrite import corpus_place
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.numbers import whole
from crawler.operations.rewrite_report import REWRITTEN, declare_rewrite, refuse_without_rewrite, report

if TYPE_CHECKING:
    from crawler.dataset.substrings import Findings, Found
    from crawler.storage.files.place import Place

_LEAST_MEMORY = 2**20
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, what a passage is, what the search may take, what is done with the findings."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--min-tokens", type=whole(2), default=50, metavar="N", help="words of a passage (50)")
    parser.add_argument("--memory", type=memory, default="4G", metavar="SIZE", help="what one block may take (4G)")
    declare_rewrite(parser)


def size(text: str) -> int:
    """Bytes of "500M" or "4G" (powers of 1,024). Raises: ArgumentTypeError."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise argparse.ArgumentTypeError(f"expected a size such as 500M or 4G, not {text!r}")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


def memory(text: str) -> int:
    """`size`, of at least a mebibyte. Raises: ArgumentTypeError."""
    if (found := size(text)) < _LEAST_MEMORY:
        raise argparse.ArgumentTypeError(f"expected at least 1M, not {text!r}")
    return found


def find_repetitions(opts: argparse.Namespace, load: Load) -> Answer:
    """List, or with --remove cut out. Raises: UsageError, ConfigError, StorageError."""
    refuse_without_rewrite(opts)
    least = load().extraction.min_words
    with corpus_place(opts.corpus) as place:
        return _report(place, opts, least)


def _report(place: Place, opts: argparse.Namespace, least: int) -> Answer:
    from crawler.dataset import substrings

    found = substrings.find(place, min_tokens=opts.min_tokens, memory=opts.memory)
    done = None
    if opts.remove:
        done = substrings.remove(place, found, min_words=least, now=time.time(), keep_old=not opts.drop_old)
    return report(place, found.as_dict(), done, substring_lines(found))


def substring_lines(found: Findings) -> Iterator[str]:
    """The report for people, line by line."""
    words = max(1, found.words)
    yield (
        f"{number_of(found.documents, 'document')}, {number_of(found.words, 'word')}; "
        f"passages of {found.min_tokens} words or more:"
    )
    yield f"  {number_of(found.passages, 'passage occurs', 'passages occur')} more than once"
    yield f"  {number_of(found.repeated, 'word')} ({found.repeated / words:.1%}) are part of one"
    yield (
        f"  {number_of(found.surplus, 'word')} ({found.surplus / words:.1%}) in "
        f"{number_of(found.touched, 'document')} repeat earlier text"
    )
    if found.blocks > 1:
        yield f"  searched in {found.blocks} blocks: what is repeated only across two is not found; raise --memory"
    for title, passages in (
        ("Most words to save", found.widest),
        ("Longest", found.longest),
        ("Most frequent", found.most_frequent),
    ):
        if passages:
            yield f"\n{title}"
            yield from (line for passage in passages for line in _passage_lines(passage))


def _passage_lines(found: Found) -> Iterator[str]:
    domains = ", ".join(f"{name} {count:,}" for name, count in found.domains.items())
    yield (
        f"  {found.times:,} × {number_of(found.words, 'word')} in {number_of(found.documents, 'document')} ({domains})"
    )
    yield f"    first in {found.first_url}"
    yield f"    {found.example[:200]} …"


WORK = Work(
    "substrings --min-tokens 100 corpus",
    declare,
    find_repetitions,
    {
        "min_tokens": ("integer", "words of a passage"),
        "documents": ("integer", "kept documents that were read"),
        "words": ("integer", "their words"),
        "repeated": ("integer", "words that are part of a repeated passage"),
        "surplus": ("integer", "words that repeat earlier text"),
        "passages": ("integer", "passages that occur more than once"),
        "touched": ("integer", "documents with surplus words"),
        "blocks": ("integer", "blocks of the search: a passage repeated only across two is not found"),
        "widest": ("list of object", "passages with most words to save: times, words, documents, domains and others"),
        "longest": ("list of object", "the longest passages"),
        "most_frequent": ("list of object", "the most frequent passages"),
        **REWRITTEN,
    },
)
