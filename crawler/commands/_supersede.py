"""`scrapy dataset supersede CORPUS_DIR`: the next version, without what later visits replaced or found gone."""

from __future__ import annotations

import argparse
import sys
import time

from crawler.commands._operation import Load, Operation
from crawler.dataset.rewrite import corpus_place
from crawler.dataset.supersede import supersede


def make_version(paths: list[str], opts: argparse.Namespace, load: Load) -> list[str]:  # noqa: ARG001  # no options
    """What a recrawl does by itself at its end on a local disk. Raises: ConfigError, StorageError."""
    config = load(CORPUS_DIR=paths[0])
    with corpus_place(paths[0], config.storage.spool_dir) as place:
        done = supersede(place, now=time.time())
    if done.rewritten is None and not done.withdrawn:
        sys.stdout.write("every record is the latest of its page\n")
        return []
    version = f", version {done.rewritten.version}" if done.rewritten else ""
    withdrawn = f"; {done.withdrawn:,} pages opted out and were deleted" if done.withdrawn else ""
    sys.stdout.write(f"{done.records:,} record(s) left the corpus{version}{withdrawn}\n")
    return []


OPERATION = Operation("supersede CORPUS_DIR", make_version)
