"""`scrapy dataset supersede CORPUS_DIR`: the next version, without what later visits replaced or found gone."""

from __future__ import annotations

import argparse
import sys
import time

from crawler.commands.operation import Load, Operation
from crawler.commands.rewrite_report import tell_outdated
from crawler.dataset.rewrite import corpus_place
from crawler.dataset.supersede import supersede


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")


def make_version(opts: argparse.Namespace, load: Load) -> list[str]:
    """What a recrawl does by itself at its end on a local disk. Raises: ConfigError, StorageError."""
    with corpus_place(opts.corpus, load().storage.spool_dir) as place:
        done = supersede(place, now=time.time())
        if done.rewritten is not None:
            tell_outdated(place)
    version = f", version {done.rewritten.version}" if done.rewritten else ""
    if not done.records:
        sys.stdout.write(f"every record is the latest of its page{version}\n")
        return []
    withdrawn = f"; {done.withdrawn:,} pages opted out and were deleted" if done.withdrawn else ""
    sys.stdout.write(f"{done.records:,} record(s) left the corpus{version}{withdrawn}\n")
    return []


OPERATION = Operation(
    "make the next version, without what later visits replaced or found gone", "supersede corpus", declare, make_version
)
