"""A page that was fetched before is requested conditionally, and a 304 is an outcome of its own.

Stands behind robots.txt on the way out, and behind the opt-outs in headers on the way back: a page that did not change
may still have changed its mind. What only its body could lift is asked without conditions where it is known before, and
refuses a page whose body did not come. A 304 that nobody asked for is an HTTP error (`status.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.model import Lease
from crawler.middlewares._meta import answers_condition, evidence_of
from crawler.middlewares.outcomes import Denied, NotModified
from crawler.policy.decide import decide_unread
from crawler.runtime import config_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.document import Drop


class ConditionalMiddleware:
    """Sends the validators of the last visit (RFC 9110 section 13.1), verbatim."""

    def __init__(self, profile: str) -> None:
        self._profile = profile

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings."""
        return cls(config_of(crawler).policy.optout_profile)

    def process_request(self, request: Request) -> None:
        """Add If-None-Match and If-Modified-Since where the lease knows what to put there."""
        lease = request.meta.get("lease")
        if isinstance(lease, Lease) and lease.visit is not None and self._refusal(request) is None:
            for name, value in lease.visit.conditions():
                request.headers[name] = value.encode("latin-1")

    def process_response(self, request: Request, response: Response) -> Response:
        """Raises: NotModified; Denied where a statement counts that only the body could lift."""
        if answers_condition(request, response):
            if drop := self._refusal(request):
                raise Denied(drop, tuple(evidence_of(request).signals))
            response.request = request  # Scrapy does so for responses that reach a callback
            raise NotModified(response)
        return response

    def _refusal(self, request: Request) -> Drop | None:
        return decide_unread(evidence_of(request).signals, self._profile, request.url)
