"""Last on every request, behind the politeness gate: signed as it leaves, whoever sends it and for what (Web Bot Auth).

A page, robots.txt, a sitemap, what a page in the browser asks for: all of them come here with a request of their own,
and so does each hop of a redirect. No signature is made before its turn has come, none is used twice, and none is good
for another host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawler.botauth.configured import is_asked_for, signer_of
from crawler.runtime import config_of, per_crawler
from crawler.scheduler.scheduler import clock_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.botauth.request import RequestSigner


@per_crawler
def request_signer_of(crawler: Crawler) -> RequestSigner | None:
    """The one signer of a crawler, by the clock of all workers; its key is read once. None where nothing is signed.

    Raises: ConfigError where the key is unusable.
    """
    return signer_of(config_of(crawler).signature, clock_of(crawler))


class SignatureMiddleware:
    """Puts the three headers on a request, in the place of any that it has. The key is read with the first request."""

    def __init__(self, signer: Callable[[], RequestSigner | None]) -> None:
        self._signer = signer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Not there where nothing is to be signed."""
        if not is_asked_for(config_of(crawler).signature):
            raise NotConfigured
        return cls(lambda: request_signer_of(crawler))

    def process_request(self, request: Request) -> None:
        """Raises: ConfigError where the key is unusable."""
        if signer := self._signer():
            for name, value in signer.headers(request.url).items():
                request.headers[name] = value
