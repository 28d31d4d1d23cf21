"""`gristmill dataset images`: asks for the images that kept pages name, through the middlewares of the crawl.

The same guard, robots.txt, opt-out files, headers, withdrawals and pace as for a page, hop by hop where a host
redirects. The pace is that of the corpus's frontier, shared with a crawl and with others like this, where there is one.
One image after the other of a host, hosts beside each other. Each ends as one line in the ledger of its folder, and its
bytes beside it: a death costs the images in flight.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http.request import NO_CALLBACK

from crawler.config import Config, ConfigError
from crawler.document import Drop, DropReason, Signal
from crawler.frontier.model import Lease
from crawler.images.folder import FETCHING, Folder
from crawler.images.grants import read_grants, refusal_of
from crawler.images.ledger import Fate
from crawler.images.limits import Limits
from crawler.images.outcomes import HOLD, KEPT, LICENCE_EXPIRED, OFF_SCOPE, ROBOTS, UNREACHABLE, WITHDRAWN
from crawler.images.signals import file_refusal, noimageindex
from crawler.middlewares._meta import evidence_of
from crawler.middlewares.outcomes import Held, TryLater
from crawler.policy.decide import protocol_of
from crawler.policy.headers import shown_url
from crawler.pool.pool import StagePool
from crawler.problems import InputError
from crawler.runtime import config_of, load
from crawler.scheduler.engine_view import EngineView
from crawler.scheduler.scheduler import clock_of, has_frontier
from crawler.scheduler.turned_away import PutBack
from crawler.seeds.scope import Scope
from crawler.server.errors import FrontierError
from crawler.server.location import is_at_hand
from crawler.spiders.failures import drop_of, redirect_of
from crawler.statkeys import FATAL
from crawler.storage.files.errors import StorageError
from crawler.storage.files.locks import WriterLock
from crawler.times import Clock, rfc3339
from crawler.urls.canonicalize import Address, address, politeness_scope
from crawler.urls.link import Link, link_to

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawler.images.decode import Decoded

ACCEPT = "image/avif,image/webp,image/png,image/jpeg,image/*;q=0.5"
KIND = "image"
"""Kind of the lease: neither a page nor a sitemap to the middlewares."""
_PUT_BACKS = 3
"""How often an image may be put back before its host is left alone: its turn is far away, or the crawl is paused."""
_ENDS = {
    DropReason.ROBOTS_DISALLOWED: ROBOTS,
    DropReason.GONE: "gone",
    DropReason.ACCESS_DENIED: "denied",
    DropReason.WITHDRAWN: WITHDRAWN,
    DropReason.TOO_LARGE: "too_large",
    DropReason.OFF_SCOPE: OFF_SCOPE,
    DropReason.LICENCE_EXPIRED: LICENCE_EXPIRED,
}


def read_arguments(arguments: Mapping[str, Any]) -> tuple[Folder, Limits, Scope | None]:
    """`-a folder=DIR -a limits=JSON [-a allowlist=FILE] [-a behind=pages]`. Raises: InputError."""
    import json

    if not arguments.get("folder") or set(arguments) - {"folder", "limits", "allowlist", "behind"}:
        raise InputError(["the spider images is started by `gristmill dataset images CORPUS_DIR --out DIR`"])
    limits = Limits(**json.loads(str(arguments.get("limits") or "{}")))
    scope = read_grants(str(arguments.get("allowlist") or ""))
    return Folder(Path(str(arguments["folder"]))), limits, scope


class ImagesSpider(Spider):
    """Started by `gristmill dataset images`."""

    name = "images"
    check_arguments = staticmethod(read_arguments)
    custom_settings: dict[Any, Any] | None = {  # noqa: RUF012  # Scrapy's name and place
        "SCHEDULER": "crawler.scheduler.inmemory.InMemoryScheduler",
        "ITEM_PIPELINES": {},
        "EXTENSIONS": {},
    }
    config: Config
    folder: Folder
    limits: Limits
    allowed: Scope | None
    pool: StagePool
    engine_view: EngineView
    _now: Clock
    behind_pages = False  # a host for which the crawl has pages is left to it
    is_broken = False  # the disk takes nothing more: nobody is asked for what would be lost

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Go by the pace of the corpus's frontier where it is at hand."""
        super().update_settings(settings)
        with suppress(ConfigError):  # `from_crawler` says what is wrong
            config = load(settings)
            if is_at_hand(config, config.crawl.corpus_dir):
                settings.set("SCHEDULER", "crawler.scheduler.guest.GuestScheduler", priority="spider")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Read the arguments. Raises: InputError."""
        spider = super().from_crawler(crawler, *args)
        spider.config = config_of(crawler)
        spider.folder, spider.limits, spider.allowed = read_arguments(kwargs)
        spider.behind_pages = "behind" in kwargs
        spider.engine_view = EngineView(crawler)
        spider._now = clock_of(crawler)
        from crawler.images.decode import start  # numpy, which a crawl of pages does not load here

        spider.pool = StagePool(spider.config, starter=start)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Ask for everything that has no final outcome yet."""
        assert self.crawler.stats is not None
        lock = WriterLock(self.folder.work / FETCHING)
        try:
            if not self.crawler.stats.get_value(FATAL):  # the frontier has none to tell
                await self._ask_alone(lock)
        except (StorageError, FrontierError) as error:
            self.crawler.stats.set_value(FATAL, str(error))
        finally:
            self.folder.ledger.close()
            lock.release()
            self.pool.close()
        requests: tuple[Any, ...] = ()
        for request in requests:  # what an async generator needs, although nothing is yielded from here
            yield request

    async def _ask_alone(self, lock: WriterLock) -> None:
        """A process that was started before may outlive who started it. Raises: StorageError."""
        if not lock.acquire_within(5.0):
            raise StorageError(f"{self.folder.root}: another process still asks for its images; wait for its end")
        await self._ask_all()

    async def _ask_all(self) -> None:
        known = self.folder.ledger.read()
        hosts: defaultdict[str, dict[str, str]] = defaultdict(dict)  # politeness scope → URL to ask by name
        open_ones = ((one.name in known, one.name, one.url) for one in self.folder.unasked(known))
        for _, name, url in sorted(open_ones, key=lambda one: one[0]):  # what failed before comes last
            hosts[politeness_scope(name, self.config.frontier.scope_by)].setdefault(name, url)
        room = asyncio.Semaphore(self.config.frontier.max_inflight)

        async def ask_host(images: dict[str, str]) -> None:
            async with room:
                await self._ask_host(images)

        ended = await asyncio.gather(*map(ask_host, hosts.values()), return_exceptions=True)
        for error in ended:
            if error is not None:
                raise error

    async def _ask_host(self, images: dict[str, str]) -> None:
        """One after the other; a host that fails again and again, or wants to be left alone, is left alone."""
        failed = 0
        for name, url in images.items():
            if self.engine_view.closing or self.is_broken or await self._comes_after_pages(name):
                return
            try:
                fate, data, rest = await self._tried(name, url)
            except PutBack:
                return
            try:
                await asyncio.to_thread(self.folder.ledger.add, fate, data)
            except StorageError:
                self.is_broken = True
                raise
            failed = failed + 1 if fate.outcome == UNREACHABLE else 0
            breaker = self.config.frontier.breaker_failures
            is_held = fate.outcome.partition(":")[0] == HOLD and not fate.redirects  # itself, not where it leads
            if rest or is_held or (breaker and failed >= breaker):
                return

    async def _comes_after_pages(self, url: str) -> bool:
        return self.behind_pages and has_frontier(self.crawler) and bool(await self._scheduler.has_pages_for(url))

    @property
    def _scheduler(self) -> Any:
        engine: Any = self.crawler.engine
        return engine.scheduler

    async def _tried(self, name: str, url: str) -> tuple[Fate, bytes, bool]:
        """The image's fate, its bytes, and whether its host is to be left alone in this run. Raises: PutBack."""
        pause = self.config.frontier.retry_backoff_seconds
        for attempt in range(self.config.frontier.retry_times + 1):
            try:
                fate, data = await self._at_its_turn(name, url)
            except TryLater as error:
                wait = pause * 2**attempt if error.not_before is None else error.not_before - self._now()
                if wait > self.config.frontier.patience_seconds:
                    return Fate(name, UNREACHABLE, error.drop.detail, url, rfc3339(self._now())), b"", True
                if attempt < self.config.frontier.retry_times and not self.engine_view.closing:
                    await asyncio.sleep(max(0.0, wait))
                last = error.drop.detail
                continue
            return fate, data, False
        return Fate(name, UNREACHABLE, last, url, rfc3339(self._now())), b"", False

    async def _at_its_turn(self, name: str, url: str) -> tuple[Fate, bytes]:
        """Nothing was sent for what is put back: it costs no try. Raises: TryLater, PutBack."""
        for put_back in range(1, _PUT_BACKS + 1):
            try:
                return await self._once(name, url)
            except PutBack as error:
                wait = error.not_before - self._now()
                is_far = wait > self.config.frontier.patience_seconds
                if put_back == _PUT_BACKS or is_far or self.engine_view.closing:
                    raise
                await asyncio.sleep(max(0.0, wait))
        raise AssertionError("the last time raises")

    async def _once(self, name: str, url: str) -> tuple[Fate, bytes]:
        """Redirects are followed hop by hop; each is asked as if a page had named it. Raises: TryLater, PutBack."""
        found = address(url)
        link = link_to(found or Address(name), kind=KIND)
        while True:
            request = self._request(link)
            if (refusal := self._outside(link.url)) is not None:
                return self._fate(name, request, refusal), b""
            engine: Any = self.crawler.engine
            try:
                response: Response = await engine.download_async(request)
            except (PutBack, FrontierError):
                raise
            except TryLater as error:
                if error.host_wide and error.not_before is not None:  # nobody else asks it either
                    frontier = self._scheduler.frontier
                    scope = frontier.scope_of(link.url)
                    await frontier.politeness.block(scope, error.not_before, error.drop.reason.value)
                raise
            except Exception as error:
                target = redirect_of(error, Lease(link=link), self.config.policy.max_redirects, address)
                if isinstance(target, Address):
                    link = link.redirected(target)
                    continue
                is_hold = isinstance(error, Held)
                return self._fate(name, request, target or drop_of(error), is_hold=is_hold), b""
            return await self._judged(name, request, response)

    def _request(self, link: Link) -> Request:
        meta = {"lease": Lease(link=link), "verbatim_url": True, "download_maxsize": self.limits.max_bytes}
        return Request(link.asked, callback=NO_CALLBACK, dont_filter=True, meta=meta, headers={"Accept": ACCEPT})

    def _outside(self, url: str) -> Drop | None:
        """What the allowlist that was given says."""
        if self.allowed is None:
            return None
        if refusal := refusal_of(self.allowed, url):
            expired = refusal == LICENCE_EXPIRED
            return Drop("frontier", DropReason.LICENCE_EXPIRED if expired else DropReason.OFF_SCOPE, shown_url(url))
        until, hours = self.allowed.opens_at(url)
        return Drop("frontier", DropReason.HOLD_HOURS, f"asked only at {hours}") if until else None

    async def _judged(self, name: str, request: Request, response: Response) -> tuple[Fate, bytes]:
        fate, earlier = self._noted(name, request), list(evidence_of(request).signals)
        fate.status = response.status
        if noimageindex(earlier, self.config):
            fate.outcome, fate.detail = "optout:noimageindex", "X-Robots-Tag"
            return fate, b""
        from crawler.images.decode import decode

        decoded = await self.pool.call(decode, response.body, self.limits)
        if isinstance(decoded, Drop):
            fate.outcome, fate.detail = decoded.reason.value, decoded.detail
            return fate, b""
        outcome, detail, said = file_refusal(decoded.statements, earlier, self.config, response.url)
        fate.signals += map(_plain, said)
        fate.outcome, fate.detail = (outcome, detail) if outcome else (decoded.outcome or KEPT, decoded.detail)
        fate.facts = _facts(decoded) if fate.outcome == KEPT else {}
        return fate, decoded.data if fate.outcome == KEPT else b""

    def _fate(self, name: str, request: Request, drop: Drop, *, is_hold: bool = False) -> Fate:
        fate = self._noted(name, request)
        fate.outcome, fate.detail = outcome_of(drop, is_hold=is_hold or drop.reason.is_hold), drop.detail
        return fate

    def _noted(self, name: str, request: Request) -> Fate:
        evidence = evidence_of(request)
        return Fate(
            name, "", url=request.url, time=rfc3339(self._now()), redirects=list(request.meta["lease"].link.redirects),
            robots_status=evidence.robots_status, robots_sha256=evidence.robots_sha256,
            robots_fetched_at=evidence.robots_fetched_at, signals=[_plain(s) for s in evidence.signals],
            files=[[f.url, f.protocol, f.sha256, f.fetched_at] for f in evidence.files],
        )  # fmt: skip


def outcome_of(drop: Drop, *, is_hold: bool = False) -> str:
    """The outcome that a verdict of the middlewares is; see `crawler/images/outcomes.py`."""
    if is_hold:
        return f"{HOLD}:{drop.reason.value}"
    if drop.reason is DropReason.OPTOUT:
        return f"optout:{protocol_of(drop)}"
    if drop.stage == "guard":
        return f"guard:{drop.reason.value}"
    return _ENDS.get(drop.reason, f"fetch:{drop.reason.value}")


def _plain(signal: Signal) -> list[str]:
    return [signal.protocol, signal.carrier, signal.value, signal.verdict]


def _facts(decoded: Decoded) -> dict[str, Any]:
    facts = asdict(decoded)
    for name in ("data", "statements", "outcome", "detail"):
        del facts[name]
    return facts
