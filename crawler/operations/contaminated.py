"""`gristmill dataset contaminated CORPUS_DIR`: kept documents that repeat an evaluation set, listed or taken out."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from crawler.dataset.rewrite import corpus_place
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.rewrite_report import REWRITTEN, declare_rewrite, refuse_without_rewrite, report

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.dataset import contaminated as contamination
    from crawler.storage.files.place import Place

HITS_SHOWN = 20


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the evaluation sets, what is done with the findings."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--eval", action="append", default=[], metavar="PATH", help="instead of EVAL_SETS; repeatable")
    declare_rewrite(parser)


def find_contaminated(opts: argparse.Namespace, load: Load) -> Answer:
    """List, or with --remove take out. Raises: UsageError, ConfigError, InputError, StorageError."""
    refuse_without_rewrite(opts)
    config = load(**({"EVAL_SETS": opts.eval} if opts.eval else {}))
    if not config.decontamination.eval_sets:
        return Answer(problems=["no evaluation sets: give --eval PATH, once for each, or set EVAL_SETS"])
    with corpus_place(opts.corpus) as place:
        return _report(place, opts, config)


def _report(place: Place, opts: argparse.Namespace, config: Config) -> Answer:
    from crawler.dataset import contaminated as contamination

    done = None
    if opts.remove:
        found, done = contamination.remove(place, config, now=time.time(), keep_old=not opts.drop_old)
    else:
        found = contamination.find(place, config)
    return report(place, found.as_dict(), done, _contamination_lines(found))


def _contamination_lines(found: contamination.Contamination) -> Iterator[str]:
    from crawler.dataset.contaminated import MAX_LISTED

    yield f"{found.contaminated:,} of {number_of(found.documents, 'document')} repeat an evaluation set"
    yield from (f"  {name}: {count:,}" for name, count in found.sets.most_common())
    for hit in found.listed[:HITS_SHOWN]:
        yield f"  {hit.url}\n    {hit.overlap}"
    if found.contaminated > HITS_SHOWN:
        yield f"  … and {found.contaminated - HITS_SHOWN:,} more (--json lists up to {MAX_LISTED:,})"


WORK = Work(
    "contaminated --eval evals.jsonl corpus",
    declare,
    find_contaminated,
    {
        "documents": ("integer", "kept documents that were looked at"),
        "contaminated": ("integer", "those that repeat an evaluation set"),
        "sets": ("object", "contaminated documents by set"),
        "domains": ("object", "contaminated documents by domain"),
        "hits": ("list of object", "url, set, n_grams, example, words and characters (of the overlap) of the first"),
        **REWRITTEN,
    },
)
