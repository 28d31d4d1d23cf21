"""The wire's private parts of Scrapy and Twisted: the one file of the downloader and the middlewares that names them.

`tests/downloader/test_private_parts.py` has a test for each, so that an upgrade that moves one fails there by name.
Those of the engine are in `crawler/scheduler/engine_view.py`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
)
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.utils._compression import _DecompressionMaxSizeExceeded
from twisted.internet import endpoints
from twisted.internet.interfaces import IAddress
from twisted.web._newclient import HEADER, STATUS

TooLarge = _DecompressionMaxSizeExceeded
"""What Scrapy's decompression understands as "larger than allowed": `TooLarge(bytes so far, bytes allowed)`."""


class Protocol(_LenientHTTP11ClientProtocol):
    """One HTTP/1.1 connection, as Scrapy speaks it."""

    def reads_head(self) -> bool:
        """True while the next bytes belong to the status line or the headers of a response."""
        parser = self._parser
        return parser is not None and parser.state in {STATUS, HEADER}


class Factory(_LenientHTTP11ClientFactory):
    """What Twisted's connection pool calls for each new connection; `protocol` is what it makes."""

    protocol: type[Protocol] = Protocol

    def buildProtocol(self, addr: IAddress | None) -> Any:  # noqa: N802, ARG002  # Twisted's name
        """A connection that goes back into the pool when its response has been read."""
        return self.protocol(self._quiescentCallback)


class Decompression(HttpCompressionMiddleware):
    """Scrapy's decompression with a decoder of one's own for each content coding."""

    def decode(self, body: bytes, coding: bytes, limit: int) -> bytes:
        """The body without one coding, at most `limit` bytes. Raises: TooLarge."""
        raise NotImplementedError

    def _decode(self, body: bytes, encoding: bytes, max_size: int) -> bytes:  # type: ignore[override]  # called on self
        return self.decode(body, encoding, max_size)


def connect_through(handler: HTTP11DownloadHandler, factory: type[Factory]) -> None:
    """Every new connection of the handler is made by `factory`, and no request is sent twice.

    Twisted would send a request again at once where its connection was lost, past the politeness gate.
    """
    handler._pool._factory = factory
    handler._pool.retryAutomatically = False


def remember_encoded_names() -> None:
    """Twisted encodes the host of each request by IDNA anew, 0.1 ms a page; hosts repeat.

    Only time is lost where a version of Twisted has no such function. Scrapy has replaced it by its own before
    (`_install_twisted_idna_fallbacks`).
    """
    encode: Any = getattr(endpoints, "_idnaBytes", None)
    if encode is not None and not hasattr(encode, "cache_info"):
        endpoints._idnaBytes = lru_cache(4096)(encode)  # type: ignore[attr-defined]
