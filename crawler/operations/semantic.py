"""`gristmill dataset semantic CORPUS_DIR`: heavily edited copies, listed, annotated or taken out."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from crawler.dataset.rewrite import corpus_place
from crawler.number import are, number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.numbers import share, whole
from crawler.operations.rewrite_report import REWRITTEN, declare_rewrite, refuse_without_rewrite, report

if TYPE_CHECKING:
    from crawler.dataset.semantic import Semantic
    from crawler.storage.files.place import Place

SHOWN = 20


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, what a copy is, and what is done with the findings."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--cosine", type=share, default=0.8, metavar="C", help="of a pair of copies, at least (0.8)")
    parser.add_argument("--most", type=whole(1), default=100, metavar="N", help="copies that may go for one text (100)")
    parser.add_argument("--annotate", metavar="NAME", help="note beside each copy which text it is near to, and how")
    declare_rewrite(parser)


def find_copies(opts: argparse.Namespace, load: Load) -> Answer:
    """List; with --annotate note, with --remove take out. Raises: WrongCall, InputError, StorageError."""
    refuse_without_rewrite(opts)
    with corpus_place(opts.corpus, load().storage.spool_dir) as place:
        return _report(place, opts)


def _report(place: Place, opts: argparse.Namespace) -> Answer:
    from crawler.dataset import semantic
    from crawler.dataset.annotate import check_name

    if opts.annotate is not None:
        check_name(opts.annotate)
    found, done = semantic.find(place, cosine=opts.cosine, most=opts.most), None
    lines = list(_lines(found))
    noted = None
    if opts.annotate is not None and found.gone:
        noted, _ = semantic.annotate(place, opts.annotate, found, now=time.time())
        lines.append(f"{opts.annotate}: {number_of(noted.annotated, 'row')}; version {noted.version} of the corpus")
    if opts.remove and found.gone:
        done = semantic.remove(place, found, now=time.time(), keep_old=not opts.drop_old)
    return report(place, found.as_dict() | {"annotated": noted.annotated if noted else 0}, done, lines)


def _lines(found: Semantic) -> Iterator[str]:
    pairs = number_of(len(found.pairs), "pair")
    yield (
        f"{found.copies:,} of {number_of(found.documents, 'document')} "
        f"{are(found.copies)} edited copies of a better one ({pairs})"
    )
    for pair in found.pairs[:SHOWN]:
        yield f"  {pair.cosine:.3f} {pair.copy}\n    of {pair.kept}" + (
            "" if pair.goes else " (goes for another, or stays)"
        )
    if len(found.pairs) > SHOWN:
        yield f"  … and {len(found.pairs) - SHOWN:,} more (--json lists up to 10,000)"
    if found.spared:
        yield f"{found.spared:,} more copies stay: as many as --most {found.most} go for the text that they are near to"


WORK = Work(
    "semantic corpus",
    declare,
    find_copies,
    {
        "rule": ("string", "which of two copies is the better one"),
        "cosine": ("number", "from which on two texts count as copies"),
        "most": ("integer", "how many copies go for one text at most"),
        "documents": ("integer", "kept documents that were compared"),
        "copies": ("integer", "copies that would go, or have gone"),
        "spared": ("integer", "copies that stay because of `most`"),
        "found": ("integer", "pairs of copies"),
        "pairs": ("list of object", "kept, copy (canonical URLs), cosine, goes (whether the copy is one of `copies`)"),
        "annotated": ("integer", "rows that --annotate has written"),
        **REWRITTEN,
    },
)
