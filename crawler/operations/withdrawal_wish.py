"""The options of `gristmill dataset exclude` become a wish: which pages are to go, and what is refused later."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawler.dataset.concerned import ends_of
from crawler.dataset.exclude import Wish
from crawler.dataset.refused import PASSED
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.withdrawals import ENDED, NOT_GIVEN, covers
from crawler.operations.declared import WrongCall
from crawler.problems import InputError
from crawler.seeds.seed_file import not_a_url, seed_lines
from crawler.urls.canonicalize import canonicalize
from crawler.urls.tracking import extended_policy

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.seeds.allowlist import AllowlistEntry
    from crawler.storage.files.place import Place

_WHAT = ("url", "urls", "containing", "domain", "licence", "allowlist")
_MOST_PROBLEMS = 20
AGAIN = "what this corpus refuses already"
"""The rule of the withdrawals that `--again` makes."""


class Wanted(NamedTuple):
    """where: by page the kinds of places that have the words of `--containing`; None without them. perhaps: the same of
    pages where they may be another's, which stay. problems: what could not be searched. ends: where named addresses
    lead, whose pages go, too.
    """

    wish: Wish
    where: dict[str, list[str]] | None = None
    perhaps: dict[str, list[str]] | None = None
    problems: tuple[str, ...] = ()
    ends: dict[str, str] | None = None


def check(opts: argparse.Namespace) -> None:
    """Raises: WrongCall where the options do not go together."""
    what = [name for name in _WHAT if getattr(opts, name)]
    alone = [name for name in ("again", "undo") if getattr(opts, name) not in (False, None)]
    if len(alone) == 2 or (alone and what):
        raise WrongCall(f"--{alone[0]} goes with --reason and --by only")
    if not (what or alone):
        raise WrongCall(
            "nothing to withdraw is given: use --domain, --licence or --allowlist, or --url, --urls or --containing"
        )
    if not (opts.reason or opts.allowlist or opts.again):
        raise WrongCall("--reason is missing: it stays in the lineage of the corpus")
    if opts.containing and (opts.url or opts.urls):
        raise WrongCall("--containing finds the pages itself; give it without --url and --urls")
    if opts.address_only and alone:
        raise WrongCall(f"--address-only says nothing about --{alone[0]}")


def wishes_of(
    place: Place,
    opts: argparse.Namespace,
    config: Config,
    entries: list[AllowlistEntry] | None,
    progress: Callable[[str], object],
) -> list[Wanted]:
    """What is to go; one wish, of `--again` also one for what only had to go then. Raises: WrongCall, InputError,
    StorageError.
    """
    by = opts.by.strip() or NOT_GIVEN
    if opts.again:
        return list(_again(place, opts.reason or "refused before", by))
    domains, licences = _domains(opts), frozenset(tag.strip() for tag in opts.licence.split(",") if tag.strip())
    named = bool(opts.url or opts.urls or opts.containing)
    alone = not (licences or entries is not None or named)
    by_grant = bool(licences) or entries is not None
    wish = Wish(
        opts.reason or "no longer granted by the allowlist",
        domains,
        licences,
        refused=domains if alone else frozenset(),
        by=by,
        reach="address" if opts.address_only or by_grant else "text",
    )
    if entries is not None:
        wish = _by_allowlist(wish, opts.allowlist, entries)
    if opts.containing:
        return [_having(place, wish, opts.containing, progress)]
    if not named:
        return [Wanted(wish)]
    urls = frozenset(_urls(opts, config))
    ends = ends_of(place, urls)
    return [Wanted(replace(wish, urls=urls | frozenset(ends.values())), ends=ends)]


def _again(place: Place, reason: str, by: str) -> Iterator[Wanted]:
    refused = refusals_of([place])
    if refused.passed or refused.expired:
        at = max([*refused.passed.values(), *refused.expired.values()])
        yield Wanted(Wish(reason, revoked=refused.has_passed, rule=f"{AGAIN}: {ENDED}{at}", by=by, reach="nothing"))
    yield Wanted(
        Wish(
            reason,
            revoked=lambda record: refused.of_record(record) not in (None, PASSED),
            rule=AGAIN,
            refused=frozenset(refused.domains),
            by=by,
            raw=lambda url: refused.refusal(url) is not None,
        )
    )


def _by_allowlist(wish: Wish, name: str, entries: list[AllowlistEntry]) -> Wish:
    from crawler.frontier.exclusion import revoked_by

    digest = hashlib.sha256(Path(name).read_bytes()).hexdigest()
    return replace(wish, revoked=revoked_by(entries), rule=f"allowlist sha256:{digest}")


def _having(place: Place, wish: Wish, words: str, progress: Callable[[str], object]) -> Wanted:
    from crawler.dataset.containing import containing

    try:
        found = containing(place, words, progress=progress)
    except ValueError as error:
        raise WrongCall(f"--containing: {error}") from None
    domains = wish.domains

    def is_meant(url: str) -> bool:
        return not domains or covers(domains, url)

    pages = {url: having for url, having in found.pages.items() if is_meant(url)}
    where = {url: having.kinds for url, having in pages.items() if having.sure}
    perhaps = {url: having.kinds for url, having in pages.items() if not having.sure}
    return Wanted(replace(wish, urls=frozenset(where)), where, perhaps, tuple(found.not_searched(is_meant)))


def _domains(opts: argparse.Namespace) -> frozenset[str]:
    from crawler.frontier.exclusion import domain_named

    named = {name: domain_named(name) for name in opts.domain.split(",") if name.strip()}
    if wrong := [name for name, domain in named.items() if domain is None]:
        raise WrongCall(f"--domain {wrong[0]}: expected a domain such as example.org")
    return frozenset(domain for domain in named.values() if domain)


def _urls(opts: argparse.Namespace, config: Config) -> Iterator[str]:
    """The canonical URLs of `--url` and `--urls`, without their fragment and, where it may name a page, with it, too.

    Raises: WrongCall, InputError naming every line that is none.
    """
    policy = extended_policy(config.frontier.tracking_params)

    def names(text: str) -> list[str]:
        return [url for routes in (False, True) if (url := canonicalize(text, policy=policy, routes=routes))]

    for text in opts.url:
        if not (found := names(text)):
            raise WrongCall(f"--url: {not_a_url(text.strip())}")
        yield from found
    if opts.urls:
        lines = list(seed_lines(Path(opts.urls)))
        wrong = [f"{opts.urls}:{line.number}: {line.problem}" for line in lines if line.problem]
        if wrong or not lines:
            more = [f"… and {len(wrong) - _MOST_PROBLEMS:,} lines more"] if len(wrong) > _MOST_PROBLEMS else []
            raise InputError([*wrong[:_MOST_PROBLEMS], *more] or [f"{opts.urls}: has no URL; expected one a line"])
        yield from (url for line in lines for url in names(line.url) or [line.url])
