"""`scrapy dataset contaminated CORPUS_DIR`: kept documents that repeat an evaluation set, listed or taken out."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from crawler.commands.operation import Load, Operation
from crawler.commands.rewrite_report import declare_rewrite, refuse_without_rewrite, show, tell_outdated
from crawler.dataset.rewrite import corpus_place

if TYPE_CHECKING:  # imported where they run: Scrapy loads every command before each crawl, and these cost it 0.3 s
    from crawler.config import Config
    from crawler.dataset import contaminated as contamination
    from crawler.storage.files.place import Place

HITS_SHOWN = 20


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the evaluation sets, what is done with the findings."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--eval", action="append", default=[], metavar="PATH", help="instead of EVAL_SETS; repeatable")
    declare_rewrite(parser)


def find_contaminated(opts: argparse.Namespace, load: Load) -> list[str]:
    """List, or with --remove take out. Raises: UsageError, ConfigError, InputError, StorageError."""
    refuse_without_rewrite(opts)
    config = load(**({"EVAL_SETS": opts.eval} if opts.eval else {}))
    if not config.decontamination.eval_sets:
        return ["no evaluation sets: give --eval PATH, once for each, or set EVAL_SETS"]
    with corpus_place(opts.corpus) as place:
        return _report(place, opts, config)


def _report(place: Place, opts: argparse.Namespace, config: Config) -> list[str]:
    from crawler.dataset import contaminated as contamination

    done = None
    if opts.remove:
        found, done = contamination.remove(place, config, now=time.time(), keep_old=not opts.drop_old)
    else:
        found = contamination.find(place, config)
    show(found.as_dict(), done, _contamination_lines(found), as_json=opts.json)
    if done is not None:
        tell_outdated(place)
    return []


def _contamination_lines(found: contamination.Contamination) -> Iterator[str]:
    from crawler.dataset.contaminated import MAX_LISTED

    yield f"{found.contaminated:,} of {found.documents:,} documents repeat an evaluation set"
    yield from (f"  {name}: {count:,}" for name, count in found.sets.most_common())
    for hit in found.listed[:HITS_SHOWN]:
        yield f"  {hit.url}\n    {hit.overlap}"
    if found.contaminated > HITS_SHOWN:
        yield f"  … and {found.contaminated - HITS_SHOWN:,} more (--json lists up to {MAX_LISTED:,})"


OPERATION = Operation(
    "find kept documents that repeat an evaluation set; --remove takes them out",
    "contaminated --eval evals.jsonl corpus",
    declare,
    find_contaminated,
)
