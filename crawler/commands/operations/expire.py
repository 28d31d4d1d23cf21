"""`scrapy dataset expire CORPUS_DIR`: archives that are older than ARCHIVE_TTL_DAYS go, the text stays."""

from __future__ import annotations

import argparse
import getpass
import sys
import time

from scrapy.exceptions import UsageError

from crawler.commands.operation import Load, Operation
from crawler.dataset.expire import LOG, expire, too_old
from crawler.storage.files.place import Place
from crawler.storage.types import Entry


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the age, and what the log says of who asked."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--older-than", type=float, metavar="DAYS", help="instead of ARCHIVE_TTL_DAYS")
    parser.add_argument("--dry-run", action="store_true", help="say what would go, change nothing")
    parser.add_argument("--by", metavar="NAME", help="who asked, for the log; default: the login name")
    parser.add_argument("--reason", metavar="TEXT", default="", help="why, for the log")


def expire_archives(opts: argparse.Namespace, load: Load) -> list[str]:
    """Remove archives whose newest record is too old, and say which. Raises: UsageError, ConfigError, StorageError."""
    if opts.dry_run and (opts.by or opts.reason):
        raise UsageError("--by and --reason are for the log, and --dry-run writes none")
    config = load(CORPUS_DIR=opts.corpus)
    days = config.storage.archive_ttl_days if opts.older_than is None else opts.older_than
    if days <= 0:
        return ["no age is given; set ARCHIVE_TTL_DAYS or use --older-than DAYS with a number above 0"]
    place = Place(opts.corpus, config.storage.spool_dir)
    now = time.time()
    place.manifest()
    if opts.dry_run:
        _say("would remove", too_old(place, days=days, now=now), days)
        return []
    found = expire(place, days=days, now=now, by=opts.by or _login(), reason=opts.reason)
    _say("removed", found, days)
    if found:
        sys.stdout.write(f"written down in {place.path_of(LOG)}\n")
    return []


def _say(what: str, found: list[Entry], days: float) -> None:
    for entry in found:
        size, pages = entry["bytes"] / 2**20, entry["documents"]
        sys.stdout.write(f"{entry['path']}  {size:,.1f} MiB  {pages:,} pages  newest of {entry['last_crawled_at']}\n")
    if not found:
        sys.stdout.write(f"nothing is older than {days:g} days\n")
        return
    total = sum(entry["bytes"] for entry in found) / 2**20
    sys.stdout.write(f"{what} {len(found):,} archive(s), {total:,.1f} MiB, older than {days:g} days\n")


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"


OPERATION = Operation(
    "remove archives older than ARCHIVE_TTL_DAYS; the text stays, a log says what went",
    "expire --older-than 180 corpus",
    declare,
    expire_archives,
)
