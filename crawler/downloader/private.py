"""The wire's private parts of Scrapy and Twisted: the one file of the downloader and the middlewares that names them.

`tests/downloader/test_private_parts.py` has a test for each, so that an upgrade that moves one fails there by name.
Those of the engine are in `crawler/scheduler/engine_view.py`.
"""

from __future__ import annotations

from collections.abc import Callable
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
from twisted.internet.defer import fail
from twisted.internet.interfaces import IAddress
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS, HTTPClientParser, Response, ResponseNeverReceived
from twisted.web.client import HTTPConnectionPool
from twisted.web.http import _DataLoss, _IdentityTransferDecoder

from crawler.policy.status import REDIRECTS
from crawler.wire.chunks import Chunks
from crawler.wire.head import Head, HeadReader

TooLarge = _DecompressionMaxSizeExceeded
"""What Scrapy's decompression understands as "larger than allowed": `TooLarge(bytes so far, bytes allowed)`."""


class Parser(HTTPClientParser):
    """Twisted's parser of one answer, with head and chunks as `crawler.wire` reads them.

    Twisted makes its own parser and looks at its state; so does Scrapy, which replaces its class. So do we, and have no
    state that is not there from the beginning.
    """

    _reader: HeadReader | None = None

    def dataReceived(self, data: bytes) -> None:  # noqa: N802  # Twisted's name
        """Raises: HeadError, ChunkError; Twisted then gives the connection up."""
        if self.state not in {STATUS, HEADER}:
            super().dataReceived(data)  # type: ignore[no-untyped-call]
            return
        self._everReceivedData = True
        self._reader = self._reader or HeadReader()
        if (found := self._reader.feed(data)) is not None:
            self._begin_body(*found)

    def _begin_body(self, head: Head, rest: bytes) -> None:
        length = None if head.is_chunked else head.length
        decoder = self._decoder_of(head, length)
        self.response = Response._construct(  # type: ignore[no-untyped-call]
            (b"HTTP", *head.version), head.status, head.reason, self.headers, self.transport, self.request
        )
        for name, value in head.headers:
            self.headerReceived(name, value)  # type: ignore[no-untyped-call]
        if decoder is None:
            self._end_without_body(rest, is_all=length == len(rest))
        else:
            transport: Any = self.transport
            transport.pauseProducing()  # until somebody reads the body
            self.switchToBodyMode(decoder)  # type: ignore[no-untyped-call]
            if length is not None:
                self.response.length = length
        self._responseDeferred.callback(self.response)
        del self._responseDeferred
        if decoder is not None and rest:
            super().dataReceived(rest)  # type: ignore[no-untyped-call]

    def _decoder_of(self, head: Head, length: int | None) -> Any:
        """What takes the body; None where there is none, and where nobody reads it: behind a redirect."""
        on_data, on_end = self._take_body, self._finished
        is_unread = self.request.method == b"HEAD" or (head.status in REDIRECTS and head.values(b"location"))
        if is_unread or length == 0:
            return None
        if head.is_chunked:
            return ChunkedBody(on_data, on_end)
        return _IdentityTransferDecoder(length, on_data, on_end)  # type: ignore[no-untyped-call]

    def _take_body(self, data: bytes) -> None:
        self.response._bodyDataReceived(data)

    def _end_without_body(self, rest: bytes, *, is_all: bool) -> None:
        """is_all: nothing comes any more that the next answer on this connection could be taken for."""
        self.response.length = 0
        if not is_all:
            self.connHeaders.setRawHeaders(b"Connection", [b"close"])
        self._finished(rest)  # type: ignore[no-untyped-call]
        self.response._bodyDataFinished()


class ChunkedBody:
    """A transfer decoder of Twisted's (`_ChunkedTransferDecoder`) that reads chunks as browsers do."""

    def __init__(self, on_data: Callable[[bytes], None], on_end: Callable[[bytes], None]) -> None:
        self._on_data, self._on_end = on_data, on_end
        self._chunks = Chunks()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802  # Twisted's name
        """Raises: ChunkError."""
        if part := self._chunks.feed(data):
            self._on_data(part)
        if self._chunks.ended:
            self._on_end(self._chunks.rest)

    def noMoreData(self) -> None:  # noqa: N802  # Twisted's name
        """Raises: _DataLoss where the last chunk has not come."""
        if not self._chunks.is_whole:
            raise _DataLoss("the last chunk is missing")


class Protocol(_LenientHTTP11ClientProtocol):
    """One HTTP/1.1 connection, as Scrapy speaks it, with answers as browsers read them."""

    _lost: Failure | None = None

    def connectionLost(self, reason: Any = None) -> None:  # noqa: N802  # Twisted's name
        """As Twisted's; why is remembered for a request that comes too late."""
        self._lost = reason
        super().connectionLost(reason)  # type: ignore[no-untyped-call]

    def check_alive(self) -> None:
        """Raises: ResponseNeverReceived where the connection was lost before a request could be written."""
        if self._lost is not None:
            raise ResponseNeverReceived([self._lost])  # type: ignore[no-untyped-call]

    def request(self, request: Any) -> Any:
        """As Twisted's."""
        answer = super().request(request)
        if self._parser is not None:
            self._parser.__class__ = Parser
        return answer


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


class Routed(HTTPConnectionPool):
    """Twisted's pool of connections, each through what `choose` says.

    `choose(host)` names a way; connections of different ways are not taken for each other. `route(way, host, port,
    bind)` is the endpoint to the host by that way, `secured(endpoint, host, port)` the same with TLS inside.
    `again(way, failure)` is asked where no connection came: it returns where another way is to be tried, else raises.
    """

    choose: Callable[[str], Any]
    route: Callable[[Any, str, int, Any], Any]
    again: Callable[[Any, Failure], None]
    secured: Callable[[Any, bytes, int], Any]

    def getConnection(self, key: Any, endpoint: Any) -> Any:  # noqa: N802  # Twisted's name
        """See `HTTPConnectionPool`; `endpoint`, which leads there directly, is not used."""
        scheme, host, port, bind = key
        try:
            way = self.choose(host.decode("ascii"))
        except Exception:
            return fail(Failure())  # type: ignore[no-untyped-call]
        there = self.route(way, host.decode("ascii"), port, bind)
        if scheme == b"https":
            there = self.secured(there, host, port)

        def otherwise(failure: Failure) -> Any:
            self.again(way, failure)
            return self.getConnection(key, endpoint)

        found: Any = super().getConnection((*key, way), there)
        return found.addErrback(otherwise)


def reroute(handler: HTTP11DownloadHandler, choose: Any, route: Any, again: Any) -> None:
    """No connection of the handler is made but by `choose` and `route`; call it before `connect_through`."""
    old = handler._pool
    pool = Routed(old._reactor, persistent=old.persistent)  # type: ignore[no-untyped-call]
    pool.maxPersistentPerHost = old.maxPersistentPerHost
    pool.choose, pool.route, pool.again = choose, route, again

    def secured(there: Any, host: bytes, port: int) -> Any:
        verifying: Any = handler._contextFactory
        return endpoints.wrapClientTLS(verifying.creatorForNetloc(host, port), there)

    pool.secured = secured
    handler._pool = pool


def verify_by(handler: HTTP11DownloadHandler, policy: Callable[[Any], Any]) -> None:
    """Certificates are verified by what `policy` makes of the handler's own way."""
    handler._contextFactory = policy(handler._contextFactory)


def remember_encoded_names() -> None:
    """Twisted encodes the host of each request by IDNA anew, 0.1 ms a page; hosts repeat.

    Only time is lost where a version of Twisted has no such function. Scrapy has replaced it by its own before
    (`_install_twisted_idna_fallbacks`).
    """
    encode: Any = getattr(endpoints, "_idnaBytes", None)
    if encode is not None and not hasattr(encode, "cache_info"):
        endpoints._idnaBytes = lru_cache(4096)(encode)  # type: ignore[attr-defined]
