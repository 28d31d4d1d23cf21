"""What a request to a source of JSON says beside what every request says; it is put on behind the politeness gate.

It asks for JSON, and carries the key where the source has one: to the host of its lists and no other, by https or on
this machine. The key is taken off again before anybody else sees the request, answered or not: no log, record or
archive has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.model import Lease
from crawler.scheduler.stopping import stop_crawl
from crawler.scheduler.turned_away import PutBack
from crawler.seeds.api import CredentialError
from crawler.seeds.scope import Scope

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_HEADER = "credential_header"
"""Key in `Request.meta`: the header that has the key, while the request is under way."""


class SourceMiddleware:
    """Puts Accept and the credential of a source (`-a api=FILE`) on the requests for its lists and records."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The sources are those of the spider's scope; a spider without one has none."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raises: PutBack where the key cannot be read; the crawl then stops with a sentence, and nothing is lost."""
        lease, scope = request.meta.get("lease"), getattr(self._crawler.spider, "scope", None)
        if not isinstance(lease, Lease) or not isinstance(scope, Scope):
            return
        source = scope.source_of(lease.url, lease.kind)
        if source is None:
            return
        request.headers["Accept"] = source.accept
        if source.credential and source.takes_key(request.url):
            try:
                request.headers[source.credential.header] = source.credential.value()
            except CredentialError as error:
                stop_crawl(self._crawler, str(error))
                raise PutBack(0.0) from error
            request.meta[_HEADER] = source.credential.header

    def process_response(self, request: Request, response: Response) -> Response:
        """Take the key off."""
        self._take_off(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002  # Scrapy's form
        """Take the key off."""
        self._take_off(request)

    def _take_off(self, request: Request) -> None:
        if header := request.meta.pop(_HEADER, None):
            request.headers.pop(header, None)
