"""Each private part of Scrapy and Twisted that `downloader/private.py` relies on, under its own name."""

from __future__ import annotations

import gzip
import inspect
from types import SimpleNamespace

import pytest
from scrapy.core.downloader.handlers import http11
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Request
from scrapy.settings import Settings
from scrapy.utils import _compression
from twisted.internet import endpoints
from twisted.internet.testing import StringTransport
from twisted.web._newclient import HTTPParser
from twisted.web.client import URI, HTTPConnectionPool

from crawler.downloader import private
from crawler.downloader.private import Decompression, Factory, Protocol, connect_through, remember_encoded_names


def test_lenient_protocol_makes_a_parser_that_tells_head_from_body() -> None:
    protocol = Protocol(lambda _: None)
    assert not protocol.reads_head()  # no request yet, so no parser
    protocol._parser = SimpleNamespace(state=http11.STATUS)
    assert protocol.reads_head()
    protocol._parser.state = private.HEADER
    assert protocol.reads_head()
    protocol._parser.state = "BODY"
    assert not protocol.reads_head()
    assert "_parser" in inspect.getsource(http11._LenientHTTP11ClientProtocol)


def test_newclient_states_are_those_a_parser_goes_through() -> None:
    parser = HTTPParser()
    parser.makeConnection(StringTransport())
    assert parser.state == private.STATUS
    parser.dataReceived(b"HTTP/1.1 200 OK\r\n")
    assert parser.state == private.HEADER
    parser.dataReceived(b"A: b\r\n\r\n")
    assert parser.state not in {private.STATUS, private.HEADER}


def test_lenient_factory_is_made_with_what_the_pool_gives_it_and_passes_on_its_callback() -> None:
    given = lambda _protocol: None  # noqa: E731
    made = Factory(given, "endpoint").buildProtocol(None)
    assert isinstance(made, Protocol)
    assert made._quiescentCallback is given


def test_connection_pool_makes_its_connections_by_the_factory_and_repeats_nothing() -> None:
    assert "self._factory(quiescentCallback, repr(endpoint))" in inspect.getsource(HTTPConnectionPool)
    assert "retryAutomatically" in inspect.getsource(HTTPConnectionPool)
    handler = HTTP11DownloadHandler.__new__(HTTP11DownloadHandler)
    handler._pool = HTTPConnectionPool(None)
    assert handler._pool.retryAutomatically
    connect_through(handler, Factory)
    assert handler._pool._factory is Factory
    assert not handler._pool.retryAutomatically
    assert "self._pool: HTTPConnectionPool" in inspect.getsource(HTTP11DownloadHandler.__init__)


def test_uri_from_bytes_spells_a_url_as_the_request_that_is_written_does() -> None:
    assert URI.fromBytes(b"http://a.example/b?c=1").toBytes() == b"http://a.example/b?c=1"


def test_idna_bytes_of_twisted_is_there_and_is_asked_once_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(endpoints, "_idnaBytes", lambda name: asked.append(name) or name.encode())
    remember_encoded_names()
    remember_encoded_names()  # by the handler of the other scheme
    assert endpoints._idnaBytes("a.example") == endpoints._idnaBytes("a.example") == b"a.example"
    assert asked == ["a.example"]


def test_a_twisted_without_idna_bytes_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(endpoints, "_idnaBytes")
    remember_encoded_names()
    assert not hasattr(endpoints, "_idnaBytes")


def test_scrapys_decompression_asks_our_decoder_and_knows_our_too_large() -> None:
    asked = []

    class Ours(Decompression):
        def decode(self, body: bytes, coding: bytes, limit: int) -> bytes:
            asked.append((coding, limit))
            if len(asked) == 2:
                raise private.TooLarge(9, 8)
            return b"<p>plain"

    crawler = SimpleNamespace(
        settings=Settings({"DOWNLOAD_MAXSIZE": 8, "DOWNLOAD_WARNSIZE": 0, "COMPRESSION_ENABLED": True}),
        stats=None,
        spider=None,
        signals=SimpleNamespace(connect=lambda *_, **__: None),
    )
    middleware, request = Ours(crawler=crawler), Request("http://a.example/")
    response = HtmlResponse(request.url, body=gzip.compress(b"x"), headers={"Content-Encoding": "gzip"})
    assert middleware.process_response(request, response.copy()).body == b"<p>plain"
    with pytest.raises(IgnoreRequest):
        middleware.process_response(request, response.copy())
    assert asked == [(b"gzip", 8)] * 2
    assert "self._decode(body, encoding, max_size)" in inspect.getsource(HttpCompressionMiddleware)
    assert issubclass(_compression._DecompressionMaxSizeExceeded, ValueError)
