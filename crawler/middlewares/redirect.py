"""A redirect is not followed; its target becomes a frontier entry of its own.

So the target passes scope, seen-set, politeness, network guard and robots.txt like every other URL. Redirects of
control files are followed by whoever fetches them, hop by hop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.document import Drop, DropReason
from crawler.middlewares._meta import is_control_file
from crawler.middlewares.outcomes import Denied, Redirected
from crawler.policy.status import REDIRECTS
from crawler.urls.resolve import header_text, resolve

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

PERMANENT = frozenset({301, 308})


class RedirectMiddleware:
    """Turns a redirect into Redirected."""

    @classmethod
    def from_crawler(cls, _crawler: Crawler) -> Self:
        """Needs no settings."""
        return cls()

    def process_response(self, request: Request, response: Response) -> Response:
        """Raises: Redirected; Denied where the redirect names no target."""
        if is_control_file(request) or response.status not in REDIRECTS:
            return response
        target = target_of(response)
        if target is None:
            raise Denied(Drop("fetch", DropReason.HTTP_ERROR, f"HTTP {response.status} without a usable Location"))
        raise Redirected(target, permanent=response.status in PERMANENT)


def target_of(response: Response) -> str | None:
    """The absolute URL of the Location header (RFC 9110 section 10.2.2), still unchecked; None where unusable."""
    location = location_of(response)
    return resolve(response.url, header_text(location)) if location else None


def location_of(response: Response) -> bytes:
    """The value of the Location header; empty where there is none, and where several contradict each other."""
    values = set(response.headers.getlist("Location"))
    return values.pop() if len(values) == 1 else b""
