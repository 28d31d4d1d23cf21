"""`gristmill dataset expire CORPUS_DIR`: archives past ARCHIVE_TTL_DAYS go, and documents past their own lifetimes."""

from __future__ import annotations

import argparse
import getpass
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crawler.dataset.exclude import find
from crawler.dataset.expire import LOG, expire, too_old
from crawler.dataset.lifetimes import Lifetimes, lapsed, remove_lapsed, wish_of
from crawler.dataset.rewrite import corpus_place, tidy
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.exclude import NOTHING, REMOVED, answer_of
from crawler.operations.forgetting import forget_elsewhere, load_with_frontier
from crawler.operations.images_left import IMAGES, leave_images, with_images
from crawler.operations.numbers import days
from crawler.seeds.allowlist import read_allowlist
from crawler.server.errors import FrontierError
from crawler.storage.types import Entry

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.storage.files.place import Place


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the age, and what the log says of who asked."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--older-than", type=days, metavar="DAYS", help="instead of ARCHIVE_TTL_DAYS")
    parser.add_argument("--allowlist", metavar="FILE", help="apply the ttl_days of its entries, too")
    parser.add_argument("--dry-run", action="store_true", help="show what would be removed, change nothing")
    parser.add_argument("--by", metavar="NAME", help="person who requested it, for the log; default: the login name")
    parser.add_argument("--reason", metavar="TEXT", default="", help="why, for the log")


def expire_archives(opts: argparse.Namespace, load: Load) -> Answer:
    """Remove what is too old, archives first. Raises: WrongCall, ConfigError, InputError, StorageError."""
    if opts.dry_run and (opts.by or opts.reason):
        raise WrongCall("--by and --reason are for the log, and --dry-run writes none")
    config = load()
    days = config.storage.archive_ttl_days if opts.older_than is None else opts.older_than
    lifetimes = Lifetimes.of(config.storage.document_ttl_days, read_allowlist(opts.allowlist) if opts.allowlist else ())
    if days <= 0 and not lifetimes:
        return Answer(problems=[
            "no age is given; set ARCHIVE_TTL_DAYS or DOCUMENT_TTL_DAYS, give an --allowlist with ttl_days, "
            "or use --older-than DAYS with a number above 0"
        ])  # fmt: skip
    if lifetimes and not opts.dry_run:
        config = load_with_frontier(load, opts.corpus)
    now = time.time()
    with corpus_place(opts.corpus, config.storage.spool_dir) as place:
        gone = _expire_archives(place, opts, days, now) if days > 0 else []
        answer = _expire_documents(config, place, opts, lifetimes, now) if lifetimes else Answer(NOTHING)
        left = [] if opts.dry_run else leave_images(place, config, now=now, lifetimes=lifetimes)
    answer = with_images(answer, left)
    archives = [{name: entry[name] for name in _OF_ARCHIVE} for entry in gone]  # type: ignore[literal-required]
    return replace(answer, facts={"dry_run": opts.dry_run, "archives": archives, **_removed(answer)})


def _removed(answer: Answer) -> dict[str, Any]:
    return {name: answer.facts[name] for name in (*REMOVED, *IMAGES) if name in answer.facts}


def _expire_archives(place: Place, opts: argparse.Namespace, days: float, now: float) -> list[Entry]:
    if opts.dry_run:
        found = too_old(place, days=days, now=now)
        _say("would remove", found, days)
        return found
    found = expire(place, days=days, now=now, by=opts.by or _login(), reason=opts.reason)
    _say("removed", found, days)
    if found:
        sys.stdout.write(f"logged in {place.path_of(LOG)}\n")
    return found


def _expire_documents(
    config: Config, place: Place, opts: argparse.Namespace, lifetimes: Lifetimes, now: float
) -> Answer:
    from crawler.dedup.index import DedupError
    from crawler.observe.withdrawn import announce

    going = lapsed(place, lifetimes, now=now)
    if not going:
        if not opts.dry_run:
            tidy(place)  # what a call that was cut off did not come to remove
        return Answer(NOTHING, [f"no document is older than its limit ({lifetimes})"])
    wish = wish_of(going, lifetimes, now=now, reason=opts.reason, by=opts.by or _login())
    if opts.dry_run:
        found = find(place, wish)
        facts = {**NOTHING, "kept": found.kept, "held": found.held, "rejected": found.rejected, "raw": found.raw}
        return Answer(facts, announce(found, place.url).splitlines())
    done = remove_lapsed(place, wish, now=now)
    try:
        return answer_of(done, forget_elsewhere(config, place, done.refused, done.urls))
    except (FrontierError, DedupError) as error:
        return answer_of(done, None, f"the duplicate index was not changed ({error}); run the command again")


def _say(what: str, found: list[Entry], days: float) -> None:
    for entry in found:
        size, pages = entry["bytes"] / 2**20, entry["documents"]
        sys.stdout.write(
            f"{entry['path']}  {size:,.1f} MiB  {number_of(pages, 'page')}  newest of {entry['last_crawled_at']}\n"
        )
    if not found:
        sys.stdout.write(f"no archive is older than {days:g} days\n")
        return
    total = sum(entry["bytes"] for entry in found) / 2**20
    sys.stdout.write(f"{what} {number_of(len(found), 'archive')}, {total:,.1f} MiB, older than {days:g} days\n")


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"


_OF_ARCHIVE = ("path", "bytes", "documents", "last_crawled_at")
WORK = Work(
    "expire --older-than 180 corpus",
    declare,
    expire_archives,
    {
        "dry_run": ("boolean", "true: this would be removed, nothing was changed"),
        "archives": ("list of object", "path, bytes, documents (pages) and last_crawled_at of removed archives"),
        **REMOVED,
        **IMAGES,
    },
)
