"""The download handler closes a connection to a forbidden address before a byte is sent.

The resolver has checked the address already; this is the second lock, on what the socket is really connected to. The
same place bounds the head of a response, which Twisted reads without a limit, and sees to it that a request is sent
once: whether and when to try again is the frontier's to say.
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

from crawler.downloader.private import Factory, Protocol, connect_through, remember_encoded_names
from crawler.policy.network import NetworkRules, rules_of
from crawler.runtime import config_of
from crawler.scheduler.in_flight import ANSWERED_AT, SENT_AT, TURN
from crawler.scheduler.turned_away import PutBack

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.interfaces import IAddress

    from crawler.scheduler.gate import GivesTurns

MAX_HEAD_BYTES = 256 * 1024
"""Status line and headers of one response."""


class ForbiddenAddressError(DownloadFailedError):
    """The connection led to an address that the network rules refuse."""


class _GuardedProtocol(Protocol):
    """Aborts a connection whose response head does not end; writes down when each request went out."""

    head_bytes = 0
    sent: dict[bytes, float] | None = None
    may_be_sent: Callable[[bytes], bool] | None = None

    def request(self, request: Any) -> Any:
        self.head_bytes = 0
        if self.may_be_sent is not None and not self.may_be_sent(request.absoluteURI):
            if self.transport is not None:
                self.transport.abortConnection()
            return fail(PutBack(time.time()))
        if self.sent is not None:
            self.sent[request.absoluteURI] = time.monotonic()
        return super().request(request)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802  # Twisted's name
        if self.reads_head():
            self.head_bytes += len(data)
            if self.head_bytes > MAX_HEAD_BYTES and self.transport is not None:
                self.transport.abortConnection()
                return
        super().dataReceived(data)  # type: ignore[no-untyped-call]


def guarded_factory(
    rules: NetworkRules,
    sent: dict[bytes, float] | None = None,
    may_be_sent: Callable[[bytes], bool] | None = None,
) -> type[Factory]:
    """What the connection pool calls for each new connection: a factory that looks at the peer's address first.

    `sent` takes the moment (`time.monotonic()`) at which the request for a URL was written to its connection.
    `may_be_sent` is asked just before that; where it says no the request fails with PutBack.
    """

    class GuardedFactory(Factory):
        protocol = _GuardedProtocol

        def buildProtocol(self, addr: IAddress | None) -> Any:  # noqa: N802  # Twisted's name
            complaint = rules.address_complaint(getattr(addr, "host", ""))
            if complaint:
                raise ForbiddenAddressError(complaint)
            protocol = super().buildProtocol(addr)
            protocol.sent, protocol.may_be_sent = sent, may_be_sent
            return protocol

    return GuardedFactory


class GuardedDownloadHandler(HTTP11DownloadHandler):
    """`DOWNLOAD_HANDLERS` for http and https."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        remember_encoded_names()
        self._sent: dict[bytes, float] = {}
        self._asked: dict[bytes, Request] = {}
        connect_through(self, guarded_factory(rules_of(config_of(crawler)), self._sent, self._may_be_sent))

    async def download_request(self, request: Request) -> Response:
        """Download, and leave in `request.meta` when the request was really sent: connecting may have taken time."""
        url = URI.fromBytes(urldefrag(request.url)[0].encode("ascii")).toBytes()  # type: ignore[no-untyped-call]
        self._asked[url] = request
        try:
            return await super().download_request(request)
        finally:
            self._asked.pop(url, None)
            request.meta[ANSWERED_AT] = time.monotonic()
            if (sent_at := self._sent.pop(url, None)) is not None:
                request.meta[SENT_AT] = sent_at

    def _may_be_sent(self, url: bytes) -> bool:
        request, engine = self._asked.get(url), self.crawler.engine
        if request is None or engine is None or TURN not in request.meta:
            return True  # nobody's turn: this crawler has no gate
        return cast("GivesTurns", engine.scheduler).may_be_sent(request)
