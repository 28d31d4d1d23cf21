"""`gristmill dataset rejudge CORPUS_DIR -s NAME=VALUE`: the next version, judged again from the corpus' own archive."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from crawler.dataset.rewrite import corpus_place
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.rewrite_report import tell_outdated

if TYPE_CHECKING:
    from crawler.dataset.rejudge import Rejudged


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, and what becomes of the version before."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--drop-old", action="store_true", help="do not keep the replaced files of earlier versions")


def judge_again(opts: argparse.Namespace, load: Load) -> Answer:
    """Judge what the settings can change. Raises: ConfigError, StorageError, FrontierError, DedupError."""
    from crawler.frontier import rejudged
    from crawler.operations.forgetting import load_with_frontier
    from crawler.stages import chain

    config = load_with_frontier(load, opts.corpus)
    if problems := chain.problems(config):
        return Answer(problems=problems)
    with corpus_place(opts.corpus, config.storage.spool_dir) as place:
        quiet = opts.json or not sys.stderr.isatty()
        done = rejudged.judge_again(place, config, now=time.time(), keep_old=not opts.drop_old, quiet=quiet)
        if done.version is not None:
            tell_outdated(place)
    return Answer({name: getattr(done, name) for name in COUNTS} | {"corpus_version": done.version}, _lines(done))


def _lines(done: Rejudged) -> Iterator[str]:
    if not done.judged:
        yield f"nothing was judged: these settings change no verdict on {number_of(done.same, 'archived page')}"
    else:
        yield f"{number_of(done.judged, 'page')} judged again, {done.same:,} that these settings cannot change"
        yield f"{done.gained:,} kept now, {done.lost:,} not any more, {done.held:,} held for a person"
    if done.expired:
        yield f"{number_of(done.expired, 'page')} kept the verdict: their archive has expired"
    if done.unarchived:
        yield f"{number_of(done.unarchived, 'record')} stayed: nothing of their pages was archived"
    if done.elsewhere:
        yield f"{number_of(done.elsewhere, 'duplicate')} stayed rejected: the text they repeat is not in this corpus"
    if done.unreached:
        yield f"{number_of(done.unreached, 'page')} kept the verdict: a replay of the archive does not reach them"
    if done.version is not None:
        yield f"version {done.version}; `gristmill dataset log` lists the one before"


COUNTS = {
    "judged": ("integer", "archived pages that were judged again"),
    "same": ("integer", "archived pages that these settings cannot change"),
    "gained": ("integer", "pages that are kept now and were not"),
    "lost": ("integer", "pages that were kept and are not any more"),
    "held": ("integer", "pages that wait for a person now and did not"),
    "changed": ("integer", "records that differ from the version before, if only in config_digest"),
    "expired": ("integer", "pages that kept their verdict because their archive has expired"),
    "unarchived": ("integer", "records that stayed because nothing of their pages was archived"),
    "elsewhere": ("integer", "duplicates of a text outside this corpus, which stayed rejected"),
    "unreached": ("integer", "archived pages of which a replay has no record, which kept their verdict"),
}
WORK = Work(
    "rejudge -s QUALITY_MIN_SCORE=0.4 corpus",
    declare,
    judge_again,
    {**COUNTS, "corpus_version": ("integer or null", "version that was made; null: no page had to be judged again")},
)
