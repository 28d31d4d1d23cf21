"""`gristmill dataset exclude CORPUS_DIR`: withdraw a domain or a licence after the crawl, for good."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.dataset.exclude import NOT_GIVEN, Wish, Withdrawn, find, is_begun, mistyped, withdraw
from crawler.dataset.rewrite import corpus_place
from crawler.operations.answer import Answer, Fields
from crawler.operations.common import agreed
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.forgetting import load_with_frontier
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
    parser.add_argument("--by", metavar="WHO", default="", help="person who requested it, for the log of withdrawals")
    parser.add_argument("--yes", action="store_true", help="do not ask: texts and raw pages are deleted")


def exclude(opts: argparse.Namespace, load: Load) -> Answer:
    """Show what would go, ask, do it. Raises: WrongCall, ConfigError, InputError, StorageError."""
    from crawler.seeds.allowlist import read_allowlist

    config = load_with_frontier(load, opts.corpus)
    entries = read_allowlist(opts.allowlist) if opts.allowlist else None
    wish = _wish(opts, entries)
    with corpus_place(opts.corpus, config.storage.spool_dir) as place:
        return _exclude(config, place, opts, wish, entries)


def _exclude(
    config: Config, place: Place, opts: argparse.Namespace, wish: Wish, entries: list[AllowlistEntry] | None
) -> Answer:
    from crawler.dedup.index import DedupError
    from crawler.frontier.exclusion import ungranted
    from crawler.observe.withdrawn import announce

    crawls = place.manifest()["crawls"]
    found = find(place, wish)
    if entries is not None and not wish.refused:
        wish = dataclasses.replace(wish, refused=ungranted(found.pages, entries))
    if not is_begun(place, wish):
        if problems := mistyped(found):
            return Answer(problems=problems)
        if found.nothing and not wish.refused:
            return Answer(NOTHING, ["nothing in this corpus matches; nothing was changed"])
    sys.stdout.write(announce(found, place.url))
    if not (opts.yes or agreed("Delete them?")):
        return Answer(problems=["nothing was changed; add --yes to do it"])
    done = withdraw(place, wish, now=time.time())
    try:
        return answer_of(done, forget_elsewhere(config, crawls, done, entries))
    except (FrontierError, DedupError) as error:
        problem = f"the corpus was changed, frontier or duplicate index were not ({error}); run the same command again"
        return answer_of(done, None, problem)


def answer_of(done: Withdrawn, forgotten: Forgotten | None, *problems: str) -> Answer:
    """What a withdrawal did; `forgotten`: None where frontier and index could not be asked, which is a problem."""
    from crawler.observe.withdrawn import summary

    facts = {
        "kept": done.found.kept,
        "rejected": done.found.rejected,
        "raw": done.rewritten.erased,
        "refused": sorted(done.refused),
        "removed_files": done.removed_files,
        "corpus_version": done.rewritten.version,
        "forgotten": forgotten and forgotten._asdict(),
    }
    return Answer(facts, summary(done, [str(forgotten)] if forgotten else []).splitlines(), problems)


class Forgotten(NamedTuple):
    """URLs that waited in the frontier, and claims in the duplicate index, that went; None where there are neither."""

    queued: int | None
    claims: int | None

    def __str__(self) -> str:
        if self.queued is None:
            return "there is no frontier here, so no queue was changed"
        return (
            f"{self.queued:,} waiting URLs were dropped, {self.claims:,} claims in the duplicate index are free again"
        )


def forget_elsewhere(
    config: Config, crawls: list[str], done: Withdrawn, entries: list[AllowlistEntry] | None
) -> Forgotten:
    """Drop what waits in the frontier and free claims in the duplicate index. Raises: FrontierError, DedupError."""
    from crawler.dedup.admin import forget
    from crawler.frontier.exclusion import block

    if config.crawl.redis_url is None and not frontier_folder(config).is_dir():
        return Forgotten(None, None)
    queued = block(config, crawls, done.refused, entries)
    freed = sum(forget(_of_crawl(config, crawl), done.urls) for crawl in crawls)
    return Forgotten(queued, freed)


def _of_crawl(config: Config, crawl_id: str) -> Config:
    return dataclasses.replace(config, crawl=dataclasses.replace(config.crawl, crawl_id=crawl_id))


def _wish(opts: argparse.Namespace, entries: list[AllowlistEntry] | None) -> Wish:
    from crawler.frontier.exclusion import domain_named, revoked_by

    if not (opts.domain or opts.licence or opts.allowlist):
        raise WrongCall("nothing to withdraw is given: use --domain, --licence or --allowlist")
    if not (opts.reason or opts.allowlist):
        raise WrongCall("--reason is missing: it stays in the lineage of the corpus")
    domains = {name: domain_named(name) for name in opts.domain.split(",") if name.strip()}
    if wrong := [name for name, domain in domains.items() if domain is None]:
        raise WrongCall(f"--domain {wrong[0]}: expected a domain such as example.org")
    named = frozenset(domain for domain in domains.values() if domain)
    licences = frozenset(tag.strip() for tag in opts.licence.split(",") if tag.strip())
    alone = named if not (licences or entries) else frozenset()
    reason = opts.reason or "no longer granted by the allowlist"
    by = opts.by.strip() or NOT_GIVEN
    if entries is None:
        return Wish(reason, named, licences, refused=alone, by=by)
    digest = hashlib.sha256(Path(opts.allowlist).read_bytes()).hexdigest()
    return Wish(reason, named, licences, revoked_by(entries), f"allowlist sha256:{digest}", alone, by)


WITHDRAWN: Fields = {
    "kept": ("integer", "kept documents whose records were removed"),
    "rejected": ("integer", "rejected documents whose text was removed"),
    "raw": ("integer", "raw pages removed from the archive"),
    "refused": ("list of string", "domains that later crawls into this corpus do not request"),
    "removed_files": ("list of string", "files removed because they described the older version"),
    "corpus_version": ("integer or null", "version of the corpus now; null: nothing was changed"),
    "forgotten": ("object or null", "queued: waiting URLs that were dropped; claims: freed in the duplicate index"),
}
"""Fields of an answer that tells of a withdrawal."""
NOTHING: dict[str, Any] = {
    **dict.fromkeys(("kept", "rejected", "raw"), 0),
    **{"refused": [], "removed_files": [], "corpus_version": None, "forgotten": None},
}
"""The facts where none was made."""
WORK = Work('exclude --domain example.org --reason "letter of 3 May" --yes corpus', declare, exclude, WITHDRAWN)
