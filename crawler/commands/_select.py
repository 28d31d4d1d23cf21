"""`scrapy dataset select CORPUS_DIR --out DIR`: a subset with a manifest of its own."""

from __future__ import annotations

import argparse
import sys
import time

from scrapy.exceptions import UsageError

from crawler.commands._operation import Load, Operation

SYNTAX = (
    "select [--where FIELD=VALUE …] [--language L] [--licence TAG] [--domain D] [--min-quality Q] [--all-versions] "
    "--out DIR CORPUS_DIR"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `select` that `exclude` does not have, too."""
    group = parser.add_argument_group("select")
    group.add_argument(
        "--where", action="append", default=[], metavar="FIELD=VALUE", help="also != >= <= > <; repeatable"
    )
    group.add_argument("--language", metavar="L", default="", help="ISO 639-1 codes, separated by commas")
    group.add_argument("--min-quality", type=float, metavar="Q", help="least quality_score")
    group.add_argument("--all-versions", action="store_true", help="older records of a page, too, not only its latest")
    group.add_argument("--out", metavar="DIR", help="a new folder for the subset")


def select_subset(paths: list[str], opts: argparse.Namespace, load: Load) -> list[str]:
    """Write the subset and say what is in it. Raises: UsageError, ConfigError, StorageError."""
    from crawler.dataset.select import Selection, condition_of, select
    from crawler.storage.files.place import Place

    if not opts.out:
        raise UsageError(f"expected: scrapy dataset {SYNTAX}")
    config = load(CORPUS_DIR=paths[0])
    place = Place(paths[0], config.storage.spool_dir)
    try:
        conditions = tuple(condition_of(text) for text in opts.where)
        selection = Selection(_set(opts.language), _set(opts.licence), _set(opts.domain), opts.min_quality, conditions)
        target = Place(opts.out, config.storage.spool_dir)
        run = select(
            place,
            target,
            selection,
            max_bytes=config.storage.shard_max_bytes,
            now=time.time(),
            all_versions=opts.all_versions,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    chosen = run["selected_from"]
    sys.stdout.write(f"{chosen['selected']:,} of {chosen['read']:,} documents are in {opts.out}\n")
    return []


def _set(text: str) -> frozenset[str]:
    return frozenset(item.strip() for item in text.split(",") if item.strip())


OPERATION = Operation(SYNTAX, select_subset)
