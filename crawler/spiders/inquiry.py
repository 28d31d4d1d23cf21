"""`gristmill optout`: a few URLs taken through the crawl's own middlewares and opt-out stage. Nothing is kept.

The same guard, robots.txt, opt-out files, headers and body checks as in a crawl, at the same pace and under the same
name; only the scheduler is one that forgets. The class has no `name`, so `gristmill crawl` does not know it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from crawler.config import Config
from crawler.document import Drop, Signal
from crawler.documents.from_response import document_of
from crawler.frontier.model import Lease
from crawler.middlewares._meta import evidence_of
from crawler.middlewares.control_files import ControlFiles, authority_of, path_of
from crawler.middlewares.optout_files import OptOutFiles
from crawler.middlewares.outcomes import Denied, Held, TryLater
from crawler.middlewares.robots import control_files_of
from crawler.policy.decide import decide_files, decide_robots, decide_unread
from crawler.policy.explain import Explanation, FileRead, answer_of, because, file_read, robots_sentence
from crawler.policy.robots import answer as robots_fetch
from crawler.policy.robots.answer import RobotsRecord
from crawler.policy.robots.parse import RobotsFile, parse
from crawler.policy.signals.base import Context
from crawler.policy.survey import Survey, survey
from crawler.problems import InputError
from crawler.runtime import config_of
from crawler.seeds.scope import Scope
from crawler.spiders.failures import drop_of, next_of, redirect_of
from crawler.stages.chain import Chain
from crawler.urls.canonicalize import Address, address
from crawler.urls.link import link_to
from crawler.urls.refresh import is_redirect
from crawler.urls.resolve import resolve

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.scheduler.inmemory import InMemoryFrontier
STAGES = ("parse", "optout")


@dataclass(slots=True)
class Inquiry:
    """What is asked, and the answers as they come. `hosts` are scheme://host:port, asked without fetching a page."""

    urls: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    explanations: list[Explanation] = field(default_factory=list)
    surveys: list[Survey] = field(default_factory=list)


def inquiry_about(urls: list[str], domains: str | None) -> Inquiry:
    """The questions. `domains` are separated by commas, each a host or scheme://host.

    Raises: InputError naming what is no http(s) URL.
    """
    problems: list[str] = []
    pages = [_asked(url, problems) for url in urls]
    given = [item.strip() for item in (domains or "").split(",") if item.strip()]
    fronts = [_asked(item if "://" in item else f"https://{item}/", problems) for item in given]
    if problems:
        raise InputError(problems)
    return Inquiry(pages, [authority_of(url) for url in fronts])


def _asked(url: str, problems: list[str]) -> str:
    found = address(url)
    if found is None:
        problems.append(f"{url!r}: expected an absolute http or https URL, such as https://example.org/page")
        return ""
    return found.asked


class InquirySpider(Spider):
    """`crawler_process.crawl(InquirySpider, name="optout", inquiry=inquiry)`."""

    custom_settings: dict[Any, Any] | None = {  # noqa: RUF012  # Scrapy's name and place
        "SCHEDULER": "crawler.scheduler.inmemory.InMemoryScheduler",
        "ITEM_PIPELINES": {},
        "EXTENSIONS": {},
    }
    inquiry: Inquiry
    config: Config
    chain: Chain
    robots: ControlFiles[RobotsFile]
    optout_files: OptOutFiles

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Read the settings."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.config = config_of(crawler)
        spider.chain = Chain(spider.config, STAGES)
        spider.robots, spider.optout_files = control_files_of(crawler)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Ask about one URL after the other."""
        for host in self.inquiry.hosts:
            self.inquiry.surveys.append(await self._survey(host))
        for url in self.inquiry.urls:
            self.inquiry.explanations.append(await self._explain(url))
        requests: tuple[Any, ...] = ()
        for request in requests:  # what an async generator needs, although nothing is yielded from here
            yield request

    # --- one page ----------------------------------------------------------------------------------------------------
    async def _explain(self, url: str) -> Explanation:
        link = link_to(address(url) or Address(url))
        files: dict[str, FileRead] = {}
        while True:
            url, lease = link.asked, Lease(link=link)
            meta = {"lease": lease, "verbatim_url": True}
            request = Request(url, callback=NO_CALLBACK, dont_filter=True, meta=meta)
            drop, signals, passing, target = await self._ask(request, lease)
            files |= {file.url: file for file in self._files_of(authority_of(url))}
            if target is None:
                break
            link = link.redirected(target)
        record = self._robots_record(authority_of(url))
        says = robots_sentence(record, path_of(url), self.config.crawl.product_token)
        return Explanation(
            url=url,
            answer=answer_of(drop, passing=passing),
            because=because(drop, signals, says, self.config.policy.optout_profile),
            reason=drop.reason.value if drop else "",
            files=list(files.values()),
            signals=signals,
            redirects=list(link.redirects),
        )

    async def _ask(self, request: Request, lease: Lease) -> tuple[Drop | None, list[Signal], bool, Address | None]:
        """The verdict, the signals seen, whether it may pass, and where a redirect leads."""
        engine: Any = self.crawler.engine
        try:
            response: Response = await engine.download_async(request)
        except IgnoreRequest as error:
            target = redirect_of(error, lease, self.config.policy.max_redirects, address)
            drop = target if isinstance(target, Drop) else drop_of(error)
            signals = evidence_of(request).signals
            return drop, signals, isinstance(error, (Held, TryLater)), _if_address(target)
        doc = document_of(response, lease, self.config, Scope())
        doc = await asyncio.to_thread(self.chain.run, doc, STAGES)
        if doc.verdict is None and doc.refresh is not None and is_redirect(doc.refresh):
            onward = next_of(doc.refresh.url, lease, self.config.policy.max_redirects, address)
            return onward if isinstance(onward, Drop) else None, doc.optout_signals, False, _if_address(onward)
        return doc.verdict, doc.optout_signals, False, None

    # --- one host ----------------------------------------------------------------------------------------------------
    async def _survey(self, authority: str) -> Survey:
        config = self.config
        context = Context(config.crawl.product_token, config.policy.optout_profile, time.time())
        signals: list[Signal] = []
        record: RobotsRecord | None = None
        parsed: RobotsFile | None = None
        try:
            record, parsed = await self.robots.get(f"{authority}/robots.txt")
            verdict = decide_robots(
                record, parsed, "/", product_token=context.product_token, profile=context.profile, now=context.now
            )
            drop, signals = verdict.drop, list(verdict.signals)
            if verdict.robots_status not in {"denied", "unreachable"}:
                found = await self.optout_files.signals(authority, "/", parsed, context)
                signals += found
                drop = drop or decide_files(found, context.profile).drop
                drop = drop or decide_unread(
                    found, context.profile, f"{authority}/"
                )  # no page is read that could lift it
        except (Denied, Held) as refusal:
            drop = refusal.drop
        return survey(
            authority,
            record,
            parsed,
            drop=drop,
            signals=signals,
            files=self._files_of(authority),
            product_token=context.product_token,
            profile=context.profile,
        )

    # --- what was read -----------------------------------------------------------------------------------------------
    @property
    def _blobs(self) -> dict[str, bytes]:
        engine: Any = self.crawler.engine
        frontier: InMemoryFrontier = engine.scheduler.frontier
        return frontier.blobs

    def _robots_record(self, authority: str) -> RobotsRecord | None:
        blob = self._blobs.get(f"robots:{authority}/robots.txt")
        return robots_fetch.load(blob) if blob else None

    def _files_of(self, authority: str) -> list[FileRead]:
        """The control files of a host, and the licences that its robots.txt names, in the order they were asked."""
        found: dict[str, FileRead] = {}
        for key, blob in self._blobs.items():
            kind, _, url = key.partition(":")
            record = robots_fetch.load(blob)
            if record and (authority_of(url) == authority or url in self._licences(authority)):
                path = urlsplit(url).path
                name = path.rpartition("/")[2]
                shown = kind if kind == "rsl" else name if name not in found else path.lstrip("/")
                found[url if kind == "rsl" else shown] = file_read(shown, url, record)
        return list(found.values())

    def _licences(self, authority: str) -> set[str]:
        record = self._robots_record(authority)
        if record is None:
            return set()
        named = parse(record.body).records_for(self.config.crawl.product_token, "license")
        return {resolve(f"{authority}/robots.txt", item.value) or item.value for item in named}


def _if_address(found: Address | Drop | None) -> Address | None:
    return found if isinstance(found, Address) else None
