"""Counts requests, and what they weighed, once it is known that they count: one that was put back has cost nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.stats import DownloaderStats

from crawler.scheduler.scheduler import frontier_of
from crawler.scheduler.turned_away import PutBack
from crawler.statkeys import RESPONSE_BYTES

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

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Called by Scrapy."""
        found = super().from_crawler(crawler)
        found._crawler = crawler
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

    def _charge(self, request: Request, **spent: int) -> None:
        if self._crawler is not None and (scheduler := frontier_of(self._crawler)) is not None:
            scheduler.charge(request.url, **spent)
