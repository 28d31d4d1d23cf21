"""A redirect is not followed; its target becomes a frontier entry of its own.

So the target passes scope, seen-set, politeness, network guard and robots.txt like every other URL. Redirects of
control files are followed by whoever fetches them, hop by hop.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from crawler.document import Drop, DropReason
from crawler.middlewares._meta import is_control_file
from crawler.middlewares.outcomes import Denied, Redirected
from crawler.policy.status import REDIRECTS

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_RAW = re.compile(rb"[\x80-\xff]")
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
    location = response.headers.get("Location")
    if not location:
        return None
    try:
        return urljoin(response.url, _text(location).strip())
    except ValueError:
        return None


def _text(location: bytes) -> str:
    """A header with raw bytes of no UTF-8 means the path with just these bytes, as browsers read it."""
    try:
        return location.decode()
    except UnicodeDecodeError:
        return _RAW.sub(lambda octet: b"%%%02X" % octet[0][0], location).decode("ascii")
