"""What the crawl may fetch: asked for every seed, link, sitemap line and redirect before it may enter the frontier.

A `Scope` is made from the seed arguments (`crawler.seeds.plan`), stored in Redis as JSON, and joined by any worker.
It is frozen; `admits` costs a few dictionary look-ups. URLs it is asked about are canonical.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.api import ApiSource
from crawler.seeds.api_file import source_from_json, source_to_json
from crawler.seeds.oai import Repository, repository_from_json
from crawler.seeds.timestamps import parse_day
from crawler.urls.canonicalize import Address, address, canonicalize, host_and_path, host_of
from crawler.urls.tracking import DEFAULT_POLICY, QueryPolicy

Via = Literal["seed", "link", "sitemap", "redirect", "feed", "record"]
"""How a URL was found; "feed": a list that a page names; "record": what a record of a repository names."""
FORMAT, OLDER = 2, 1
"""The same content; a worker of a version that writes the older one cannot read the queues, and is refused by it."""
USUAL_SITEMAP = "/sitemap.xml"
"""Where the sitemap of a domain is looked for whose allowlist entry names none."""


class AdmissionReason(StrEnum):
    """Why a URL is inside or outside. The first three are yes, the others no."""

    SEEDED = "seeded"  # host of a seed or of a given sitemap
    ALLOWLISTED = "allowlisted"
    NAMED = (
        "named"  # a sitemap on another host, which robots.txt or an index of a host inside names; a page of a record
    )
    OFF_SCOPE = "off_scope"  # host is neither seeded nor on the allowlist
    LICENCE_EXPIRED = "licence_expired"
    PATH_EXCLUDED = "path_excluded"
    PATH_NOT_INCLUDED = "path_not_included"
    LINKS_NOT_FOLLOWED = "links_not_followed"  # a link, where only listed pages are wanted
    TOO_OLD = "too_old"  # listed with a date before `sitemap_since`
    NOT_A_URL = "not_a_url"


@dataclass(frozen=True, slots=True)
class Admission:
    """The answer for one URL; `entry` is the allowlist entry that decided, also where it said no."""

    ok: bool
    reason: AdmissionReason
    entry: AllowlistEntry | None = None


class Grant(NamedTuple):
    """What a page is kept as.

    canonical: what the crawl calls it, None where it is no URL. licence, tier ("A", "B"): of the allowlist entry, None
    where none speaks. profile: the quality profile that the entry asks for, empty where none does. reviewer, reviewed:
    who looked at the licence and on which day (ISO 8601), as far as the entry says. choices: what it asks of the
    extraction (`AllowlistEntry.choices`).
    """

    canonical: str | None
    licence: str | None = None
    tier: str | None = None
    profile: str = ""
    reviewer: str | None = None
    reviewed: str | None = None
    choices: Mapping[str, str] = MappingProxyType({})


class ScopeError(ValueError):
    """A stored scope cannot be read."""


_Found = tuple[AllowlistEntry, float]  # an entry and when it expires


@dataclass(frozen=True, slots=True)
class Scope:
    """The rules of one crawl. A host is written as in `urls.host_of`; `www.` in front of it makes no difference.

    An allowlist entry covers its domain and all subdomains, the longest entry wins, and it outranks a seeded host.
    """

    link_hosts: frozenset[str] = frozenset()  # seeded; links are followed inside
    listed_hosts: frozenset[str] = frozenset()  # only seeds and pages listed in a sitemap
    robots_sitemap_hosts: frozenset[str] = frozenset()  # Sitemap lines of their robots.txt are read
    entries: tuple[AllowlistEntry, ...] = ()
    sources: tuple[ApiSource, ...] = ()  # of JSON: which pages are lists and records of theirs
    repositories: tuple[Repository, ...] = ()  # of OAI-PMH: their records' pages are admitted on any host
    listed_since: str = ""  # a day (ISO 8601): pages whose sitemap or feed gives an earlier one are left out
    folders: frozenset[str] = frozenset()  # host and path: of such a host only what begins so, whoever names it
    clock: Callable[[], float] = field(default=time.time, repr=False, compare=False)  # for the expiry of licences
    policy: QueryPolicy = field(default=DEFAULT_POLICY, repr=False, compare=False)  # the worker's; entries add to it
    _by_domain: dict[str, _Found] = field(init=False, repr=False, compare=False)
    _twins: dict[str, _Found] = field(init=False, repr=False, compare=False)  # example.org for an entry www.example.org
    _by_sitemap: dict[str, AllowlistEntry] = field(init=False, repr=False, compare=False)
    _policy: QueryPolicy = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in _HOST_FIELDS:
            object.__setattr__(self, name, frozenset(map(_site, getattr(self, name))))
        object.__setattr__(self, "folders", frozenset(map(_site, self.folders)))
        entries = {entry.domain: entry for entry in self.entries}
        object.__setattr__(self, "entries", tuple(entries[domain] for domain in sorted(entries)))
        by_domain = {entry.domain: (entry, entry.expires_at) for entry in self.entries}
        object.__setattr__(self, "_by_domain", by_domain)
        twins = {_site(domain): found for domain, found in by_domain.items() if _site(domain) not in by_domain}
        object.__setattr__(self, "_twins", twins)
        object.__setattr__(
            self, "_by_sitemap", {canonicalize(url) or url: entry for entry in self.entries for url in entry.sitemaps}
        )
        tracking = {_bare(entry.domain): frozenset(entry.tracking) for entry in self.entries if entry.tracking}
        object.__setattr__(self, "_policy", self.policy.extended(tracking) if tracking else self.policy)

    def admits(self, url: str, *, via: Via) -> Admission:
        """May this canonical URL enter the frontier? `via` says how it was found."""
        try:
            host, path = host_and_path(url)
        except ValueError:
            return Admission(False, AdmissionReason.NOT_A_URL)
        if (found := self._entry(host)) is not None:
            return self._by_entry(*found, path, via)
        return Admission(*self._by_host(_site(host), path, via))

    def admits_sitemap(self, url: str, *, via: Via = "sitemap") -> Admission:
        """May this list be fetched? Its host decides, not its path: a list is no page.

        A file that an allowlist entry, robots.txt or an index names, or that one of them redirects to, may lie on any
        host (sitemaps.org, "Sitemaps & Cross Submits"); what it lists is still asked about page by page.
        """
        try:
            found = self._entry(host_and_path(url)[0])
        except ValueError:
            return Admission(False, AdmissionReason.NOT_A_URL)
        entry = self._by_sitemap.get(url) or (found[0] if found else None)
        if entry is None:
            admission = self.admits(url, via=via)
            return admission if via == "feed" or admission.ok else Admission(True, AdmissionReason.NAMED)
        if self.clock() >= entry.expires_at:
            return Admission(False, AdmissionReason.LICENCE_EXPIRED, entry)
        return Admission(True, AdmissionReason.ALLOWLISTED, entry)

    def names_sitemap(self, url: str) -> bool:
        """True where an entry whose licence has not expired lists this very file: somebody waits for its pages."""
        entry = self._by_sitemap.get(url)
        if entry is None:
            firsts = (one.first_list for one in self.sources)
            return any(first and url == first.name for first in firsts) or bool(self.repositories_of(url))
        return self.clock() < entry.expires_at

    def is_too_old(self, lastmod: float | None) -> bool:
        """True for a listed page that changed before `listed_since`; what gives no date may be new."""
        since = parse_day(self.listed_since)
        return since is not None and lastmod is not None and lastmod < since

    def most_feeds(self, url: str, default: int) -> int:
        """How many feeds of the URL's host are read: as its allowlist entry says, else `default`."""
        entry = self.entry_of(url)
        return default if entry is None or entry.feeds is None else entry.feeds

    def source_of_list(self, url: str) -> ApiSource | None:
        """The source of JSON that this sitemap file is a list of; None for a sitemap."""
        return next((source for source in self.sources if source.is_list(url)), None)

    def repositories_of(self, url: str) -> tuple[Repository, ...]:
        """What is wanted of the repository that this list is of; empty for a sitemap."""
        return tuple(one for one in self.repositories if one.is_list(url))

    def source_of(self, url: str, kind: str) -> ApiSource | None:
        """The source of JSON that a URL is a list or a record of; None where what is expected there is no JSON."""
        if kind == "sitemap":
            return self.source_of_list(url)
        return next((source for source in self.sources if source.fields and source.is_record(url)), None)

    def fields_of(self, url: str) -> dict[str, str]:
        """Where the fields of this record of a source stand, as paths; empty for a page."""
        source = self.source_of(url, "page")
        return dict(source.fields) if source else {}

    def guesses_sitemap(self, url: str) -> bool:
        """True where the URL is the usual place, tried because the entry of its domain wants lists and names none."""
        entry = self.entry_of(url)
        if entry is None or entry.sitemaps or entry.discovery != "sitemap" or self.clock() >= entry.expires_at:
            return False
        return url.partition("://")[2] == f"{entry.domain}{USUAL_SITEMAP}"

    def refusal_of(self, url: str, kind: str = "page") -> Admission | None:
        """The answer of an allowlist entry that no longer lets in a URL which is queued; None where none objects.

        Asked at lease time: a licence may have expired since, and paths may have been excluded.
        """
        admission = self.admits_sitemap(url) if kind == "sitemap" else self.admits(url, via="seed")
        return None if admission.ok or admission.entry is None else admission

    def opens_at(self, url: str) -> tuple[float, str]:
        """When the URL's domain may be crawled again, 0 = now, and the hours of its allowlist entry."""
        entry = self.entry_of(url)
        if entry is None or entry.hours is None:
            return 0.0, ""
        return entry.opens_at(self.clock()), entry.hours

    def canonical(self, url: str) -> str | None:
        """`urls.canonicalize` without the parameters of FRONTIER_TRACKING_PARAMS and of the entries' `tracking`."""
        return canonicalize(url, policy=self._policy, routes=self._has_routes(url))

    def address(self, url: str) -> Address | None:
        """`canonical`, with the spelling in which the URL was found."""
        return address(url, policy=self._policy, routes=self._has_routes(url))

    def name_of(self, url: str) -> str:
        """What this crawl calls a URL that is canonical already: the same, less the parameters it does not count."""
        if "#" not in url and ("?" not in url or self._policy is DEFAULT_POLICY):
            return url
        return self.canonical(url) or url

    def _has_routes(self, url: str) -> bool:
        return "#" in url and (entry := self.entry_of(url)) is not None and entry.js_routes == "hash"

    def grant(self, url: str) -> Grant:
        """What the crawl may keep a page as: asked once for each document."""
        entry = self.entry_of(url)
        if entry is None:
            return Grant(self.canonical(url))
        profile = "" if entry.profile == "auto" else entry.profile
        return Grant(self.canonical(url), entry.licence, entry.tier, profile, entry.reviewer, entry.date, entry.choices)

    def entry_of(self, url: str) -> AllowlistEntry | None:
        """The allowlist entry that covers the URL, expired or not: delay, page cap, JS tier, profile."""
        try:
            found = self._entry(host_and_path(url)[0])
        except ValueError:
            return None
        return found[0] if found else None

    def knows(self, url: str) -> bool:
        """True where any rule speaks about the URL's host, whatever it says."""
        try:
            host, _ = host_and_path(url)
        except ValueError:
            return False
        return self._entry(host) is not None or _site(host) in self.link_hosts or _site(host) in self.listed_hosts

    def follows_links(self, url: str) -> bool:
        """True where the links of this page are worth collecting; each still has to be admitted."""
        try:
            host, _ = host_and_path(url)
        except ValueError:
            return False
        if (found := self._entry(host)) is not None:
            return found[0].discovery == "links"
        return _site(host) in self.link_hosts

    def uses_robots_sitemaps(self, host: str) -> bool:
        """True where the Sitemap lines of this robots.txt are wanted. `host` as in `urls.host_of`, or a URL on it."""
        if "://" in host:
            host = host_of(host)
        if (found := self._entry(host)) is not None:
            return found[0].discovery == "sitemap" and not found[0].sitemaps
        return _site(host) in self.robots_sitemap_hosts

    def merge(self, other: Scope) -> Scope:
        """Both scopes together; where both know a domain, the entry of `other` (the newer file) holds."""
        hosts = {name: getattr(self, name) | getattr(other, name) for name in _HOST_FIELDS}
        sources = {source.record: source for source in self.sources + other.sources}
        repositories = {one.name: one for one in self.repositories + other.repositories}
        hosts["folders"] = self._folders_with(other)
        since = other.listed_since or self.listed_since
        entries = self.entries + other.entries
        merged = Scope(**hosts, entries=entries, listed_since=since, clock=self.clock, policy=self.policy)
        return replace(merged, sources=tuple(sources.values()), repositories=tuple(repositories.values()))

    def to_json(self) -> str:
        """Canonical JSON: equal scopes give equal text."""
        values: dict[str, Any] = {name: sorted(getattr(self, name)) for name in _HOST_FIELDS}
        values |= {"format": FORMAT, "entries": [_entry_to_json(entry) for entry in self.entries]}
        values |= {"folders": sorted(self.folders)} if self.folders else {}
        values |= {"sources": [source_to_json(source) for source in self.sources]} if self.sources else {}
        values |= {"repositories": [[r.base, r.select, r.page] for r in self.repositories]} if self.repositories else {}
        values |= {"listed_since": self.listed_since} if self.listed_since else {}
        return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(
        cls, text: str | bytes, clock: Callable[[], float] = time.time, policy: QueryPolicy = DEFAULT_POLICY
    ) -> Scope:
        """What `to_json` wrote. Raises ScopeError on anything else."""
        try:
            values = json.loads(text)
            written_by = values["format"]
            hosts = {name: frozenset(_strings(values[name])) for name in _HOST_FIELDS}
            folders = frozenset(_strings(values.get("folders", ())))
            entries = tuple(_entry_from_json(entry) for entry in values["entries"])
            sources = tuple(source_from_json(source) for source in values.get("sources", ()))
            repositories = tuple(repository_from_json(*one) for one in values.get("repositories", ()))
            since = str(values.get("listed_since", ""))
            parse_day(since)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ScopeError(
                f"the stored scope cannot be read ({type(error).__name__}): seed the crawl again"
            ) from None
        if written_by not in (FORMAT, OLDER):
            raise ScopeError(f"the stored scope has format {written_by!r}, expected {FORMAT}: seed the crawl again")
        return cls(
            **hosts,
            folders=folders,
            entries=entries,
            sources=sources,
            repositories=repositories,
            listed_since=since,
            clock=clock,
            policy=policy,
        )

    @staticmethod
    def is_older(text: str | bytes) -> bool:
        """True where a version before this one wrote the stored scope."""
        try:
            return bool(json.loads(text)["format"] == OLDER)
        except (ValueError, TypeError, KeyError):
            return False

    def _by_host(self, site: str, path: str, via: Via) -> tuple[bool, AdmissionReason]:
        if site not in self.link_hosts and site not in self.listed_hosts:
            return (True, AdmissionReason.NAMED) if via == "record" else (False, AdmissionReason.OFF_SCOPE)
        if self.folders and not self._is_below(site, path):
            return False, AdmissionReason.PATH_NOT_INCLUDED
        if via == "link" and site not in self.link_hosts:
            return False, AdmissionReason.LINKS_NOT_FOLLOWED
        return True, AdmissionReason.SEEDED

    def _is_below(self, site: str, path: str) -> bool:
        """Whether a path is in a folder of its site; of a site without one everything is."""
        mine = [folder for folder in self.folders if folder.startswith(f"{site}/")]
        return not mine or any(f"{site}{path}".startswith(folder) for folder in mine)

    def _folders_with(self, other: Scope) -> frozenset[str]:
        """Those of both; of a host that `other` names without a folder there is none."""
        whole = (other.link_hosts | other.listed_hosts) - {folder.partition("/")[0] for folder in other.folders}
        return frozenset(one for one in self.folders if one.partition("/")[0] not in whole) | other.folders

    def _entry(self, host: str) -> _Found | None:
        """The longest entry that covers the host, by its labels from the left."""
        if not self._by_domain:
            return None
        if host in self._twins:
            return self._twins[host]
        name, colon, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        name = name or port  # no port in it
        while True:
            found = self._by_domain.get(f"{name}:{port}" if colon else name) or self._by_domain.get(name)
            if found is not None or "." not in name:
                return found
            name = name.partition(".")[2]

    def _by_entry(self, entry: AllowlistEntry, expires_at: float, path: str, via: Via) -> Admission:
        if self.clock() >= expires_at:
            return Admission(False, AdmissionReason.LICENCE_EXPIRED, entry)
        if reason := entry.allows_path(path):
            return Admission(False, AdmissionReason(reason), entry)
        if via == "link" and entry.discovery != "links":
            return Admission(False, AdmissionReason.LINKS_NOT_FOLLOWED, entry)
        return Admission(True, AdmissionReason.ALLOWLISTED, entry)


_HOST_FIELDS = ("link_hosts", "listed_hosts", "robots_sitemap_hosts")
_LISTS = ("sitemaps", "include", "exclude", "tracking", "js_capture")
_NUMBERS: dict[str, tuple[type, ...]] = {
    "delay": (int, float),
    "max_pages": (int,),
    "priority": (int,),
    "feeds": (int,),
    "ttl_days": (int, float),
    "js_timeout": (int, float),
    "js_wait": (int, float),
}
_RENAMED = {"wait_selector": "js_wait_selector"}  # as a crawl that an earlier version began has it
_ENTRY_FIELDS = {f.name: f for f in dataclasses.fields(AllowlistEntry) if f.compare}  # `line` is the file's


def _site(host: str) -> str:
    """A host and its www. twin are one site: redirects between the two are the rule."""
    return host.removeprefix("www.")


def folder_of(url: str) -> str:
    """Host and path up to the last slash of a URL, as `Scope.folders` has them."""
    host, path = host_and_path(url)
    return f"{host}{path.partition('?')[0].rpartition('/')[0]}/"


def _bare(host: str) -> str:
    """A domain as `QueryPolicy` looks it up: without port, covering what the entry covers."""
    head, _, port = host.rpartition(":")
    return _site(head if head and port.isdigit() else host)


def _strings(values: Iterable[Any]) -> list[str]:
    found = list(values)
    if isinstance(values, str) or not all(isinstance(value, str) for value in found):
        raise TypeError("expected a list of strings")
    return found


def _entry_to_json(entry: AllowlistEntry) -> dict[str, Any]:
    values = {name: getattr(entry, name) for name in _ENTRY_FIELDS}
    return {name: value for name, value in values.items() if value != _ENTRY_FIELDS[name].default}


def _entry_from_json(values: dict[str, Any]) -> AllowlistEntry:
    """Types are checked: what is stored in Redis may have been written by anybody who reaches it."""
    values = {_RENAMED.get(name, name): value for name, value in values.items()}
    lists: dict[str, Any] = {name: tuple(_strings(values[name])) for name in _LISTS if name in values}
    entry = AllowlistEntry(**(values | lists))
    for name, declared in _ENTRY_FIELDS.items():
        value = getattr(entry, name)
        expected = (tuple,) if name in _LISTS else _NUMBERS.get(name, (str,))
        if type(value) not in expected and not (value is None and declared.default is None):
            raise TypeError(f"{name} has the wrong type")
    _ = entry.expires_at, entry.opens_at(0.0)  # what cannot be read is found here, not at the first page
    return entry
