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
from twisted.internet.defer import fail, succeed
from twisted.internet.error import ConnectionLost
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web._newclient import HTTPClientParser, HTTPParser
from twisted.web.client import URI, Agent, HTTPConnectionPool, ResponseFailed
from twisted.web.iweb import UNKNOWN_LENGTH

from crawler.downloader import private
from crawler.downloader.private import (
    Decompression,
    Factory,
    Parser,
    Protocol,
    connect_through,
    remember_encoded_names,
    reroute,
)


def answered(wire: bytes, method: bytes = b"GET") -> tuple[Parser, list[bytes], list[bytes]]:
    """A parser that was given an answer; what of it is body; what it called the rest, once it had ended."""
    rests: list[bytes] = []
    parser = HTTPClientParser(SimpleNamespace(method=method), rests.append)
    parser.makeConnection(StringTransport())
    parser.__class__ = Parser  # as `Protocol.request` does
    parser.dataReceived(wire)
    body: list[bytes] = []
    if hasattr(parser, "response"):
        parser.response.deliverBody(
            SimpleNamespace(makeConnection=lambda _: None, dataReceived=body.append, connectionLost=lambda _: None)
        )
    return parser, body, rests


def test_protocol_gives_its_answers_to_our_parser() -> None:
    protocol = Protocol(lambda _: None)
    protocol.makeConnection(StringTransport())
    request = SimpleNamespace(writeTo=lambda _: succeed(None), method=b"GET")
    protocol.request(request)
    assert type(protocol._parser) is Parser
    assert "self._parser.__class__ = _LenientHTTPClientParser" in inspect.getsource(http11._LenientHTTP11ClientProtocol)


def test_protocol_that_lost_its_connection_says_why_to_a_request_that_comes_too_late() -> None:
    protocol = Protocol(lambda _: None)
    protocol.makeConnection(StringTransport())
    protocol.check_alive()
    why = Failure(ConnectionLost())
    protocol.connectionLost(why)
    with pytest.raises(ResponseFailed) as caught:
        protocol.check_alive()
    assert caught.value.reasons == [why]


def test_pool_takes_connections_of_another_way_only_for_that_way() -> None:
    handler = HTTP11DownloadHandler.__new__(HTTP11DownloadHandler)
    handler._pool = HTTPConnectionPool(None)
    ways, routed = iter(("a", "broken", "b")), []

    def route(way: str, host: str, port: int, bind: object) -> SimpleNamespace:
        routed.append((way, host, port, bind))
        refused = ValueError("broken") if way == "broken" else None
        return SimpleNamespace(connect=lambda _: fail(refused) if refused else succeed(way))

    def again(way: str, failure: Failure) -> None:
        assert failure.check(ValueError)
        assert way == "broken"

    reroute(handler, lambda _host: next(ways), route, again)
    connect_through(handler, Factory)
    got: list[str] = []
    key = (b"http", b"a.example", 80, None)
    handler._pool.getConnection(key, None).addCallback(got.append)
    handler._pool.getConnection(key, None).addCallback(got.append)
    assert got == ["a", "b"]
    assert routed == [(way, "a.example", 80, None) for way in ("a", "broken", "b")]
    kept = Protocol(lambda _: None)
    handler._pool._connections[(*key, "a")] = [kept]
    handler._pool._timeouts[kept] = SimpleNamespace(cancel=lambda: None)
    handler._pool.choose = lambda _host: "b"
    handler._pool.getConnection(key, None).addCallback(got.append)
    handler._pool.choose = lambda _host: "a"
    handler._pool.getConnection(key, None).addCallback(got.append)
    assert got[2:] == ["b", kept]
    assert "key = (parsedURI.scheme, parsedURI.host, parsedURI.port)" in inspect.getsource(Agent.request)


def test_parser_reads_head_and_chunks_as_browsers_do_and_ends() -> None:
    parser, body, rests = answered(b"\r\nhttp/1.1 200\nX Y: z\nTransfer-Encoding: chunked\n\n3 ;a\nabc\n0\n\nrest")
    assert (parser.response.version, parser.response.code, parser.response.phrase) == ((b"HTTP", 1, 1), 200, b"")
    assert (b"".join(body), rests) == (b"abc", [b"rest"])


@pytest.mark.parametrize(
    ("wire", "length", "expected", "closes"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 3, b"abc", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: no\r\n\r\nabc", UNKNOWN_LENGTH, b"abc", False),
        (b"HTTP/1.1 204 None\r\n\r\n", 0, b"", False),
        (b"HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 3\r\n\r\nabc", 0, b"", False),
        (b"HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 3\r\n\r\nab", 0, b"", True),
        (b"HTTP/1.1 302 Found\r\nLocation: /a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 0, b"", True),
    ],
)
def test_parser_knows_the_end_of_a_body_and_leaves_no_bytes_to_the_next_answer(wire, length, expected, closes) -> None:
    parser, body, _ = answered(wire)
    assert (parser.response.length, b"".join(body)) == (length, expected)
    assert parser.connHeaders.getRawHeaders(b"Connection", []) == ([b"close"] if closes else [])


def test_a_body_in_chunks_without_its_last_one_is_a_loss_as_twisted_calls_it() -> None:
    parser, _, _ = answered(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
    with pytest.raises(private._DataLoss):
        parser.bodyDecoder.noMoreData()


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
