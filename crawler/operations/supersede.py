"""`gristmill dataset supersede CORPUS_DIR`: the next version, without what later visits replaced or found gone."""

from __future__ import annotations

import argparse
import time

from crawler.dataset.rewrite import corpus_place
from crawler.dataset.supersede import supersede
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.images_left import IMAGES, leave_images, with_images
from crawler.operations.rewrite_report import tell_outdated


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")


def make_version(opts: argparse.Namespace, load: Load) -> Answer:
    """What a recrawl does by itself at its end on a local disk. Raises: ConfigError, StorageError."""
    config, now = load(), time.time()
    with corpus_place(opts.corpus, config.storage.spool_dir) as place:
        done = supersede(place, now=now)
        if done.rewritten is not None:
            tell_outdated(place)
        images = leave_images(place, config, now=now)
    number = done.rewritten.version if done.rewritten else None
    version = f", version {number}" if number else ""
    gone = number_of(done.withdrawn, "page opted out and was", "pages opted out and were")
    withdrawn = f"; {gone} deleted" if done.withdrawn else ""
    left = f"{number_of(done.records, 'record')} left the corpus{version}{withdrawn}"
    facts = {"records": done.records, "withdrawn": done.withdrawn, "corpus_version": number}
    return with_images(
        Answer(facts, [left if done.records else f"every record is the latest of its page{version}"]), images
    )


WORK = Work(
    "supersede corpus",
    declare,
    make_version,
    {
        "records": ("integer", "records that left the corpus"),
        "withdrawn": ("integer", "those of pages that opted out since, which were deleted"),
        "corpus_version": ("integer or null", "version that was made; null: none was needed"),
        **IMAGES,
    },
)
