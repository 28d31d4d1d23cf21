"""A page that only the browser can read is not fetched while too many wait for the browser: the others go on.

Bodies that wait are what Scrapy counts before it stops fetching. Without this a few sites of shells would hold up every
other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.frontier.model import Lease
from crawler.scheduler.scheduler import frontier_of
from crawler.scheduler.turned_away import PutBack
from crawler.statkeys import BROWSER_WAITED

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class BrowserRoomMiddleware:
    """Gives leases of such domains back, and lets the domain rest until there is room."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The spider is there when requests come."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Raises: PutBack."""
        lease, spider = request.meta.get("lease"), self._crawler.spider
        tiers: Any = getattr(spider, "tiers", None)
        if tiers is None or not isinstance(lease, Lease) or lease.kind != "page":
            return
        scope: Any = getattr(spider, "scope", None)
        wait = tiers.wait(lease.url, scope.entry_of(lease.url))
        if wait and (frontier := frontier_of(self._crawler)) is not None:
            until = frontier.frontier.now() + wait
            assert self._crawler.stats is not None
            self._crawler.stats.inc_value(BROWSER_WAITED)
            await frontier.block(lease.url, until, "browser_busy")
            raise PutBack(until)
