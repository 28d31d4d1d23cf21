"""A withdrawal removes a domain from the frontier; an allowlist decides which pages it no longer grants."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from crawler.frontier.client import Frontier
from crawler.frontier.operate import with_frontier
from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.plan import root_url
from crawler.seeds.scope import Scope
from crawler.urls.canonicalize import canonicalize, host_of

if TYPE_CHECKING:
    from crawler.config import Config

Record = dict[str, Any]
T = TypeVar("T")


def domain_named(text: str) -> str | None:
    """A domain as records and frontier write it (lower case, IDN in ASCII, port kept); None where it is none."""
    url = canonicalize(f"http://{text.strip()}/") if text.strip() and "/" not in text else None
    return None if url is None else host_of(url)


def revoked_by(entries: Iterable[AllowlistEntry]) -> Callable[[Record], bool]:
    """A rule that is true for a record which the allowlist no longer grants.

    That is: no entry covers its URL, the entry has expired, its paths exclude the URL, or it names another licence than
    the one that an allowlist gave the record when it was fetched. A tag without a tier is none of those: the page says
    it of itself, and no allowlist has granted or takes back what it says.
    """
    scope = Scope(entries=tuple(entries))

    def revoked(record: Record) -> bool:
        admission = scope.admits(record.get("canonical_url") or record["url"], via="sitemap")
        if not admission.ok or admission.entry is None:
            return True
        return bool(record.get("license_tier")) and record.get("license_tag") != admission.entry.licence

    return revoked


def ungranted(pages: Iterable[Mapping[str, Any]], entries: Iterable[AllowlistEntry]) -> frozenset[str]:
    """Where the allowlist grants nothing any more: the domains of these pages, or single hosts of a domain.

    A host above or below a granted one is not named: its name would cover what is granted.
    """
    granted = [entry.domain for entry in entries if time.time() < entry.expires_at]

    def lost(name: str) -> bool:
        return not any(_within(name, domain) or _within(domain, name) for domain in granted)

    known = list(pages)
    domains = frozenset(page["domain"] for page in known if page["domain"] and lost(page["domain"]))
    hosts = {host_of(page["canonical_url"]) for page in known}
    return domains | {host for host in hosts if lost(host) and not any(_within(host, d) for d in domains)}


def _within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def block(config: Config, crawls: Iterable[str], domains: frozenset[str], entries: list[AllowlistEntry] | None) -> int:
    """`block_in`, and how many queued URLs went in all."""
    return sum(count or 0 for count in block_in(config, crawls, domains, entries).values())


def block_in(
    config: Config, crawls: Iterable[str], domains: frozenset[str], entries: list[AllowlistEntry] | None
) -> dict[str, int | None]:
    """Forget the domains in the frontier of each crawl, now and for good; with `entries`, they become its allowlist.

    Returns how many queued URLs went, by crawl; None where this server knows nothing of it. Raises: FrontierError where
    there is no frontier, or nobody answers.
    """
    return {crawl: _in_crawl(config, crawl, lambda f: _block(f, domains, entries)) for crawl in crawls}


def unblock(config: Config, crawls: Iterable[str], domains: frozenset[str]) -> None:
    """Let the frontier of each crawl take URLs of these domains again. Raises: FrontierError."""
    for crawl in crawls:
        _in_crawl(config, crawl, lambda frontier: _unblock(frontier, domains))


def _in_crawl(config: Config, crawl: str, work: Callable[[Frontier], Awaitable[T]]) -> T:
    own = dataclasses.replace(config, crawl=dataclasses.replace(config.crawl, crawl_id=crawl))
    return with_frontier(own, work)


async def _unblock(frontier: Frontier, domains: frozenset[str]) -> None:
    for domain in sorted(domains):
        await frontier.control.unpurge(frontier.scope_of(root_url(domain) + "/"))


async def _block(frontier: Frontier, domains: frozenset[str], entries: list[AllowlistEntry] | None) -> int | None:
    stored = await frontier.shared.scope_get()
    knows = stored is not None or (await frontier.counts()).seen > 0
    if stored is not None:
        await frontier.shared.scope_set(without(Scope.from_json(stored), domains, entries).to_json())
    gone = 0
    for domain in sorted(domains):
        scope = frontier.scope_of(root_url(domain) + "/")
        if scope == domain:  # a subdomain shares its queue with others: its URLs are refused when they are leased
            gone += await frontier.control.purge(scope)
    return gone if knows else None


def without(scope: Scope, domains: frozenset[str], entries: list[AllowlistEntry] | None) -> Scope:
    """The rules of a crawl without the withdrawn hosts and, where a newer allowlist is given, with its entries only."""

    def stays(host: str) -> bool:
        return not any(_within(host, domain) for domain in domains)

    hosts: dict[str, Any] = {
        name: frozenset(filter(stays, getattr(scope, name)))
        for name in ("link_hosts", "listed_hosts", "robots_sitemap_hosts")
    }
    kept = scope.entries if entries is None else tuple(entries)
    return dataclasses.replace(scope, **hosts, entries=tuple(entry for entry in kept if stays(entry.domain)))
