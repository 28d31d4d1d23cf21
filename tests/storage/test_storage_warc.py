"""The archive is valid for everybody's tools, truthful about what was decoded, and reads back as it was written."""

import gzip
import shutil
import subprocess
import sys
import zlib
from datetime import UTC, datetime
from pathlib import Path

import brotli
import fsspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from crawler.document import Exchange
from crawler.storage.archive.codings import Payload, decoded
from crawler.storage.archive.reader import Archive, expand, read_archive
from crawler.storage.archive.records import gzip_member
from crawler.storage.files.errors import StorageError
from crawler.times import rfc3339
from crawler.wire.head import Head
from tests.support.archives import exchange_records
from tests.support.foreign import Writer

HTML = [(b"Content-Type", b"text/html; charset=utf-8")]
tokens = st.text(alphabet="abcXYZ-", min_size=1, max_size=12).map(str.encode)
values = st.binary(max_size=40).filter(lambda raw: not set(raw) & {0})
header_lists = st.lists(st.tuples(tokens, values), max_size=5)


def archive(folder, *exchanges):
    """A sealed archive with these exchanges; its path and their locations."""
    corpus = folder.opened()
    places = [corpus.archive(exchange) for exchange in exchanges]
    corpus.close()
    return next((folder.path / "archive").glob("*.warc.*")), places


def test_warcio_checks_every_digest_of_our_archive(folder, exchange):
    path, _ = archive(folder, *[exchange(n, body=b"<p>%d</p>" % n * n) for n in range(5)])
    done = subprocess.run(
        [Path(sys.executable).with_name("warcio"), "check", "-v", path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fail" not in done.stdout and done.stdout.count("pass") >= 5


def test_every_record_is_one_gzip_member_and_the_location_points_at_it(folder, exchange):
    path, places = archive(folder, *[exchange(n) for n in range(3)])
    content = path.read_bytes()
    for number, place in enumerate(places):
        record = gzip.decompress(content[place.offset :]).split(b"WARC/1.1\r\n")[1]
        assert b"WARC-Type: response\r\n" in record
        assert f"WARC-Record-ID: {place.record_id}".encode() in record
        assert f"WARC-Target-URI: https://example.org/{number}".encode() in record
        assert place.file == f"archive/{path.name}"


@pytest.mark.parametrize("size", [0, 1, 500, 4096, 4097, 40_000])
def test_a_record_of_any_size_is_one_gzip_member_about_as_small_as_the_largest_window_makes_it(size):
    raw = (b"WARC-Type: response\r\n" + bytes(range(256)) * 200)[:size]
    made = gzip_member(raw)
    assert zlib.decompress(made, wbits=31) == raw
    assert len(made) <= len(zlib.compress(raw, 6, wbits=31)) + 2


def test_the_file_begins_with_a_warcinfo_that_says_who_wrote_it(folder, exchange):
    path, _ = archive(folder, exchange(1))
    first = gzip.decompress(path.read_bytes())
    assert first.startswith(b"WARC/1.1\r\nWARC-Type: warcinfo\r\n")
    assert b"WARC-Filename: crawl-w1-000000.warc.gz\r\n" in first and b"software: CorpusBot/" in first


def test_records_carry_payload_type_digests_address_and_belong_together(folder, exchange):
    path, [place] = archive(folder, exchange(1))
    with path.open("rb") as file:
        _, response, request = [record.rec_headers for record in ArchiveIterator(file)]
    assert response.get_header("WARC-Identified-Payload-Type") == "text/html"
    assert response.get_header("WARC-Payload-Digest").startswith("sha1:")
    assert response.get_header("WARC-IP-Address") == "192.0.2.7"
    assert response.get_header("WARC-Date") == "2026-01-01T00:00:01.000Z"
    assert request.get_header("WARC-Concurrent-To") == place.record_id


def test_headers_of_a_decoded_body_stay_truthful(folder, exchange):
    headers = [*HTML, (b"Content-Encoding", b"gzip"), (b"Content-Length", b"999"), (b"Transfer-Encoding", b"chunked")]
    path, _ = archive(folder, exchange(1, body=b"decoded", response_headers=headers))
    [found] = read_archive(str(path))
    assert found.body == b"decoded"
    names = {name.lower(): value for name, value in found.headers}
    assert names[b"content-length"] == b"7"
    assert names[b"x-crawl-content-encoding"] == b"gzip" and names[b"x-crawl-transfer-encoding"] == b"chunked"
    assert b"content-encoding" not in names and b"transfer-encoding" not in names


def test_credentials_never_reach_the_archive(folder, exchange):
    sent = [(b"Authorization", b"Basic c2VjcmV0"), (b"Cookie", b"session=secret"), (b"Accept", b"*/*")]
    path, _ = archive(folder, exchange(1, request_headers=sent))
    content = gzip.decompress(path.read_bytes())
    assert b"Accept: */*" in content
    assert b"c2VjcmV0" not in content and b"session=" not in content


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    body=st.binary(max_size=300), headers=st.lists(st.tuples(tokens, values), max_size=5), status=st.integers(200, 599)
)
def test_any_exchange_reads_back_with_its_body_status_and_url(body, headers, status):
    made = Exchange("GET", "http://a.test/ü?q=1", status, [], headers, body, fetched_at=1.7e9)
    response, request = exchange_records(made, "1" * 8, "2" * 8)
    fs = fsspec.filesystem("memory")
    fs.pipe("/property/x.warc.gz", response + request)
    [found] = read_archive("memory://property/x.warc.gz")
    assert (found.url, found.status, found.body, found.fetched_at) == (made.url, status, body, 1.7e9)


def test_a_header_with_a_line_break_cannot_smuggle_another_header(exchange):
    made = exchange(1, response_headers=[(b"X-A", b"a\r\nContent-Encoding: gzip")])
    head = gzip.decompress(exchange_records(made, "a", "b")[0])
    assert b"X-A: a Content-Encoding: gzip\r\n" in head


def test_a_file_is_closed_once_its_cap_is_reached(folder, exchange):
    corpus = folder.opened(ARCHIVE_MAX_BYTES=1500)
    places = [corpus.archive(exchange(n)) for n in range(6)]
    corpus.close()
    assert len({place.file for place in places}) > 1
    assert [f"archive/{name}" for name in folder.names("archive") if ".warc" in name] == sorted(
        {p.file for p in places}
    )


def test_a_broken_record_is_reported_with_its_offset_and_the_others_are_read(folder, exchange):
    path, places = archive(folder, *[exchange(n, body=bytes([65 + n]) * 5000) for n in range(3)])
    content = bytearray(path.read_bytes())
    content[places[2].offset + 60 :] = b""
    cut = path.with_name("cut.warc.gz")
    cut.write_bytes(content)
    problems = []
    found = list(read_archive(str(cut), on_problem=problems.append))
    assert [response.url for response in found] == ["https://example.org/0", "https://example.org/1"]
    assert [problem.offset for problem in problems] == [places[2].offset]


def test_a_payload_beyond_the_limit_is_reported_and_not_read(folder, exchange):
    path, places = archive(folder, exchange(1, body=b"x" * 50_000), exchange(2))
    problems = []
    found = list(read_archive(str(path), on_problem=problems.append, max_bytes=10_000))
    assert [response.url for response in found] == ["https://example.org/2"]
    assert [problem.offset for problem in problems] == [places[0].offset]


def test_a_compressed_payload_that_explodes_is_reported_and_not_read(tmp_path):
    packed = gzip.compress(b"0" * 100_000_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    block = head + packed
    record = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        b"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http; msgtype=response\r\n"
        b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (len(block), block)
    )
    fine = record.replace(packed, b"<p>fine</p>").replace(b"%d\r\n\r\nHTTP" % len(block), b"54\r\n\r\nHTTP")
    (tmp_path / "bomb.warc").write_bytes(record + fine)
    problems = []
    found = list(read_archive(str(tmp_path / "bomb.warc"), on_problem=problems.append, max_bytes=200_000))
    assert [response.body for response in found] == [b"<p>fine</p>"]
    assert [problem.offset for problem in problems] == [0]


def head(lines):
    return Head((1, 1), 200, b"OK", [(name.encode(), value.encode()) for name, value in lines])


@pytest.mark.parametrize(
    ("name", "encode"),
    [
        ("gzip", gzip.compress),
        ("br", brotli.compress),
        ("zstd", zstandard.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda raw: zlib.compress(raw)[2:-4]),
        ("identity", lambda raw: raw),
        ("gzip", lambda raw: raw),  # a header that promises what the payload does not keep
    ],
)
def test_every_content_encoding_of_the_web_is_decoded(name, encode):
    assert decoded(head([("Content-Encoding", name)]), encode(b"<p>text</p>"), 1000).data == b"<p>text</p>"


def test_chunks_are_joined_before_the_content_is_decoded():
    packed = gzip.compress(b"<p>text</p>")
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    headers = [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")]
    assert decoded(head(headers), chunked, 1000) == Payload(b"<p>text</p>")


PACKED = gzip.compress(b"<p>text</p>" * 9, mtime=0)
PAGE = b"".join(b"<p>text number %d of the page</p>" % n for n in range(20))


@pytest.mark.parametrize(
    ("headers", "raw", "torn"),
    [
        ({"Content-Length": "20"}, b"<p>text</p>", "11 of the 20 bytes that Content-Length promises"),
        ({"Content-Length": "11"}, b"<p>text</p>", ""),
        ({"Content-Length": "5"}, b"<p>text</p>", ""),
        ({"Content-Length": "many"}, b"<p>text</p>", ""),
        ({"Content-Length": "20", "Content-Encoding": "gzip"}, b"<p>text</p>", ""),  # of the packed body, which went
        ({"Content-Encoding": "gzip"}, PACKED, ""),
        ({"Content-Encoding": "gzip"}, PACKED[:-12], "the gzip stream ends before its end"),
        ({"Content-Encoding": "br"}, brotli.compress(PAGE)[:-12], "the br stream ends before its end"),
        ({"Content-Encoding": "br"}, PAGE, ""),  # whoever wrote the archive took the coding off
        ({"Content-Encoding": "zstd"}, zstandard.compress(PAGE)[:-12], "the zstd stream ends before its end"),
        ({"Content-Encoding": "zstd"}, PAGE, ""),
        ({"Content-Encoding": "deflate"}, zlib.compress(PAGE)[:-12], "the deflate stream ends before its end"),
        ({"Content-Encoding": "deflate"}, PAGE, ""),
        ({"Transfer-Encoding": "chunked"}, b"3\r\n<p>\r\n0\r\n\r\n", ""),
        ({"Transfer-Encoding": "chunked"}, b"3;a=b\r\n<p>\r\n0\r\nX-Trailer: 1\r\n\r\n", ""),
        ({"Transfer-Encoding": "chunked"}, b"3\n<p>\n0\n\n", ""),
        ({"Transfer-Encoding": "chunked"}, b"3\r\n<p>\r\n", "the last chunk is missing"),
        ({"Transfer-Encoding": "chunked"}, b"3\r\n<p>\r\n3", "the last chunk is missing"),
        ({"Transfer-Encoding": "chunked"}, b"3\r\n<p>\r\n30\r\ntext", "the last chunk is missing"),
        ({"Transfer-Encoding": "chunked"}, b"<p>text</p>", ""),  # joined by whoever wrote the archive
        ({"Transfer-Encoding": "chunked"}, b"", ""),
        ({"Transfer-Encoding": "chunked"}, b"3\r\n<p>\r\n</p>text", ""),  # chunks it does not have
    ],
)
def test_a_payload_says_where_its_end_is_missing(headers, raw, torn):
    assert decoded(head(headers.items()), raw, 1000).torn == torn


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_page_whose_coding_is_only_announced_is_read_as_it_is(coding):
    for page in (PAGE, b"plain words and no markup at all, " * 9):
        assert decoded(head([("Content-Encoding", coding)]), page, 1000) == Payload(page)


def test_a_year_or_a_month_is_a_date_of_a_record(tmp_path):
    writer = Writer()
    for date in ("2026", "2026-10", "2026-10-03"):
        writer.add("http://a.test/", b"<p>text</p>", warc={"WARC-Date": date})
    found = list(read_archive(str(writer.save(tmp_path / "dates.warc.gz"))))
    days = [datetime.fromtimestamp(page.fetched_at, UTC).date().isoformat() for page in found]
    assert days == ["2026-01-01", "2026-10-01", "2026-10-03"]


def test_the_scheme_of_an_address_has_no_case(tmp_path):
    path = Writer().add("HTTP://A.test/1", b"<p>text</p>").add("httpx://a.test/2").save(tmp_path / "case.warc.gz")
    found = Archive(str(path))
    assert [page.url for page in found] == ["HTTP://A.test/1"] and found.skipped == {"scheme/httpx": 1}


def test_a_resource_of_no_type_is_not_said_to_be_plain_text(tmp_path):
    writer = Writer().add("http://a.test/", b"<p>text</p>", kind="resource", warc={"Content-Type": ""})
    (found,) = read_archive(str(writer.save(tmp_path / "resource.warc.gz")))
    assert (found.headers, found.body) == ([], b"<p>text</p>")


@pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["no byte", "an empty member"])
def test_an_archive_without_a_record_is_none(tmp_path, content):
    (tmp_path / "empty.warc.gz").write_bytes(content)
    with pytest.raises(StorageError, match="no WARC record could be read"):
        list(Archive(str(tmp_path / "empty.warc.gz")))


def test_zstd_archives_are_read(folder, exchange):
    path, _ = archive(folder, exchange(1))
    packed = path.with_name("x.warc.zst")
    frames = [zstandard.compress(part) for part in _records(path)]
    packed.write_bytes(b"".join(frames))
    assert [found.url for found in read_archive(str(packed))] == ["https://example.org/1"]


def _records(path):
    plain = gzip.decompress(path.read_bytes())
    return [b"WARC/1.1\r\n" + part for part in plain.split(b"WARC/1.1\r\n")[1:]]


def test_wet_files_are_read_as_plain_text(tmp_path):
    text = "Ein Text, so wie er ist: größer".encode()
    record = (
        b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a.test/\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        b"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
        % (len(text), text)
    )
    (tmp_path / "x.wet.gz").write_bytes(gzip.compress(record))
    [found] = read_archive(str(tmp_path / "x.wet.gz"))
    assert (found.kind, found.status, found.body) == ("conversion", 200, text)


@pytest.mark.parametrize("name", ["x.arc", "x.arc.gz"])
def test_files_of_another_kind_are_refused_with_what_to_do(tmp_path, name):
    with pytest.raises(StorageError, match="warcio recompress"):
        list(read_archive(str(tmp_path / name)))


def test_a_missing_archive_and_an_empty_pattern_are_errors(tmp_path):
    with pytest.raises(StorageError, match="cannot be opened"):
        list(read_archive(str(tmp_path / "none.warc.gz")))
    with pytest.raises(StorageError, match="no archive matches"):
        expand(str(tmp_path / "*.warc.gz"))


def test_a_file_without_any_record_is_an_error(tmp_path):
    (tmp_path / "x.warc").write_bytes(b"<!doctype html>" * 50)
    with pytest.raises(StorageError, match="is it a WARC file"):
        list(read_archive(str(tmp_path / "x.warc")))


def test_a_pattern_stands_for_its_files_in_order(folder, exchange, tmp_path):
    path, _ = archive(folder, exchange(1))
    for name in ("b.warc.gz", "a.warc.gz"):
        shutil.copy(path, tmp_path / name)
    assert expand(str(tmp_path / "*.warc.gz")) == [str(tmp_path / "a.warc.gz"), str(tmp_path / "b.warc.gz")]


READABLE = {
    "example-bad-non-chunked.warc.gz": 1,
    "example-bad.warc.gz.bad": 2,  # some of its members are torn: the others are read
    "example-digest.warc": 0,
    "example-iana.org-chunked.warc": 1,
    "example-resource.warc.gz": 1,
    "example-space-in-target-uri.warc.gz": 0,
    "example-trunc.warc": 0,  # its length leads into the next record
    "example-wget-bad-target-uri.warc.gz": 1,
    "example-wrong-chunks.warc.gz": 1,
    "example.warc": 1,
    "example.warc.gz": 1,
    "post-test.warc.gz": 3,
    "bad.arc": None,
    "example.arc": None,
    "example.arc.gz": None,
    "example-space-in-url.arc": None,
}


@pytest.mark.parametrize(("name", "pages"), READABLE.items())
def test_public_archives_are_read_or_refused_with_a_reason(shared_data, name, pages):
    path = str(shared_data / "warcio" / name)
    if pages is None:
        with pytest.raises(StorageError, match=name):
            list(read_archive(path))
    else:
        assert len(list(read_archive(path))) == pages


def test_a_chunked_and_compressed_public_page_comes_out_as_html(shared_data):
    [found] = read_archive(str(shared_data / "warcio" / "example-iana.org-chunked.warc"))
    assert found.body.lstrip().startswith(b"<!doctype html>") and found.status == 200


def test_dates_are_utc_with_milliseconds():
    assert rfc3339(0.1234) == "1970-01-01T00:00:00.123Z"


def test_the_listing_of_public_archives_is_complete(shared_data):
    assert {p.name for p in (shared_data / "warcio").iterdir()} == set(READABLE)


def test_evidence_travels_beside_its_response_and_to_no_other(folder, exchange):
    noted = [exchange(n, body=b"<p>%d</p>" % n) for n in range(3)]
    noted[1].evidence = b'{"robots_status":"allowed"}'
    path, places = archive(folder, *noted)
    found = list(read_archive(str(path)))
    assert [response.evidence for response in found] == [b"", b'{"robots_status":"allowed"}', b""]
    assert [response.offset for response in found] == [place.offset for place in places]
