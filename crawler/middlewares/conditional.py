"""A page that was fetched before is requested conditionally, and a 304 is an outcome of its own.

Stands behind robots.txt on the way out, and behind the opt-outs in headers on the way back: a page that did not change
may still have changed its mind. A 304 that nobody asked for is an HTTP error (`status.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.model import Lease
from crawler.middlewares._meta import answers_condition
from crawler.middlewares.outcomes import NotModified

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class ConditionalMiddleware:
    """Sends the validators of the last visit (RFC 9110 section 13.1), verbatim."""

    @classmethod
    def from_crawler(cls, _crawler: Crawler) -> Self:
        """Needs no settings."""
        return cls()

    def process_request(self, request: Request) -> None:
        """Add If-None-Match and If-Modified-Since where the lease knows what to put there."""
        lease = request.meta.get("lease")
        if isinstance(lease, Lease) and lease.visit is not None:
            for name, value in lease.visit.conditions():
                request.headers[name] = value.encode("latin-1")

    def process_response(self, request: Request, response: Response) -> Response:
        """Raises: NotModified."""
        if answers_condition(request, response):
            response.request = request  # Scrapy does so for responses that reach a callback
            raise NotModified(response)
        return response
