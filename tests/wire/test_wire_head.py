"""Heads and chunks: whatever comes in whatever pieces, they are read or refused, live and from an archive alike."""

from __future__ import annotations

import time
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.testing import StringTransport
from twisted.web._newclient import HTTPClientParser

from crawler.downloader.private import Parser
from crawler.storage.archive.codings import decoded
from crawler.wire.chunks import ChunkError, Chunks, joined
from crawler.wire.head import MAX_HEAD_BYTES, MOST_INTERIM, Head, HeadError, HeadReader, read_block

VALID = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 11\r\n\r\n<p>text</p>",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n c\r\n\r\n6;a=b\r\n<p>tex\r\n5\r\nt</p>\r\n0\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.0 404 Not Found\nServer: x\n\nnothing",
    b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: /a\r\nContent-Length: 2, 2\r\n\r\nok",
)
PIECES = [b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b"\0", b"HTTP/1.1 ", b"0", b"200", b",", b";", b"\xff", b"x" * 300]
PIECES += [
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length:\r\n",
    b"0\r\n\r\n",
    b"\r\n\r\n",
]


@st.composite
def perturbed(draw: st.DrawFn) -> bytes:
    """A valid answer with up to six pieces put in, taken out or doubled."""
    data = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.integers(0, 6))
        piece = draw(st.sampled_from([b"", data[at : at + size] * 2, *PIECES]))
        data = data[:at] + piece + data[at + size :]
    return data


def cut(data: bytes, places: list[int]) -> list[bytes]:
    at = sorted({min(place, len(data)) for place in places} | {0, len(data)})
    return [data[a:b] for a, b in pairwise(at)]


def read(reader: HeadReader | Chunks, pieces: list[bytes]) -> list[object]:
    """What a reader says in all; the error where it raises one."""
    found: list[object] = []
    try:
        for piece in pieces:
            if found and isinstance(reader, HeadReader):
                found.append(piece)
            elif (said := reader.feed(piece)) is not None:
                found += list(said) if isinstance(said, tuple) else [said]
    except (HeadError, ChunkError) as error:
        return [type(error), str(error)]
    return [*found[:1], b"".join(found[1:])] if isinstance(reader, HeadReader) else [b"".join(found)]


def live(wire: bytes) -> tuple[int, list[tuple[bytes, bytes]], bytes] | None:
    """Status, headers and body as the crawl gets them; None where it gets no whole answer."""
    parser = HTTPClientParser(SimpleNamespace(method=b"GET"), lambda _: None)
    parser.makeConnection(StringTransport())
    parser.__class__ = Parser
    parser._responseDeferred.addErrback(lambda _: None)
    body: list[bytes] = []
    try:
        parser.dataReceived(wire)
        if not hasattr(parser, "response"):
            return None
        ended = SimpleNamespace(makeConnection=lambda _: None, dataReceived=body.append, connectionLost=lambda _: None)
        parser.response.deliverBody(ended)
        if parser.bodyDecoder is not None and parser.state == "BODY":
            parser.bodyDecoder.noMoreData()
    except (HeadError, ChunkError):
        return None
    except Exception as error:
        if type(error).__name__ == "_DataLoss":
            return None
        if type(error).__name__ != "PotentialDataLoss":
            raise
    headers = [(name.lower(), one) for name, many in parser.response.headers.getAllRawHeaders() for one in many]
    return parser.response.code, sorted(headers), b"".join(body)


@settings(max_examples=400, deadline=None)
@given(perturbed(), st.lists(st.integers(0, 200), max_size=5))
def test_an_answer_is_read_or_refused_and_its_pieces_do_not_matter(data, places):
    whole, parts = read(HeadReader(), [data]), read(HeadReader(), cut(data, places))
    assert whole == parts or (whole[0] is parts[0] is HeadError)  # it may be refused earlier, for another reason
    assert read(Chunks(), [data]) == read(Chunks(), cut(data, places)) or read(Chunks(), [data])[0] is ChunkError


@settings(max_examples=400, deadline=None)
@given(perturbed())
def test_the_crawl_and_the_archive_read_the_same_answer(data):
    found = live(data)
    if found is None:
        return
    head, raw = read_block(data)
    lines = [(name.lower(), value) for name, value in head.headers]
    of_the_page = [line for line in lines if line[0] not in HTTPClientParser.CONNECTION_CONTROL_HEADERS]
    assert found[:2] == (head.status, sorted(of_the_page))
    if head.values(b"location") or head.status in (204, 205, 304):
        return  # nobody reads the body
    length = None if head.is_chunked else head.length
    assert found[2] == decoded(head, raw if length is None else raw[:length], 10**6).data


def test_a_head_may_come_byte_by_byte_and_costs_no_more_than_its_length():
    head = b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n"
    begin = time.process_time()
    reader = HeadReader()
    found = [said for byte in head if (said := reader.feed(bytes((byte,)))) is not None]
    assert len(found) == 1
    assert time.process_time() - begin < 10


def test_what_does_not_end_is_refused():
    with pytest.raises(HeadError, match="256 KiB"):
        read_block(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * (MAX_HEAD_BYTES // 6 + 1))
    with pytest.raises(HeadError, match="interim"):
        read_block(b"HTTP/1.1 100 Continue\r\n\r\n" * (MOST_INTERIM + 1))
    with pytest.raises(HeadError, match="no HTTP status line"):
        HeadReader().feed(b"SSH-2.0-OpenSSH")
    with pytest.raises(ChunkError, match="between chunks"):
        Chunks().feed(b"1;" + b"x" * 20_000)


def test_lengths_and_codings_of_a_head():
    chunked = Head((1, 1), 200, b"", [(b"transfer-encoding", b"gzip, Chunked")])
    assert chunked.is_chunked
    assert not Head((1, 0), 200, b"", chunked.headers).is_chunked
    assert Head((1, 1), 304, b"", chunked.headers).length == 0
    lengths = {b"7": 7, b"7, 7": 7, b"": None, b"-1": None, b"1e3": None, b"9" * 40: None}
    assert {value: Head((1, 1), 200, b"", [(b"Content-Length", value)]).length for value in lengths} == lengths
    with pytest.raises(HeadError):
        assert Head((1, 1), 200, b"", [(b"Content-Length", b"7, 8")]).length


@pytest.mark.parametrize("raw", [b"3\r\nabc\r\n0\r\n\r\n", b"3\nabc\n0\n\n", b"3   \r\nabc\r\n000\r\nA: b\r\n\r\n"])
def test_a_body_in_chunks_is_put_together(raw):
    assert joined(raw) == (b"abc", True)
    assert joined(raw[:5]) == (raw[:5].partition(b"\n")[2], False)
