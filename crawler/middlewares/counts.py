"""Counts requests, and what they weighed, once it is known that they count: one that was put back has cost nothing.

CLOSESPIDER_PAGECOUNT goes by this count: Scrapy's own knows only answers that come to a callback, robots.txt among them
and no 304, redirect or failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.extensions.closespider import CloseSpider

from crawler.config.limits import Limits
from crawler.middlewares._meta import is_control_file
from crawler.scheduler.scheduler import frontier_of
from crawler.scheduler.stopping import close_soon
from crawler.scheduler.turned_away import PutBack
from crawler.statkeys import PAGE_REQUESTS, RESPONSE_BYTES

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_BEGUN = "begun_to_count"
"""Key in `request.meta`: the request is on its way to the downloader and not counted yet."""


class CountsMiddleware(DownloaderStats):
    """Scrapy's counters `downloader/…`, without what went back into its queue (`PutBack`): no turn, a proxy's trouble
    or this machine's. A request is counted when its answer, or its failure, is there: counters never go down."""

    _crawler: Crawler | None = None
    _most_pages = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Called by Scrapy."""
        found = super().from_crawler(crawler)
        found._crawler, found._most_pages = crawler, Limits.of(crawler.settings).pages
        return found

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002  # Scrapy's
        """Note that it is to be counted."""
        request.meta[_BEGUN] = True

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002
    ) -> Request | Response:
        """Count the request and its answer."""
        self._count(request)
        before = self.stats.get_value(RESPONSE_BYTES, 0)
        answer = super().process_response(request, response)
        self._charge(request, received=self.stats.get_value(RESPONSE_BYTES, 0) - before)
        return answer

    def process_exception(
        self,
        request: Request,
        exception: Exception,
        spider: Spider | None = None,  # noqa: ARG002
    ) -> None:
        """Count the request and its failure; nothing where it was put back."""
        if isinstance(exception, PutBack):
            request.meta.pop(_BEGUN, None)
            return
        self._count(request)
        super().process_exception(request, exception)

    def _count(self, request: Request) -> None:
        if request.meta.pop(_BEGUN, False):
            super().process_request(request)
            self._charge(request, requests=1)
            if not is_control_file(request):
                self._count_page()

    def _count_page(self) -> None:
        self.stats.inc_value(PAGE_REQUESTS)
        if self._crawler is not None and self.stats.get_value(PAGE_REQUESTS) == self._most_pages:
            close_soon(self._crawler, "closespider_pagecount")

    def _charge(self, request: Request, **spent: int) -> None:
        if self._crawler is not None and (scheduler := frontier_of(self._crawler)) is not None:
            scheduler.charge(request.url, **spent)


class OtherLimits(CloseSpider):
    """Scrapy's limits but that of pages (its extension `CloseSpider`)."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.close_on["pagecount"] = 0
