"""Other people's archives are read as they are: every page that can be read, and an offset for the rest."""

import base64
import gzip
import hashlib
import io
import random
import zlib

import fsspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.storage.archive.members import pieces
from crawler.storage.archive.reader import Archive, ArchivedResponse, ReadProblem
from crawler.storage.files.errors import StorageError
from crawler.wire.head import HeadError, read_block

PAGE = b"<p>a page</p>"
PACKED = {"warc": lambda raw: raw, "warc.gz": gzip.compress, "warc.zst": zstandard.compress}


def record(number=1, block=None, *, kind="response", end=b"\r\n", tail=b"\r\n\r\n", **fields):
    """A WARC record by hand; a field that is None is left out."""
    if block is None:
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>page %d</p>" % number
    named = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{number}>",
        "WARC-Target-URI": f"http://a.test/{number}",
        "WARC-Date": "2026-01-01T00:00:00Z",
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(block)),
    } | {name.replace("_", "-"): value for name, value in fields.items()}
    lines = [b"WARC/1.0", *(f"{name}: {value}".encode() for name, value in named.items() if value is not None)]
    return end.join(lines) + end + end + block + tail


def read(content, name="x.warc.gz", **options):
    """Pages and problems of an archive with these bytes."""
    fs = fsspec.filesystem("memory")
    fs.pipe(f"/foreign/{name}", content)
    archive = Archive(f"memory://foreign/{name}", **options)
    found = list(archive)
    pages = [item for item in found if isinstance(item, ArchivedResponse)]
    return archive, pages, [item for item in found if isinstance(item, ReadProblem)]


@pytest.mark.parametrize("kind", PACKED)
def test_what_common_crawl_puts_around_a_page_is_passed_over_in_silence(kind):
    records = [
        record(1, b"software: Nutch\r\n", kind="warcinfo", WARC_Target_URI=None),
        record(2, b"GET / HTTP/1.1\r\n\r\n", kind="request"),
        record(3),
        record(4, b"fetchTimeMs: 10\r\n", kind="metadata"),
    ]
    archive, [page], problems = read(b"".join(map(PACKED[kind], records)), f"x.{kind}")
    assert (page.url, page.body, problems) == ("http://a.test/3", b"<p>page 3</p>", [])
    assert (archive.records, dict(archive.skipped)) == (4, {})


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize(
    "block",
    [
        b"HTTP/1.0 200 OK\r\n\r\n" + PAGE,
        b"HTTP/2 200\r\ncontent-type: text/html\r\n\r\n" + PAGE,
        b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n" + PAGE,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n" + PAGE + b"\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + PAGE,
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(PAGE),
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + PAGE,
        b"HTTP/1.1 200 OK\r\nX-Folded: a\r\n\tb\r\nnot a header\r\n\r\n" + PAGE,
    ],
    ids=["http1.0", "http2", "lf", "chunked", "unchunked", "gzip", "ungzipped", "folded"],
)
def test_responses_of_every_age_give_their_body(kind, block):
    _, [page], problems = read(PACKED[kind](record(1, block)), f"x.{kind}")
    assert (page.body, page.status, problems) == (PAGE, 200, [])


@pytest.mark.parametrize("kind", PACKED)
def test_records_with_line_feeds_alone_are_records(kind):
    content = b"".join(PACKED[kind](record(n, end=b"\n", tail=b"\n\n")) for n in range(3))
    _, pages, problems = read(content, f"x.{kind}")
    assert ([page.body for page in pages], problems) == ([b"<p>page %d</p>" % n for n in range(3)], [])


@pytest.mark.parametrize("tail", [b"", b"\r\n", b"\r\n\r\n"])
@pytest.mark.parametrize("kind", PACKED)
def test_the_last_record_may_end_with_its_block(kind, tail):
    content = PACKED[kind](record(1)) + PACKED[kind](record(2, tail=tail))
    _, pages, problems = read(content, f"x.{kind}")
    assert (len(pages), problems) == (2, [])


def test_a_record_without_content_length_ends_with_its_member():
    content = gzip.compress(record(1, Content_Length=None)) + gzip.compress(record(2))
    _, pages, problems = read(content)
    assert ([page.body for page in pages], problems) == ([b"<p>page 1</p>", b"<p>page 2</p>"], [])


def test_a_record_without_content_length_in_a_plain_file_is_reported_and_the_next_one_is_read():
    content = record(1, Content_Length=None) + record(2)
    _, [page], [problem] = read(content, "x.warc")
    assert (page.url, problem.offset, "Content-Length" in problem.what) == ("http://a.test/2", 0, True)


def test_one_gzip_member_around_all_records_is_read():
    _, pages, problems = read(gzip.compress(b"".join(record(n) for n in range(5))))
    assert ([page.offset for page in pages], problems) == ([0] * 5, [])


def test_a_record_that_is_cut_into_many_gzip_members_is_one_record():
    whole = record(1, b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1000) + record(2)
    content = b"".join(gzip.compress(whole[at : at + 100]) for at in range(0, len(whole), 100))
    _, pages, problems = read(content)
    assert ([len(page.body) for page in pages], problems) == ([1000, 13], [])


def test_zstd_files_with_a_dictionary_in_front_are_read():
    raw = [record(n) for n in range(200)]
    words = zstandard.train_dictionary(4096, raw)
    for packed in (words.as_bytes(), zstandard.compress(words.as_bytes())):
        head = b"\x5d\x2a\x4d\x18" + len(packed).to_bytes(4, "little") + packed
        frames = [zstandard.ZstdCompressor(dict_data=words).compress(one) for one in raw]
        _, pages, problems = read(head + b"".join(frames), "x.warc.zst")
        assert (len(pages), problems) == (200, [])


def test_the_packing_is_told_by_the_bytes_and_not_by_the_name():
    assert [len(read(pack(record(1)), "x.warc.gz")[1]) for pack in PACKED.values()] == [1, 1, 1]


def test_an_arc_file_under_a_warc_name_is_refused_with_what_to_do():
    arc = b"filedesc://x.arc 0.0.0.0 20260101000000 text/plain 76\n1 0 x\n"
    for content, name in ((arc, "x.warc"), (gzip.compress(arc), "x.warc.gz")):
        with pytest.raises(StorageError, match="warcio recompress"):
            read(content, name)


def test_other_schemes_are_counted_and_are_no_pages():
    records = [
        record(1, b"20260101000000\na.test. 300 IN A 127.0.0.1\n", WARC_Target_URI="dns:a.test"),
        record(2, WARC_Target_URI="ftp://a.test/x"),
        record(3, WARC_Target_URI=None),
        record(4),
    ]
    archive, [page], problems = read(b"".join(map(gzip.compress, records)))
    assert (page.url, problems) == ("http://a.test/4", [])
    assert archive.skipped == {"scheme/dns": 1, "scheme/ftp": 1, "scheme/none": 1}


def test_revisits_and_truncated_pages_say_what_they_are():
    head = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    records = [
        record(1, head, kind="revisit", WARC_Refers_To_Target_URI="http://a.test/0"),
        record(2, WARC_Truncated="length"),
    ]
    _, [revisit, cut], problems = read(b"".join(map(gzip.compress, records)))
    assert (revisit.kind, revisit.status, revisit.body) == ("revisit", 304, b"")
    assert (revisit.refers_to, cut.truncated, problems) == ("http://a.test/0", "length", [])


@pytest.mark.parametrize(
    ("fields", "block"),
    [
        ({"WARC_Date": "yesterday"}, None),
        ({"WARC_Segment_Number": "1"}, None),
        ({"kind": "continuation"}, None),
        ({}, b"<p>no status line</p>"),
        ({"Content_Length": "-1"}, None),
        ({"Content_Length": "7"}, None),
        ({"Content_Length": "4000000"}, None),
        ({"Content_Length": "99999999999999999999"}, None),
    ],
)
@pytest.mark.parametrize("kind", PACKED)
def test_a_record_that_cannot_be_understood_is_reported_and_its_neighbours_are_read(kind, fields, block):
    packed = [PACKED[kind](one) for one in (record(1), record(2, block, **fields), record(3))]
    _, pages, [problem] = read(b"".join(packed), f"x.{kind}", max_bytes=1000)
    assert [page.url for page in pages] == ["http://a.test/1", "http://a.test/3"]
    assert problem.offset == len(packed[0])


@pytest.mark.parametrize("kind", ["warc.gz", "warc.zst"])
def test_of_a_damaged_archive_every_whole_record_is_read_and_every_damaged_one_reported(kind):
    """400 records, 4 of them damaged at a random byte: the rest, and exactly these offsets."""
    chance = random.Random(6)
    pack = zstandard.ZstdCompressor(write_checksum=True).compress if kind == "warc.zst" else gzip.compress
    packed = [pack(record(n, _block(n, chance))) for n in range(400)]
    offsets = [sum(map(len, packed[:n])) for n in range(400)]
    hit = sorted(chance.sample(range(400), 4))
    for number in hit:
        damaged = bytearray(packed[number])
        at = chance.randrange(20, len(damaged) - 12)
        damaged[at] ^= 0x55
        packed[number] = bytes(damaged)
    _, pages, problems = read(b"".join(packed), f"x.{kind}")
    assert [page.url for page in pages] == [f"http://a.test/{n}" for n in range(400) if n not in hit]
    assert [problem.offset for problem in problems] == [offsets[n] for n in hit]


def _block(number, chance):
    words = b" ".join(b"%d" % chance.randrange(10_000) for _ in range(300))
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>%d %s</p>" % (number, words)


def test_a_flipped_bit_in_a_plain_archive_is_found_by_the_block_digest():
    block = b"HTTP/1.1 200 OK\r\n\r\n" + PAGE
    sha1 = hashlib.sha1(block).digest()
    for digest in (f"sha1:{base64.b32encode(sha1).decode()}", f"sha-1:{sha1.hex()}"):
        fine = record(1, block, WARC_Block_Digest=digest)
        content = fine.replace(b"a page", b"a pagf") + fine
        _, [page], [problem] = read(content, "x.warc")
        assert (page.offset, problem.offset, "digest" in problem.what) == (len(fine), 0, True)


@pytest.mark.parametrize("kind", PACKED)
def test_an_archive_that_ends_in_the_middle_gives_what_came_before(kind):
    packed = [PACKED[kind](record(n, _block(n, random.Random(n)))) for n in range(3)]
    _, pages, [problem] = read(b"".join(packed)[:-100], f"x.{kind}")
    assert (len(pages), problem.offset) == (2, len(packed[0]) + len(packed[1]))


@pytest.mark.parametrize("kind", PACKED)
def test_reading_can_begin_at_every_record(kind):
    packed = [PACKED[kind](record(n)) for n in range(4)]
    for number in range(4):
        start = sum(map(len, packed[:number]))
        _, pages, problems = read(b"".join(packed), f"x.{kind}", start=start)
        assert ([page.url for page in pages], problems) == ([f"http://a.test/{n}" for n in range(number, 4)], [])
        assert pages[0].offset == start


class OneWay(io.RawIOBase):
    """A stream as a server without ranges gives it."""

    def __init__(self, content):
        self._file = io.BytesIO(content)

    def readable(self):
        return True

    def seekable(self):
        return False

    def read(self, size=-1):
        return self._file.read(size)


@pytest.mark.parametrize("kind", PACKED)
def test_a_stream_that_cannot_seek_is_read_to_its_end(kind):
    content = b"".join(PACKED[kind](record(n)) for n in range(3))
    plain = b"".join(piece.data for piece in pieces(OneWay(content)))
    assert plain == b"".join(record(n) for n in range(3))


def test_a_bomb_is_unpacked_piece_by_piece():
    bomb = gzip.compress(b"WARC/1.0\r\n" + bytes(50_000_000))
    assert max(len(piece.data) for piece in pieces(io.BytesIO(bomb))) <= 65_536
    packed = zstandard.compress(b"WARC/1.0\r\n" + bytes(50_000_000))
    assert max(len(piece.data) for piece in pieces(io.BytesIO(packed))) <= 65_536


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    kind=st.sampled_from(list(PACKED)),
    edits=st.lists(st.tuples(st.integers(0, 5000), st.binary(max_size=12), st.integers(0, 40)), max_size=6),
)
def test_no_damage_makes_the_reader_fail_or_invent_a_page(kind, edits):
    bodies = {f"http://a.test/{n}": b"<p>page %d</p>" % n for n in range(6)}
    written = b"".join(PACKED[kind](record(n)) for n in range(6))
    content = bytearray(written)
    for number, put, cut in edits:
        at = number % (len(content) + 1)
        content[at : at + cut] = put
    try:
        _, pages, problems = read(bytes(content), f"x.{kind}")
    except StorageError as error:
        assert "is it a WARC file" in str(error)
        return
    if kind == "warc.gz":  # every member has a checksum: what is read is what was written
        assert all(bodies[page.url] == page.body for page in pages)
        assert problems or len(pages) == 6 or len(content) < len(written)
    assert len(pages) <= 6


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.binary(max_size=400))
def test_any_bytes_are_a_response_or_a_value_error(block):
    for content in (block, b"HTTP/1.1 200 OK\r\n" + block):
        try:
            _, body = read_block(content)
        except ValueError:
            continue
        assert content.endswith(body)


def test_header_lines_keep_their_order_and_their_bytes():
    head, body = read_block(b"HTTP/1.1 404 Not F\xfcnd\r\nA: 1\r\nB:\xe9\r\nA:  2 \r\n\r\nbody")
    assert (head.status, head.headers, body) == (404, [(b"A", b"1"), (b"B", b"\xe9"), (b"A", b"2")], b"body")


def test_raw_deflate_inside_a_record_does_not_look_like_a_member():
    inner = gzip.compress(record(9))  # a page that is a gzip file with a WARC record in it
    block = b"HTTP/1.1 200 OK\r\nContent-Type: application/gzip\r\n\r\n" + inner
    _, pages, problems = read(gzip.compress(record(1, block), 0) + gzip.compress(record(2)))
    assert ([page.url for page in pages], problems) == (["http://a.test/1", "http://a.test/2"], [])
    assert zlib.crc32(pages[0].body) == zlib.crc32(inner)


@pytest.mark.parametrize("status", ["100 Continue", "103 Early Hints"])
def test_an_interim_response_before_the_page_is_not_the_page(status):
    interim = f"HTTP/1.1 {status}\r\nLink: </x.css>\r\n\r\n".encode()
    final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE
    _, [page], problems = read(record(block=interim + interim + final), "x.warc")
    assert (page.status, page.body, page.headers, problems) == (200, PAGE, [(b"Content-Type", b"text/html")], [])
    assert read_block(interim)[0].status == int(status[:3])
    with pytest.raises(HeadError):
        read_block(interim + PAGE)
    assert read_block(b"HTTP/1.1 200 OK\r\n\r\n" + final)[1] == final
