"""On every connection: Scrapy's HTTP/1.1 handler, which drops one to a forbidden address before a byte is sent.

The resolver has checked the address already; this is the second lock, on what the socket is really connected to. The
same place bounds the head of a response, which Twisted reads without a limit, and sees to it that a request is sent
once: whether and when to try again is the frontier's to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
)
from scrapy.exceptions import DownloadFailedError
from twisted.web._newclient import HEADER, STATUS

from crawler.policy.network import NetworkRules, rules_of
from crawler.runtime import config_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.interfaces import IAddress

MAX_HEAD_BYTES = 256 * 1024
"""Status line and headers of one response."""


class ForbiddenAddressError(DownloadFailedError):
    """The connection led to an address that the network rules refuse."""


class _GuardedProtocol(_LenientHTTP11ClientProtocol):
    """Aborts a connection whose response head does not end."""

    head_bytes = 0

    def request(self, request: Any) -> Any:
        self.head_bytes = 0
        return super().request(request)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802  # Twisted's name
        parser = self._parser
        if parser is not None and parser.state in {STATUS, HEADER}:
            self.head_bytes += len(data)
            if self.head_bytes > MAX_HEAD_BYTES and self.transport is not None:
                self.transport.abortConnection()
                return
        super().dataReceived(data)  # type: ignore[no-untyped-call]


def guarded_factory(rules: NetworkRules) -> type[_LenientHTTP11ClientFactory]:
    """What the connection pool calls for each new connection: a factory that looks at the peer's address first."""

    class GuardedFactory(_LenientHTTP11ClientFactory):
        def buildProtocol(self, addr: IAddress | None) -> Any:  # noqa: N802  # Twisted's name
            complaint = rules.address_complaint(getattr(addr, "host", ""))
            if complaint:
                raise ForbiddenAddressError(complaint)
            return _GuardedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]

    return GuardedFactory


class GuardedDownloadHandler(HTTP11DownloadHandler):
    """`DOWNLOAD_HANDLERS` for http and https."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool._factory = guarded_factory(rules_of(config_of(crawler)))
        self._pool.retryAutomatically = False  # Twisted would send a request again at once, past the politeness gate
