"""One page for a person at the keyboard (`gristmill fetch`, `view`, `shell`): through guard and policy, kept nowhere.

The same guard, robots.txt, opt-out files and headers as in a crawl, at the same pace; no frontier, no corpus.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http.request import NO_CALLBACK

from crawler.document import Drop, DropReason
from crawler.frontier.model import Lease
from crawler.middlewares._meta import evidence_of
from crawler.middlewares.outcomes import Redirected
from crawler.policy.explain import because
from crawler.policy.headers import shown_url
from crawler.runtime import config_of
from crawler.spiders.failures import drop_of, redirect_of
from crawler.urls.canonicalize import Address, address
from crawler.urls.link import link_to

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

ASIDE: dict[str, Any] = {
    "SCHEDULER": "crawler.scheduler.inmemory.InMemoryScheduler",
    "ITEM_PIPELINES": {},
    "EXTENSIONS": {},
}
"""Settings of a crawler that asks and keeps nothing."""


class RefusedPageError(Exception):
    """The page is not shown; the message says which URL, why, and what explains more."""


@dataclass(slots=True)
class Page:
    """What is asked, and what came of it: a response, or why there is none."""

    request: Request
    follow: bool = True
    response: Response | None = None
    refusal: str = ""


class PageSpider(Spider):
    """`crawler_process.crawl(PageSpider, name="fetch", page=page)`. No `name`: `gristmill crawl` does not know it."""

    custom_settings: dict[Any, Any] | None = ASIDE
    page: Page

    async def start(self) -> AsyncIterator[Any]:
        """Ask once."""
        try:
            self.page.response = await ask(self.crawler, self.page.request, follow=self.page.follow)
        except RefusedPageError as error:
            self.page.refusal = str(error)
        requests: tuple[Any, ...] = ()
        for request in requests:  # what an async generator needs, although nothing is yielded from here
            yield request


async def ask(crawler: Crawler, request: Request, *, follow: bool) -> Response:
    """The page as the crawl would get it, redirects followed as far as it does. Raises: RefusedPageError."""
    config, link = config_of(crawler), link_to(_address(request.url))
    engine: Any = crawler.engine
    while True:
        url = link.asked
        lease = Lease(link=link)
        meta = {"lease": lease, "verbatim_url": True}
        asked = request.replace(url=url, callback=NO_CALLBACK, errback=None, dont_filter=True, meta=meta)
        try:
            response: Response = await engine.download_async(asked)
        except Redirected as error:
            if not follow:
                raise RefusedPageError(f"{url} redirects to {shown_url(error.target)}") from None
            target = redirect_of(error, lease, config.policy.max_redirects, address)
            if not isinstance(target, Address):
                raise _refused(url, asked, target, config.policy.optout_profile) from None
            link = link.redirected(target)
        except Exception as error:
            raise _refused(url, asked, drop_of(error), config.policy.optout_profile) from error
        else:
            return response


def _address(url: str) -> Address:
    found = address(url)
    if found is None:
        raise RefusedPageError(f"{url!r}: expected an absolute http or https URL, such as https://example.org/page")
    return found


def _refused(url: str, asked: Request, drop: Drop | None, profile: str) -> RefusedPageError:
    sentence = because(drop, evidence_of(asked).signals, "robots.txt disallows it", profile)[0]
    detail = f" ({drop.detail})" if drop and drop.detail and drop.detail not in sentence else ""
    why = f"`gristmill optout {url}` shows what decided"
    if drop and drop.reason is DropReason.NETWORK_FORBIDDEN:
        why = "--allow-local opens what is on this machine or in your own network"
    return RefusedPageError(f"{url}: {sentence}{detail}; {why}")
