"""What the scheduler asks of a spider: the seam between the frontier's leases and whoever reads their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.urls.canonicalize import Address


class LeasedSpider(Protocol):
    """A spider whose requests are leases (`request.meta["lease"]`); it settles each in one way or another."""

    name: str

    def parse(self, response: Response) -> Any:
        """A fetched page: Scrapy's callback."""

    def parse_sitemap(self, response: Response) -> Any:
        """A fetched sitemap file: Scrapy's callback."""

    def failed(self, failure: Failure) -> Any:
        """A request that brought no page, whatever the reason: Scrapy's errback."""


@runtime_checkable
class NamesUrls(Protocol):
    """A spider with canonical names of its own."""

    def address(self, url: str) -> Address | None:
        """What this crawl calls a URL, and how it was found; None where it is none."""


@runtime_checkable
class JoinsCrawl(Protocol):
    """A spider that has to know what all workers agreed on before it can judge a page."""

    @property
    def has_joined(self) -> bool:
        """True from then on: no URL is leased before."""


@runtime_checkable
class AdmitsSeeds(Protocol):
    """A spider that takes seeds while it runs, from the list `<name>:start_urls`."""

    name: str

    def admits_seed(self, url: str) -> bool:
        """True for a canonical URL that may enter the frontier."""
