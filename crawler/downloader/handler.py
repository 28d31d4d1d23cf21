"""The download handler closes a connection to a forbidden address before a byte is sent.

The resolver has checked the address already; this is the second lock, on what the socket is really connected to. The
same place sees to it that a request is sent once: whether and when to try again is the frontier's to say.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urldefrag

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DownloadFailedError
from twisted.internet.defer import fail
from twisted.web.client import URI

from crawler.downloader.certificates import Certificates
from crawler.downloader.private import Factory, Protocol, connect_through, remember_encoded_names, verify_by
from crawler.policy.network import NetworkRules, rules_of
from crawler.runtime import config_of
from crawler.scheduler.in_flight import ANSWERED_AT, SENT_AT, TURN
from crawler.scheduler.turned_away import PutBack

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.interfaces import IAddress


class ForbiddenAddressError(DownloadFailedError):
    """The connection led to an address that the network rules refuse."""


class _GuardedProtocol(Protocol):
    """Writes down when each request went out."""

    sent: dict[bytes, float] | None = None
    targets: dict[bytes, bytes] | None = None

    def request(self, request: Any) -> Any:
        request.uri = (self.targets or {}).get(request.absoluteURI, request.uri)
        if self.sent is not None:
            self.sent[request.absoluteURI] = time.monotonic()
        return super().request(request)


def guarded_factory(
    rules: NetworkRules, sent: dict[bytes, float] | None = None, targets: dict[bytes, bytes] | None = None
) -> type[Factory]:
    """What the connection pool calls for each new connection: a factory that looks at the peer's address first.

    `sent` takes the moment (`time.monotonic()`) at which the request for a URL was written to its connection.
    `targets`: what the request line says for a URL that Twisted would spell otherwise (it drops an empty query).
    """

    class GuardedFactory(Factory):
        protocol = _GuardedProtocol

        def buildProtocol(self, addr: IAddress | None) -> Any:  # noqa: N802  # Twisted's name
            complaint = rules.address_complaint(getattr(addr, "host", ""))
            if complaint:
                raise ForbiddenAddressError(complaint)
            protocol = super().buildProtocol(addr)
            protocol.sent, protocol.targets = sent, targets
            return protocol

    return GuardedFactory


class GuardedDownloadHandler(HTTP11DownloadHandler):
    """`DOWNLOAD_HANDLERS` for http and https."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        remember_encoded_names()
        self._sent: dict[bytes, float] = {}
        self._targets: dict[bytes, bytes] = {}
        config = config_of(crawler)
        connect_through(self, guarded_factory(rules_of(config), self._sent, self._targets))
        verify_by(self, lambda inner: Certificates(inner, config.policy.certificate_exceptions))

    async def download_request(self, request: Request) -> Response:
        """Download, and leave in `request.meta` when the request was really sent: connecting may have taken time."""
        exact = urldefrag(request.url)[0].encode("ascii")
        uri = URI.fromBytes(exact)  # type: ignore[no-untyped-call]
        url = uri.toBytes()
        if (at := exact.find(b"/", 8)) > 0 and exact[at:] != uri.originForm:
            self._targets[url] = exact[at:]
        try:
            return await super().download_request(request)
        finally:
            self._targets.pop(url, None)
            request.meta[ANSWERED_AT] = time.monotonic()
            if (sent_at := self._sent.pop(url, None)) is not None:
                request.meta[SENT_AT] = sent_at

    def _may_be_sent(self, url: bytes) -> bool:
        request, engine = self._asked.get(url), self.crawler.engine
        if request is None or engine is None or TURN not in request.meta:
            return True  # nobody's turn: this crawler has no gate
        return cast("GivesTurns", engine.scheduler).may_be_sent(request)
