"""Where a crawl begins: the seed arguments become the crawl's `Scope` and its first links.

`plan_seeds` checks everything, files to their last line, before the first link leaves it; a seed file is then read
a second time in batches, so that a million seeds need no memory. All problems are reported together.
"""

from __future__ import annotations

import difflib
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from crawler.number import number_of
from crawler.problems import InputError
from crawler.seeds import patterns
from crawler.seeds.allowlist import AllowlistEntry, read_allowlist
from crawler.seeds.api import ApiSource
from crawler.seeds.api_file import read_api
from crawler.seeds.oai import Repository, list_link, repository_of
from crawler.seeds.scope import USUAL_SITEMAP, Scope, folder_of
from crawler.seeds.seed_file import behind_url, not_a_url, seed_lines
from crawler.seeds.sitemaps import Sitemap, SitemapEntry
from crawler.seeds.timestamps import parse_day
from crawler.urls.canonicalize import Address, address, host_of, politeness_scope
from crawler.urls.link import SEED_PRIORITY, SITEMAP_PRIORITY, Link, link_to
from crawler.urls.tracking import DEFAULT_POLICY, QueryPolicy

T = TypeVar("T")

MAX_PROBLEMS = 20
BATCH = 1_000

_DISCOVERY = ("links", "sitemap")
_YES = ("yes", "true", "1")
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class SeedPlan:
    """Checked seed arguments: the rules of the crawl, and the links in batches."""

    scope: Scope
    few: tuple[Link, ...] = ()  # from arguments and the allowlist
    file: Path | None = None  # one URL a line
    count: int = 0  # links, repetitions included
    warnings: list[str] = field(default_factory=list)

    def batches(self, size: int = BATCH) -> Iterator[list[Link]]:
        """All links, `size` at a time. Raises: InputError where the file has changed and no longer can be read."""
        lines = seed_lines(self.file) if self.file else iter(())
        from_file = (_page(line.url, line.priority) for line in lines if not line.problem)
        links = chain(self.few, from_file)
        while batch := list(islice(links, size)):
            yield batch


def plan_seeds(
    url: str | None = None,
    sitemap: str | None = None,
    seeds: str | None = None,
    allowlist: str | None = None,
    discovery: str | None = None,
    *,
    api: str | None = None,
    oai: str | None = None,
    oai_page: str | None = None,
    sitemap_since: str | None = None,
    below: str | None = None,
    clock: Callable[[], float] = time.time,
    policy: QueryPolicy = DEFAULT_POLICY,
) -> SeedPlan:
    """Check the arguments of `gristmill crawl corpus` and `gristmill seed`; None = not given.

    `url`, `sitemap`: URLs separated by commas. `seeds`, `allowlist`: paths of files. `discovery`: "links" or "sitemap".
    `api`: path of a file that describes a source of JSON. `oai`: base URLs of repositories, separated by commas;
    `oai_page`: template of the address of their records' pages. `sitemap_since`: a day (ISO 8601). `below`: "yes" keeps
    the crawl below the folder of each URL of `url`.
    `policy` is the worker's own list of parameters that name no page.
    With none of the six the plan is empty: right for a worker that joins, an error for everybody else to raise.
    Raises InputError that lists every problem with file, line, what was expected and what to do.
    """
    planner = _Planner(clock)
    planner.check_discovery(discovery, needed_by=url or sitemap or seeds or api or oai)
    since = planner.day("sitemap_since", sitemap_since)
    planner.check_below(below, pages_given=bool(url), others_given=bool(seeds))
    source = planner.api(api)
    repositories = planner.repositories(oai, oai_page)
    pages = planner.urls("url", url)
    lists = planner.urls("sitemap", sitemap)
    entries = planner.allowlist(allowlist)
    covered = Scope(entries=tuple(entries), clock=clock, policy=policy)
    file_hosts, file_count = planner.seed_file(seeds, covered)
    planner.check_covered("url", pages, covered)
    if planner.problems:
        raise InputError(planner.listing())
    sources = [source] if source else []
    lists += [first.asked for one in sources if (first := one.first_list)]
    lists += [one.first_list for one in repositories]
    few = [_page(page) for page in pages] + [_sitemap(item) for item in lists]
    few += chain.from_iterable(_entry_links(entry) for entry in entries if clock() < entry.expires_at)
    hosts = _host_scope(
        file_hosts.union(map(host_of, pages)),
        set(map(host_of, lists)).union(*(one.hosts for one in sources)),
        discovery,
    )
    if below in _YES:
        hosts = replace(hosts, folders=frozenset(map(folder_of, pages)))
    scope = replace(hosts.merge(covered), clock=clock, policy=policy, sources=tuple(sources), listed_since=since)
    scope = replace(scope, repositories=tuple(repositories))
    file = Path(seeds) if seeds else None
    once: dict[tuple[str, str], Link] = {}
    for link in few:
        once.setdefault((link.kind, link.url), link)
    return SeedPlan(scope, tuple(once.values()), file, len(once) + file_count, planner.warnings)


def sitemap_links(sitemap: Sitemap, *, nesting: int, now: float) -> list[Link]:
    """What a fetched sitemap adds to the frontier, unchecked: ask `Scope.admits(…, via="sitemap")` about each page.

    `nesting` is the depth of the sitemap's own lease; further sitemaps get one more, pages begin at depth 0.
    """
    onward = list_link if sitemap.kind == "oai" else _sitemap
    lists = [onward(url, depth=nesting + 1) for url in sitemap.nested]
    pages = [
        Link(entry.url, found=entry.found, priority=page_priority(entry, now), lastmod=_changed_at(entry, now))
        for entry in sitemap.entries
    ]
    return lists + pages


def _changed_at(entry: SitemapEntry, now: float) -> float | None:
    """When a page says it changed. A date in the future is no date: no visit would ever be later than it."""
    return None if entry.lastmod is None or entry.lastmod > now + _DAY else entry.lastmod


def page_priority(entry: SitemapEntry, now: float) -> int:
    """`Link.priority` of a listed page, -10 to 20: -10 to 10 by its own priority, up to 10 for a recent change."""
    own = 0 if entry.priority is None else round(20 * (entry.priority - 0.5))
    changed = _changed_at(entry, now)
    if changed is None:
        return own
    days = (now - changed) / _DAY
    return own + next((bonus for limit, bonus in ((7, 10), (30, 7), (365, 3)) if days <= limit), 0)


class _Planner:
    """Collects problems and warnings while the arguments are read."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.problems: list[str] = []
        self.more = 0
        self.warnings: list[str] = []

    def problem(self, text: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(text)
        else:
            self.more += 1

    def listing(self) -> list[str]:
        return [*self.problems, f"and {number_of(self.more, 'more problem')}"] if self.more else self.problems

    def check_discovery(self, discovery: str | None, needed_by: str | None) -> None:
        if discovery is None:
            return
        if discovery not in _DISCOVERY:
            close = difflib.get_close_matches(discovery, _DISCOVERY, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            self.problem(f"discovery={discovery!r}: expected links or sitemap{hint}")
        elif not needed_by:
            self.problem(
                f"discovery={discovery!r}: goes with url, seeds or sitemap; in an allowlist it is a key of each entry"
            )

    def check_below(self, below: str | None, *, pages_given: bool, others_given: bool) -> None:
        if below is not None and below not in (*_YES, "no"):
            self.problem(f"below={below!r}: expected yes or no")
        elif below in _YES and (others_given or not pages_given):
            self.problem("below: goes with url, whose folders it means; in an allowlist, include names the folders")

    def day(self, name: str, argument: str | None) -> str:
        """A day as it was given; empty where none was."""
        try:
            begins = parse_day(argument or "")
        except ValueError:
            begins = math.inf
        if argument == "" or (begins is not None and begins > self.clock() + _DAY):
            self.problem(f"{name}={argument!r}: expected a day that has begun, such as 2026-01-31")
        return argument or ""

    def urls(self, name: str, argument: str | None) -> list[str]:
        """The URLs of an argument, separated by commas, as they are to be requested."""
        if argument is None:
            return []
        pieces = [piece.strip() for piece in argument.split(",")]
        if not any(pieces):
            self.problem(f"{name}: empty, expected one or more http(s) URLs separated by commas")
            return []
        found = [(piece, address(piece, routes=True)) for piece in pieces if piece]
        for piece, url in found:
            if problem := behind_url(piece, "expected commas between URLs, and -a before each other argument"):
                self.problem(f"{name}: {problem}")
            elif url is None:
                comma = " (a comma inside a URL is written %2C)" if len(found) > 1 else ""
                self.problem(f"{name}: {not_a_url(piece)}{comma}")
        return [url.asked for _, url in found if url]

    def repositories(self, argument: str | None, page: str | None) -> list[Repository]:
        """The repositories of OAI-PMH that an argument names."""
        if argument is None:
            if page is not None:
                self.problem("oai_page: goes with oai, whose records it gives addresses")
            return []
        found: list[Repository] = []
        for piece in filter(None, (piece.strip() for piece in argument.split(","))):
            try:
                found.append(repository_of(piece, page or ""))
            except ValueError as error:
                self.problem(f"oai: {piece[:200]}: {error}")
        if not argument.strip(", "):
            self.problem("oai: empty, expected one or more http(s) URLs separated by commas")
        return found

    def allowlist(self, argument: str | None) -> list[AllowlistEntry]:
        if argument is None:
            return []
        if not (entries := self.read("allowlist", argument, read_allowlist)):
            return []
        expired = [f"{entry.domain} on {entry.expires}" for entry in entries if self.clock() >= entry.expires_at]
        for entry in entries:
            if not any(_entry_links(entry)):
                self.problem(
                    f"{argument}:{entry.line}: {entry.domain}: include and exclude leave no folder to start from: "
                    "list a sitemap or include a folder such as /docs/"
                )
        if len(expired) == len(entries):
            self.problem(
                f"{argument}: every licence has expired ({_some(expired)}): renew them and their 'expires' dates"
            )
        elif expired:
            self.warnings.append(f"{argument}: expired, nothing is fetched: {_some(expired)}")
        return entries

    def api(self, argument: str | None) -> ApiSource | None:
        return None if argument is None else self.read("api", argument, read_api)

    def read(self, name: str, argument: str, reader: Callable[[Path], T]) -> T | None:
        """What the reader makes of the file of an argument; its problems become ours."""
        try:
            return reader(_path(name, argument))
        except InputError as error:
            for problem in error.problems:
                self.problem(problem)
            return None

    def check_covered(self, name: str, pages: Iterable[str], covered: Scope) -> None:
        """A seed on a domain of the allowlist must be one the allowlist lets in."""
        for page in pages:
            admission = covered.admits(covered.canonical(page) or page, via="seed")
            if admission.entry is not None and not admission.ok:
                reason = admission.reason.replace("_", " ")
                self.problem(f"{name}: {page}: the allowlist says no ({reason}): change its entry for "
                             f"{admission.entry.domain} or leave the seed out")  # fmt: skip

    def seed_file(self, argument: str | None, covered: Scope) -> tuple[set[str], int]:
        """Hosts and number of the URLs in a seed file, every line checked."""
        hosts: set[str] = set()
        count = 0
        if argument is None:
            return hosts, count
        before = len(self.problems)
        try:
            for line in seed_lines(_path("seeds", argument)):
                if line.problem:
                    self.problem(f"{argument}:{line.number}: {line.problem}")
                    continue
                count += 1
                hosts.add(host_of(line.url))
                if covered.entries:
                    self.check_covered(f"{argument}:{line.number}", [line.url], covered)
        except InputError as error:
            self.problems += error.problems
        if not count and len(self.problems) == before:
            self.problem(f"{argument}: no URLs in it: expected one http(s) URL a line, # begins a comment")
        return hosts, count


def _host_scope(page_hosts: set[str], list_hosts: set[str], discovery: str | None) -> Scope:
    """`url` and `seeds` follow links unless told otherwise; `sitemap` keeps to its lists unless told otherwise."""
    if discovery == "links":
        return Scope(link_hosts=frozenset(page_hosts | list_hosts))
    if discovery == "sitemap":
        return Scope(listed_hosts=frozenset(page_hosts | list_hosts), robots_sitemap_hosts=frozenset(page_hosts))
    return Scope(link_hosts=frozenset(page_hosts), listed_hosts=frozenset(list_hosts))


def _entry_links(entry: AllowlistEntry) -> Iterator[Link]:
    """Given sitemaps; else the usual place, whose robots.txt names the others; with links the included folders too."""
    yield from map(_sitemap, entry.sitemaps)
    root = root_url(entry.domain)
    if entry.discovery == "links":
        starts = dict.fromkeys(patterns.literal_start(pattern) for pattern in entry.include or ("/",))
        yield from (_page(root + start) for start in starts if not entry.allows_path(start))
    elif not entry.sitemaps:
        yield _sitemap(f"{root}{USUAL_SITEMAP}")


def root_url(domain: str) -> str:
    """Where an allowlisted domain is asked first, without a path: by https, an IP literal or localhost by http."""
    local = ":" in politeness_scope(f"http://{domain}/")
    return f"{'http' if local else 'https'}://{domain}"


def _page(url: str, priority: int = SEED_PRIORITY) -> Link:
    return link_to(_address(url, routes=True), priority=priority)


def _sitemap(url: str, depth: int = 0) -> Link:
    return link_to(_address(url), priority=SITEMAP_PRIORITY, depth=depth, kind="sitemap")


def _address(url: str, *, routes: bool = False) -> Address:
    return address(url, routes=routes) or Address(url)


def _path(name: str, argument: str) -> Path:
    path = Path(argument)
    if not argument:
        raise InputError([f"{name}: empty, expected the path of a file"])
    try:
        is_there, is_file = path.exists(), path.is_file()
    except OSError as error:  # a folder above it that may not be entered
        raise InputError([f"{name}={argument}: cannot be read: {error.strerror}: check the permissions"]) from None
    if not is_there:
        raise InputError([f"{name}={argument}: no such file: check the path (now in {Path.cwd()})"])
    if not is_file:
        raise InputError([f"{name}={argument}: not a file: expected the path of a text file"])
    return path


def _some(items: list[str]) -> str:
    return ", ".join(items[:5]) + (f" and {len(items) - 5} more" if len(items) > 5 else "")
