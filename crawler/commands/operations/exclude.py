"""`scrapy dataset exclude CORPUS_DIR`: a domain or a licence says no after the crawl; what was kept goes, for good."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawler.commands.operation import Load, Operation
from crawler.commands.operations.forgetting import load_with_frontier
from crawler.dataset.exclude import NOT_GIVEN, Wish, Withdrawn, find, is_begun, mistyped, withdraw
from crawler.dataset.rewrite import corpus_place
from crawler.server.errors import FrontierError
from crawler.server.location import frontier_folder

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.seeds.allowlist import AllowlistEntry
    from crawler.storage.files.place import Place


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, what is to go, why, and whether to ask first."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--domain", metavar="D[,D]", default="", help="withdraw these domains with their subdomains")
    parser.add_argument("--licence", metavar="TAG[,TAG]", default="", help="withdraw what these licences cover")
    parser.add_argument("--allowlist", metavar="FILE", help="withdraw what this file no longer grants")
    parser.add_argument("--reason", metavar="TEXT", default="", help="why, for the lineage of the corpus")
    parser.add_argument("--by", metavar="WHO", default="", help="who asked for it, for the log of withdrawals")
    parser.add_argument("--yes", action="store_true", help="do it without asking: texts and raw pages are deleted")


def exclude(opts: argparse.Namespace, load: Load) -> list[str]:
    """Show what would go, ask, do it. Raises: UsageError, ConfigError, InputError, StorageError."""
    from crawler.seeds.allowlist import read_allowlist

    config = load_with_frontier(load, opts.corpus)
    entries = read_allowlist(opts.allowlist) if opts.allowlist else None
    wish = _wish(opts, entries)
    with corpus_place(opts.corpus, config.storage.spool_dir) as place:
        return _exclude(config, place, opts, wish, entries)


def _exclude(
    config: Config, place: Place, opts: argparse.Namespace, wish: Wish, entries: list[AllowlistEntry] | None
) -> list[str]:
    from crawler.dedup.index import DedupError
    from crawler.frontier.exclusion import ungranted
    from crawler.observe.withdrawn import announce, summary

    crawls = place.manifest()["crawls"]
    found = find(place, wish)
    if entries is not None and not wish.refused:
        wish = dataclasses.replace(wish, refused=ungranted(found.pages, entries))
    if not is_begun(place, wish):
        if problems := mistyped(found):
            return problems
        if found.nothing and not wish.refused:
            sys.stdout.write("nothing of this corpus is concerned; nothing was changed\n")
            return []
    sys.stdout.write(announce(found, place.url))
    if not (opts.yes or _agreed()):
        return ["nothing was changed; add --yes to do it"]
    done = withdraw(place, wish, now=time.time())
    problems = []
    try:
        notes = forget_elsewhere(config, crawls, done, entries)
    except (FrontierError, DedupError) as error:
        notes = []
        problems = [f"the corpus is done, frontier or duplicate index are not ({error}); run the same command again"]
    sys.stdout.write(summary(done, notes))
    return problems


def forget_elsewhere(
    config: Config, crawls: list[str], done: Withdrawn, entries: list[AllowlistEntry] | None
) -> list[str]:
    """Drop what waits in the frontier and free claims in the duplicate index. Raises: FrontierError, DedupError."""
    from crawler.dedup.admin import forget
    from crawler.frontier.exclusion import block

    if config.crawl.redis_url is None and not frontier_folder(config).is_dir():
        return ["there is no frontier here to forget anything"]
    queued = block(config, crawls, done.refused, entries)
    freed = sum(forget(_of_crawl(config, crawl), done.urls) for crawl in crawls)
    return [f"{queued:,} waiting URLs were dropped, {freed:,} claims in the duplicate index are free again"]


def _of_crawl(config: Config, crawl_id: str) -> Config:
    return dataclasses.replace(config, crawl=dataclasses.replace(config.crawl, crawl_id=crawl_id))


def _wish(opts: argparse.Namespace, entries: list[AllowlistEntry] | None) -> Wish:
    from crawler.frontier.exclusion import domain_named, revoked_by

    if not (opts.domain or opts.licence or opts.allowlist):
        raise UsageError("what is to go? Give --domain, --licence or --allowlist")
    if not (opts.reason or opts.allowlist):
        raise UsageError("--reason is missing: it stays in the lineage of the corpus")
    domains = {name: domain_named(name) for name in opts.domain.split(",") if name.strip()}
    if wrong := [name for name, domain in domains.items() if domain is None]:
        raise UsageError(f"--domain {wrong[0]}: expected a domain such as example.org")
    named = frozenset(domain for domain in domains.values() if domain)
    licences = frozenset(tag.strip() for tag in opts.licence.split(",") if tag.strip())
    alone = named if not (licences or entries) else frozenset()
    reason = opts.reason or "no longer granted by the allowlist"
    by = opts.by.strip() or NOT_GIVEN
    if entries is None:
        return Wish(reason, named, licences, refused=alone, by=by)
    digest = hashlib.sha256(Path(opts.allowlist).read_bytes()).hexdigest()
    return Wish(reason, named, licences, revoked_by(entries), f"allowlist sha256:{digest}", alone, by)


def _agreed() -> bool:
    return sys.stdin.isatty() and input("Delete them? [y/N] ").strip().lower() in {"y", "yes"}


OPERATION = Operation(
    "a domain or a licence says no after the crawl: its texts and raw pages go, and it is not asked again",
    'exclude --domain example.org --reason "letter of 3 May" --yes corpus',
    declare,
    exclude,
)
