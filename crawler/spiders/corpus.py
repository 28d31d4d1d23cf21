"""The live crawl: what is on the page? Links back to the frontier, one Document onward.

The spider holds no rules. Scope comes from the seeds, permission from the middlewares, judgement from the stages. It
keeps one promise itself: a page's links are in the frontier before the page's own outcome can be acknowledged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from scrapy import Spider

from crawler.browser.memory import DomainMemory
from crawler.browser.tiers import Tiers
from crawler.config import Config
from crawler.document import Document, Drop, DropReason
from crawler.documents.from_response import blank_document, document_of
from crawler.frontier.model import Lease, PutStatus
from crawler.frontier.seeding import SharedScope, join_scope
from crawler.middlewares._meta import header_lines
from crawler.middlewares.outcomes import NotModified
from crawler.middlewares.scrapy_signals import robots_sitemaps
from crawler.middlewares.withdrawn import refused_in
from crawler.pipelines.duplicate_index import release
from crawler.pipelines.segments import first_segment
from crawler.policy.decide import decide_unread
from crawler.policy.headers import values_of
from crawler.pool.pool import StagePool, pool_of
from crawler.recrawl.decay import DecayLimits, Moves, tombstone
from crawler.recrawl.visit import Visit, content_hash, recall, tell_history
from crawler.runtime import config_of
from crawler.scheduler.revisits import FOREVER_SECONDS
from crawler.scheduler.scheduler import clock_of
from crawler.seeds.api import ApiReader
from crawler.seeds.arguments import judged
from crawler.seeds.feeds import Feeds
from crawler.seeds.oai import Harvest, OaiReader
from crawler.seeds.plan import SeedPlan, sitemap_links
from crawler.seeds.scope import AdmissionReason
from crawler.spiders.arguments import read_arguments
from crawler.spiders.failures import next_of, outcome_of, redirect_of, unspelled
from crawler.spiders.rights import Rights
from crawler.spiders.unread import UnreadSitemaps
from crawler.spiders.withdrawn_seeds import WithdrawnSeeds
from crawler.stages.tiers import has_too_little
from crawler.statkeys import (
    CAPPED,
    OUTSIDE,
    PUT,
    RESPELLED,
    SEEDS,
    SEEDS_KNOWN,
    SEEDS_REFUSED,
    SITEMAPS,
    SITEMAPS_UNCHANGED,
    TRAPPED,
)
from crawler.urls.canonicalize import Address
from crawler.urls.link import SITEMAP_PRIORITY, Link, link_to, links_on, source_id
from crawler.urls.rel_canonical import targets
from crawler.urls.tracking import extended_policy
from crawler.urls.traps import trap_reason

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response
    from twisted.python.failure import Failure

    from crawler.scheduler.scheduler import Scheduler
    from crawler.seeds.oai import Repository
    from crawler.seeds.scope import Scope, Via
    from crawler.seeds.sitemaps import ListReader
    from crawler.times import Clock


HARVESTED = "oai:"
"""Blob, followed by the name of a `Repository`: the day on which its last whole harvest began (ISO 8601)."""


class CorpusSpider(Spider):
    """`gristmill crawl corpus -a url=… | sitemap=… | seeds=FILE | allowlist=FILE | api=FILE | oai=… [-a …]`."""

    name = "corpus"
    check_arguments = staticmethod(read_arguments)
    config: Config
    plan: SeedPlan
    shared: SharedScope | None = None
    pool: StagePool
    tiers: Tiers
    hop: tuple[str, ...]
    moves: Moves
    feeds: Feeds
    rights: Rights
    decay: DecayLimits
    unread: UnreadSitemaps
    now: Clock

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Read and check the arguments.

        Raises: InputError naming every problem.
        """
        spider = super().from_crawler(crawler, *args)
        spider.config = config_of(crawler)
        spider.plan = read_arguments(kwargs, extended_policy(spider.config.frontier.tracking_params))
        spider.unread = UnreadSitemaps(str(kwargs.get("sitemap") or ""), lambda: spider.scope, crawler)
        spider.now = clock_of(crawler)
        spider.pool = pool_of(crawler)
        spider.moves = Moves()
        spider.feeds = Feeds()
        spider.rights = Rights(lambda: spider.frontier.frontier.shared)
        frontier = spider.config.frontier
        if not frontier.recrawl:  # a second run may have no page for it
            spider.pool.start_loading()
        spider.decay = DecayLimits(frontier.recrawl_decay_yield, frontier.recrawl_decay_quality)
        spider.hop = first_segment(crawler.settings)
        browser = spider.config.browser
        memory = DomainMemory(lambda: spider.frontier.shared, browser.direct_after, browser.probe_seconds)
        spider.tiers = Tiers(crawler, spider.pool, spider.hop, memory)
        crawler.signals.connect(spider.found_sitemaps, robots_sitemaps)
        return spider

    @property
    def frontier(self) -> Scheduler:
        """The scheduler, which is this worker's access to the shared frontier."""
        return cast("Scheduler", self.crawler.engine.scheduler)

    @property
    def scope(self) -> Scope:
        """What the crawl may fetch, as all workers last agreed on it; the command line's own before they did."""
        return self.shared.scope if self.shared is not None else self.plan.scope

    @property
    def has_joined(self) -> bool:
        """The frontier's question before the first lease: pages are judged by the scope that all workers share."""
        return self.shared is not None

    def admits_seed(self, url: str) -> bool:
        """The frontier's question about seeds that come in through the `corpus:start_urls` list."""
        return bool(self._admitted([Link(url)], "seed"))

    def address(self, url: str) -> Address | None:
        """What this crawl calls a URL, and how it was found; None where it is none. Every URL from outside passes."""
        return self.scope.address(url)

    async def start(self) -> AsyncIterator[Any]:
        """Put the seeds into the frontier; from then on requests come from there."""
        await self._put_seeds()
        requests: tuple[Any, ...] = ()
        for request in requests:  # what an async generator needs, although nothing is yielded from here
            yield request

    async def _put_seeds(self) -> None:
        for warning in self.plan.warnings:
            self.logger.warning(warning)
        client, withdrawn = self.frontier.frontier, WithdrawnSeeds(refused_in(self.crawler))
        self.shared = SharedScope(client, await join_scope(client, self.plan.scope))
        for given in self.plan.batches():
            batch = list(given)
            seeds = self._admitted(batch, "seed")  # a stored allowlist may be stricter than the arguments
            statuses = await self._put(seeds)
            withdrawn.look(seeds, statuses)
            answers = Counter(statuses)
            self._count(SEEDS, len(seeds))
            self._count(SEEDS_KNOWN, answers[PutStatus.SEEN])
            self._count(f"{SEEDS_REFUSED}/outside", len(batch) - len(seeds))
            self._count(f"{SEEDS_REFUSED}/withdrawn", answers[PutStatus.BLOCKED])
        if withdrawn.count:
            self.logger.warning("%s", withdrawn)

    async def parse(self, response: Response) -> AsyncIterator[Document]:
        """One fetched page: through the stages, its links into the frontier, then onward."""
        lease: Lease = response.meta["lease"]
        scope = await self._scope_for(lease.url)
        doc = document_of(response, lease, self.config, scope, clock=self.now)
        if scope.repositories and doc.license_tag is None and doc.exchange is not None:
            doc.license_tag = doc.exchange.license_tag = await self.rights.of(lease)
        if lease.visit is not None:
            recall(doc, lease.visit)
            await self._compare(doc, lease.visit)
        tell_history(doc, lease.visit)
        if doc.verdict is None:
            doc = await self.tiers.judged(doc, response, scope.entry_of(lease.url))
            self._count(f"{TRAPPED}/too_long", doc.links_too_long)
            self._count(f"{CAPPED}/links", doc.links_beyond)
            await self.put_links(self._links_of(doc), lease, dict(zip(doc.links, doc.link_marks, strict=False)))
            await self._put_feeds(doc, lease)
            if lease.visit is not None:
                doc.verdict = tombstone(doc, lease.visit.past, self.decay) or doc.verdict
            if await self._leads_on(doc, lease):
                return
        yield doc

    async def _leads_on(self, doc: Document, lease: Lease) -> bool:
        """A page that only leads elsewhere, by a refresh or a script, is a redirect, as one that the server sends.

        True where the URL is asked again, in another spelling: nothing is to be recorded yet.
        """
        if target := _onward(doc):
            onward = next_of(target, lease, self.config.policy.max_redirects, self.address)
            doc.verdict, doc.exchange = await self._follow(onward, lease), None
            return doc.verdict is None
        return False

    async def _put_feeds(self, doc: Document, lease: Lease) -> None:
        """The feeds that a page names are read like sitemaps, as many of a host as its domain is given."""
        found = {to.name: to for feed in doc.feeds if (to := self.address(feed))}
        new = self.feeds.new(found, lambda url: self.scope.most_feeds(url, self.config.frontier.feeds))
        lists = [link_to(found[url], priority=SITEMAP_PRIORITY, kind="sitemap") for url in new]
        await self._put(self._admitted(lists, "feed"), lease)

    def _links_of(self, doc: Document) -> list[Address]:
        """The links of a page: first the page that it names as its original, last the one that its script leads to."""
        links = [Address(name, doc.link_spellings.get(name, "")) for name in doc.links]
        if doc.nofollow:
            return links
        named = self.address(doc.canonical_link) if doc.canonical_link else None
        onward = self.address(_onward(doc))  # followed as a redirect
        moved_to = None if onward else self.address(_moved_to(doc))
        found: dict[str, Address] = {}
        for to in (named, *links, moved_to):
            if to is not None and not (to is named and to.name == doc.canonical_url):
                found.setdefault(to.name, to)
        if onward is not None:
            found.pop(onward.name, None)
        return list(found.values())

    async def _compare(self, doc: Document, visit: Visit) -> None:
        """The same body as last time needs no second look, unless something is said now that it would have to lift."""
        doc.content_hash = await content_hash(doc.html)
        reserved = decide_unread(doc.optout_signals, self.config.policy.optout_profile, doc.url)
        if visit.holds(doc.content_hash) and reserved is None:
            doc.verdict = Drop("fetch", DropReason.UNCHANGED, "same content hash")
            doc.html = b""

    async def parse_sitemap(self, response: Response) -> None:
        """One sitemap file: its pages and nested files into the frontier; the file itself is only counted."""
        lease: Lease = response.meta["lease"]
        doc = document_of(response, lease, self.config, await self._scope_for(lease.url), clock=self.now)
        harvest = Harvest.of(lease.link)
        if not _repositories_of(self.scope, lease):  # what a repository answers leads on although it is the same
            doc.content_hash = await content_hash(response.body)
        if lease.visit is not None and doc.content_hash and lease.visit.holds(doc.content_hash):
            doc.verdict = Drop("fetch", DropReason.UNCHANGED, "same content hash")
        elif not (lease.visit and harvest and lease.visit.fetched_at >= harvest.stamp):
            # else a list that failed comes back (RECRAWL): another harvest asks for all that it named
            await self._read_sitemap(response, lease, doc.content_type)
        await self._settle_sitemap(doc, lease, is_remembered=harvest is None)

    async def _read_sitemap(self, response: Response, lease: Lease, content_type: str) -> None:
        reader = await self._reader_of(response, lease)
        sitemap = await self.pool.sitemap(response.body, response.url, lease.link.depth, reader, content_type)
        for problem in sitemap.problems:
            self.logger.warning("sitemap %s: %s", response.url, problem)
        listed, own = sitemap_links(sitemap, nesting=lease.link.depth, now=self.now()), source_id(lease.url)
        via: Via = "record" if sitemap.kind == "oai" else "sitemap"
        found = self._admitted([replace(link, source=own) for link in listed], via)
        if sitemap.stopped or (sitemap.problems and not (sitemap.entries or sitemap.nested)):
            self.unread.unreadable(lease, sitemap.stopped or sitemap.problems[0])
        for why, count in sitemap.left_out.items():
            self._count(f"{OUTSIDE}/{why}", count)
        if sitemap.rights:
            await self.rights.keep(own, sitemap.rights)
        await self._put(found, lease)
        await self.frontier.hasten([*found, *(Link(gone.url, lastmod=self.now()) for gone in sitemap.deleted)])
        if sitemap.harvested and sitemap.harvested[1]:
            name, day = sitemap.harvested
            await self.frontier.frontier.shared.put_blob(HARVESTED + name, day.encode(), FOREVER_SECONDS)

    async def _reader_of(self, response: Response, lease: Lease) -> ListReader | None:
        """What reads a list that is no sitemap."""
        if (source := self.scope.source_of_list(lease.url)) is not None:
            named = targets(values_of(header_lines(response.headers), b"link"), response.url, "next")
            return ApiReader(source, named[0] if named else "")
        if not (repositories := _repositories_of(self.scope, lease)):
            return None
        blobs = [await self.frontier.frontier.shared.get_blob(HARVESTED + one.name) for one in repositories]
        since = {one.name: (blob or b"").decode() for one, blob in zip(repositories, blobs, strict=True)}
        return OaiReader(repositories, Harvest.of(lease.link), since, self.now())

    async def _settle_sitemap(self, doc: Document, lease: Lease, *, is_remembered: bool = True) -> None:
        self._count(SITEMAPS if doc.verdict is None else SITEMAPS_UNCHANGED)
        await self.frontier.settle(lease.token, doc if is_remembered else None)

    async def failed(self, failure: Failure) -> AsyncIterator[Document]:
        """A request that brought no page: recorded, tried again, put on hold or followed to its new place."""
        request: Request = failure.request  # type: ignore[attr-defined]  # set by Scrapy before the errback
        lease: Lease = request.meta["lease"]
        scope = await self._scope_for(lease.url)
        if isinstance(failure.value, NotModified):
            doc = document_of(failure.value.response, lease, self.config, scope, clock=self.now)
        else:
            doc = blank_document(request, lease, self.config, scope, self.now())
        if lease.visit is not None:
            recall(doc, lease.visit)
        target = redirect_of(failure.value, lease, self.config.policy.max_redirects, self.address)
        if target is not None:
            await release(self.crawler, doc)  # before the target is asked, which may have the text now
            doc.verdict = await self._follow(target, lease)
        else:
            doc.verdict = await outcome_of(failure, lease, self.frontier)
            if (name := unspelled(doc.verdict, lease)) is not None:
                doc.verdict = await self._follow(name, lease)
        if doc.verdict is None:
            return
        if lease.kind == "sitemap" and isinstance(failure.value, NotModified):
            await self._settle_sitemap(doc, lease)
            return
        if lease.kind == "sitemap" and target is None:
            self.unread.refused(lease, doc.verdict.reason, doc.verdict.detail)
        tell_history(doc, lease.visit)
        yield doc

    async def _scope_for(self, url: str) -> Scope:
        assert self.shared is not None, "requests come after start()"
        return await self.shared.covering(url)

    async def put_links(self, links: Iterable[Address], lease: Lease, marks: Mapping[str, int] | None = None) -> None:
        """Put the links that the scope admits into the frontier, one level deeper than their page.

        `marks`: where a link stood (`Document.link_marks`); 0 where they do not say.
        """
        depth, limit = lease.link.depth + 1, self.config.frontier.depth_limit
        if not self.scope.follows_links(lease.url):
            return
        marks, run = marks or {}, lease.link.run + 1
        marked = ((to, marks.get(to.name, 0)) for to in links)
        found = links_on(lease.url, marked, depth=depth, run=run)
        admitted = self._admitted(found, "link")
        if limit and depth > limit:
            self._count(f"{CAPPED}/depth", len(admitted))
        else:
            await self._put(admitted, lease)

    async def found_sitemaps(self, authority: str, urls: list[str]) -> None:
        """robots.txt of a host named sitemaps: they are fetched like pages, where the scope wants them."""
        if self.scope.uses_robots_sitemaps(authority):
            named = [to for line in urls if (to := self.address(line)) is not None]
            self.unread.robots_names(authority, [to.name for to in named])
            found = [link_to(to, priority=SITEMAP_PRIORITY, kind="sitemap") for to in named]
            await self._put(self._admitted(found, "sitemap"))

    def _admitted(self, links: Iterable[Link], via: Via) -> list[Link]:
        """The links that the scope lets in; the others are counted by reason."""
        admitted, excluded = [], Counter[str]()
        for given in links:
            link, admission = judged(self.scope, given, via)
            if admission.ok:
                admitted.append(link)
            else:
                excluded[admission.reason] += 1
        for reason, count in excluded.items():
            self._count(f"{OUTSIDE}/{reason}", count)
        return admitted

    async def _follow(self, to: Address | Drop, lease: Lease) -> Drop | None:
        """The verdict on a URL that leads to another one; None where that is itself, which is then asked again."""
        if isinstance(to, Drop):
            return to
        target, link = to.asked, lease.link.redirected(to)
        scope = await self._scope_for(to.name)
        via: Via = "redirect" if scope.knows(lease.url) else "record"  # a DOI leads on: nothing else is let in by name
        link, admission = judged(scope, link, via)
        if admission.ok and link.url == lease.url:
            self._count(RESPELLED)
            await self.frontier.respell(lease.token, link)
            return None
        if not admission.ok:
            self._count(f"{OUTSIDE}/{admission.reason}")
            expired = admission.reason is AdmissionReason.LICENCE_EXPIRED
            reason = DropReason.LICENCE_EXPIRED if expired else DropReason.OFF_SCOPE
            return Drop("frontier", reason, f"redirects to {target}"[:512])
        asked_before = any(to.name == link.url for to in map(self.address, link.redirects) if to)
        await self._put([replace(link, again=asked_before)], lease)
        if lease.visit is not None and lease.visit.was_kept and self.moves.is_generic(lease.url, link.url):
            return Drop("recrawl", DropReason.MOVED, f"redirects to {target}"[:512])
        return Drop("frontier", DropReason.REDIRECTED, target[:512])

    async def _put(self, links: list[Link], parent: Lease | None = None) -> list[PutStatus]:
        if not links:
            return []
        answers = await self.frontier.put(links, parent.token if parent else None)
        for status, count in Counter(answers).items():
            self._count(f"{PUT}/{status}", count)
        for link, status in zip(links, answers, strict=True):
            if status is PutStatus.TRAPPED:
                self._count(f"{TRAPPED}/{trap_reason(link.url)}")
            elif status is PutStatus.CAPPED:
                self._count(f"{CAPPED}/pages")
            elif status is PutStatus.FULL:
                self._count(f"{CAPPED}/bytes")
        return answers

    def _count(self, key: str, n: int = 1) -> None:
        assert self.crawler.stats is not None
        if n:
            self.crawler.stats.inc_value(key, n)


def _repositories_of(scope: Scope, lease: Lease) -> tuple[Repository, ...]:
    """What is wanted of the repository that this list is of, also where redirects led to it."""
    found = (scope.repositories_of(url) for url in (lease.url, *lease.link.redirects))
    return next(filter(None, found), ())


def _onward(doc: Document) -> str:
    """Where a page that is none itself leads; empty for all others."""
    if doc.verdict is not None and doc.verdict.reason is DropReason.REDIRECTED:
        return doc.refresh.url if doc.refresh else ""
    return _moved_to(doc) if has_too_little(doc) else ""


def _moved_to(doc: Document) -> str:
    """Where a script of the page led to in the browser; empty where it stayed."""
    return str(doc.render_signals.get("browser", {}).get("moved_to", ""))
