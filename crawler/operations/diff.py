"""`gristmill dataset diff A B`: what a second run, another configuration or a rewrite made of the same URLs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.dataset.diff import Change, Difference


def declare(parser: argparse.ArgumentParser) -> None:
    """Two sides, --show."""
    parser.add_argument("--show", type=whole(0), default=5, metavar="N", help="examples of each kind (5)")
    parser.add_argument("before", metavar="A", help="a CORPUS_DIR, or CORPUS_DIR@VERSION: its number, tag or hash")
    parser.add_argument("after", metavar="B", help="the other one")


def show_difference(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # needs no settings
    """Differences are an answer, no failure. Raises: StorageError."""
    from crawler.dataset.diff import compare, side_of

    found = compare(side_of(opts.before), side_of(opts.after), samples=opts.show)
    return Answer(found.as_json(), _lines(found, opts.show))


def _lines(found: Difference, most: int) -> list[str]:
    lines = [f"{number_of(found.same, 'document is', 'documents are')} the same"]
    for name, title in (
        ("gained", "documents gained"),
        ("lost", "documents lost"),
        ("reasons", "pages that neither keeps, with another verdict"),
    ):
        changes: list[Change] = getattr(found, name)
        lines.append(f"{len(changes):,} {title}")
        lines += [f"    {count:,} {kind}" for kind, count in found.kinds(name).most_common()]
        lines += [f"  {change.url}" for change in changes[:most]]
    lines.append(f"{number_of(len(found.texts), 'document')} with another text")
    for url, sample in found.samples.items():
        lines += [f"  {url}", *(f"    {line}" for line in sample)]
    return lines


WORK = Work(
    "diff corpus stricter",
    declare,
    show_difference,
    {
        "same": ("integer", "kept documents with equal text"),
        "gained": ("list of object", "url, before and after of documents that only B has"),
        "lost": ("list of object", "the same of documents that only A has"),
        "texts": ("list of object", "the same of documents with another text"),
        "reasons": ("list of object", "the same of pages that both reject for other reasons, or that one has not seen"),
        "samples": ("object", "lines of a unified diff by URL, of the first texts"),
    },
)
