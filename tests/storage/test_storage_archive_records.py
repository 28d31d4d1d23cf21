"""What stands in a record: revisits, the way of the fetch, the licence tier, both compressions; and who can read it."""

import base64
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from crawler.config import ConfigError, from_mapping
from crawler.dataset.verify import verify
from crawler.document import Capture, Rendering
from crawler.policy.evidence import load
from crawler.storage.archive.erasure import erase_pages
from crawler.storage.archive.reader import read_archive
from crawler.storage.archive.records import Referred
from crawler.storage.files.place import Place

DIGEST = "sha1:" + base64.b32encode(hashlib.sha1(b"<p>before</p>", usedforsecurity=False).digest()).decode()
EARLIER = Referred("https://example.org/1", "2025-12-31T00:00:00Z", "<urn:uuid:00000000>", DIGEST)


def made(folder, exchange, **settings):
    """A corpus with one page, one 304 and one answer with the same body as before; the path of its archive."""
    corpus = folder.opened(**settings)
    facts = {"lease": "7-1", "attempt": 2, "worker": "w1", "leased_at": "2026-01-01T00:00:00.500Z", "fetchTimeMs": 12}
    evidence = (
        b'{"robots_status":"allowed","robots_sha256":null,"robots_fetched_at":null,"robots_rule":"","signals":[]}'
    )
    licence = {"license_tier": "A", "license_tag": "CC-BY-4.0"}
    corpus.archive(exchange(1, body=b"<p>now</p>" * 30, fetch=facts, evidence=evidence, **licence))
    head = [(b"ETag", b'"x"'), (b"Content-Length", b"77")]
    corpus.archive_revisit(exchange(2, status=304, body=b"", response_headers=head, **licence), EARLIER)
    corpus.archive_revisit(exchange(3, body=b"<p>before</p>"), EARLIER)
    corpus.close()
    return next((folder.path / "archive").glob("*.warc.*"))


def records(path):
    """Each record's fields and block, as warcio reads them."""
    with path.open("rb") as file:
        return [
            (record.rec_headers, record.http_headers, record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]


def of_kind(path, kind):
    return [record for record in records(path) if record[0].get_header("WARC-Type") == kind]


def test_a_304_becomes_a_revisit_that_names_the_record_it_stands_on(folder, exchange):
    (fields, http, body), _ = of_kind(made(folder, exchange), "revisit")
    assert fields.get_header("WARC-Profile") == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert fields.get_header("WARC-Refers-To-Target-URI") == "https://example.org/1"
    assert fields.get_header("WARC-Refers-To-Date") == "2025-12-31T00:00:00Z"
    assert fields.get_header("WARC-Refers-To") == "<urn:uuid:00000000>"
    assert fields.get_header("WARC-Payload-Digest") == DIGEST
    assert fields.get_header("WARC-Target-URI") == "https://example.org/2"
    assert (http.get_statuscode(), http.get_header("ETag"), http.get_header("Content-Length")) == ("304", '"x"', "77")
    assert body == b"" and fields.get_header("WARC-Truncated") is None


def test_the_same_payload_again_becomes_a_revisit_without_it_and_marked_so(folder, exchange):
    _, (fields, http, body) = of_kind(made(folder, exchange), "revisit")
    assert fields.get_header("WARC-Profile") == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert fields.get_header("WARC-Payload-Digest") == DIGEST  # of what came now: the same
    assert fields.get_header("WARC-Truncated") == "length"
    assert http.get_statuscode() == "200" and body == b""


def test_what_is_not_known_of_the_earlier_record_is_left_out(folder, exchange):
    corpus = folder.opened()
    corpus.archive_revisit(exchange(2, status=304, body=b""), Referred("https://example.org/2"))
    corpus.close()
    ((fields, _, _),) = of_kind(next((folder.path / "archive").glob("*.gz")), "revisit")
    for name in ("WARC-Refers-To", "WARC-Refers-To-Date", "WARC-Payload-Digest"):
        assert fields.get_header(name) is None
    assert fields.get_header("WARC-Refers-To-Target-URI") == "https://example.org/2"


def test_each_visit_has_its_request_beside_it(folder, exchange):
    path = made(folder, exchange)
    answers = [f.get_header("WARC-Record-ID") for f, _, _ in records(path) if f.get_header("WARC-Type") in
               {"response", "revisit"}]  # fmt: skip
    assert [f.get_header("WARC-Concurrent-To") for f, _, _ in of_kind(path, "request")] == answers


def test_the_way_of_the_fetch_stands_beside_what_policy_had_read(folder, exchange):
    ((fields, _, body),) = of_kind(made(folder, exchange), "metadata")
    content = json.loads(body)
    assert content["fetch"] == {
        "lease": "7-1",
        "attempt": 2,
        "worker": "w1",
        "leased_at": "2026-01-01T00:00:00.500Z",
        "fetchTimeMs": 12,
    }
    assert fields.get_header("WARC-Target-URI") == "https://example.org/1"
    evidence = load(body)
    assert evidence is not None and evidence.robots_status == "allowed"


def test_every_record_of_an_exchange_carries_the_licence_tier(folder, exchange):
    exchanges = [r for r in records(made(folder, exchange)) if r[0].get_header("WARC-Type") != "warcinfo"]
    assert [r[0].get_header("X-Crawl-Licence-Tier") for r in exchanges] == ["A"] * 5 + ["none"] * 2
    assert [r[0].get_header("X-Crawl-Licence") for r in exchanges] == ["CC-BY-4.0"] * 5 + [None] * 2


def test_a_licence_tag_cannot_smuggle_a_field(folder, exchange):
    corpus = folder.opened()
    corpus.archive(exchange(1, license_tag="CC0\r\nWARC-Type: warcinfo", license_tier="A"))
    corpus.close()
    (response,) = of_kind(next((folder.path / "archive").glob("*.gz")), "response")
    assert response[0].get_header("X-Crawl-Licence") == "CC0 WARC-Type: warcinfo"


def test_a_body_that_is_not_whole_is_marked(folder, exchange):
    corpus = folder.opened()
    corpus.archive(exchange(1, truncated="disconnect"))
    corpus.archive(exchange(2))
    corpus.close()
    found = of_kind(next((folder.path / "archive").glob("*.gz")), "response")
    assert [fields.get_header("WARC-Truncated") for fields, _, _ in found] == ["disconnect", None]


def test_the_warcinfo_names_software_operator_robots_policy_and_format(folder, exchange):
    ((_, _, body),) = of_kind(made(folder, exchange, CRAWLER_CONTACT="https://example.org/bot"), "warcinfo")
    fields = dict(line.split(": ", 1) for line in body.decode().strip().split("\r\n"))
    assert fields["software"].startswith("CorpusBot/") and fields["operator"] == "https://example.org/bot"
    assert fields["robots"] == "obey" and fields["format"] == "WARC File Format 1.1"
    assert fields["conformsTo"].endswith("/warc-1.1/") and "hostname" not in fields and "ip" not in fields


def test_with_zstd_each_record_is_one_checksummed_frame(folder, exchange):
    path = made(folder, exchange, ARCHIVE_COMPRESSION="zstd")
    assert path.name == "crawl-w1-000000.warc.zst"
    with path.open("rb") as file:
        offsets = [record.stream_pos for record in FastIterator(file, parse_http=False)]
    content = path.read_bytes()
    assert len(offsets) == 8
    for start, end in zip(offsets, [*offsets[1:], len(content)], strict=True):
        frame = zstandard.get_frame_parameters(content[start:end])
        plain = zstandard.ZstdDecompressor().decompress(content[start:end])
        assert frame.has_checksum and plain.startswith(b"WARC/1.1\r\n") and plain.count(b"WARC/1.1\r\n") == 1


def test_zstd_and_gzip_hold_the_same_records(folder, exchange, tmp_path):
    packed = made(folder, exchange)
    frames = made(type(folder)(tmp_path / "z"), exchange, ARCHIVE_COMPRESSION="zstd")
    with frames.open("rb") as file:
        plain = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()
    renamed = plain.replace(b"warc.zst", b"warc.gz").split(b"WARC/1.1\r\n")[2:]  # behind the warcinfo
    assert renamed == gzip.decompress(packed.read_bytes()).split(b"WARC/1.1\r\n")[2:]
    assert [page.body for page in read_archive(str(frames)) if page.status == 200 and page.kind == "response"] == [
        page.body for page in read_archive(str(packed)) if page.status == 200 and page.kind == "response"
    ]


def test_an_unknown_compression_is_a_configuration_error():
    with pytest.raises(ConfigError, match="ARCHIVE_COMPRESSION"):
        from_mapping({"ARCHIVE_COMPRESSION": "lz4"})


def test_a_page_withdrawn_from_a_zstd_archive_leaves_every_other_offset_true(folder, exchange):
    corpus = folder.opened(ARCHIVE_COMPRESSION="zstd")
    places = [corpus.archive(exchange(number, body=b"<p>secret %d</p>" % number * 9)) for number in range(4)]
    corpus.close()
    (entry,) = folder.manifest()["files"]
    new = folder.path / "archive" / "crawl-w1-000009.warc.zst"
    erased = erase_pages(
        Place(str(folder.path)), entry["path"], new, lambda url: url.endswith("/2"), sha256=entry["sha256"]
    )
    assert erased is not None and erased[1] == 1 and erased[0]["bytes"] == entry["bytes"]
    assert {page.url: page.offset for page in read_archive(str(new))} == {
        f"https://example.org/{number}": places[number].offset for number in (0, 1, 3)
    }
    index = new.with_name("crawl-w1-000009.cdxj").read_bytes()
    assert b"example.org/2" not in index and index.count(b"\n") == 3


def test_what_a_withdrawn_page_fetched_goes_with_it_although_its_url_is_another(folder, exchange):
    def drawn(number):
        own = exchange(100 + number, body=b'{"secret": %d}' % number * 9, evidence=b'{"of": "data"}')
        return Rendering(b"<p>drawn</p>", {}, [Capture(own.url, own.body, [], own)])

    corpus = folder.opened()
    for number in range(2):
        corpus.archive(exchange(number, body=b"<p>shell</p>", evidence=b"{}", rendering=drawn(number)))
    corpus.close()
    (entry,) = folder.manifest()["files"]
    new = folder.path / "archive" / "crawl-w1-000009.warc.gz"
    erased = erase_pages(
        Place(str(folder.path)), entry["path"], new, lambda url: url.endswith("/1"), sha256=entry["sha256"]
    )
    assert erased is not None and erased[1] == 1  # a capture is no page
    left = gzip.decompress(new.read_bytes())
    assert b"example.org/101" not in left and b'"secret": 1' not in left
    (page,) = read_archive(str(new))
    assert [capture.url for capture in page.captures] == ["https://example.org/100"]


def test_warcio_checks_revisits_and_metadata_too(folder, exchange):
    command = [Path(sys.executable).with_name("warcio"), "check", "-v", made(folder, exchange)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fail" not in done.stdout and done.stdout.count("digest pass") == 6


def read_plainly(path):
    """(type, URL, date, length of the block) of each record: RFC 1952 and the grammar of WARC 1.1, no WARC library."""
    data, found = gzip.decompress(path.read_bytes()), []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        version, *lines = head.decode().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines)
        length = int(fields["Content-Length"])
        assert version == "WARC/1.1" and rest[length : length + 4] == b"\r\n\r\n"
        digest = base64.b32encode(hashlib.sha1(rest[:length], usedforsecurity=False).digest()).decode()
        assert fields["WARC-Block-Digest"] == f"sha1:{digest}"
        found.append((fields["WARC-Type"], fields.get("WARC-Target-URI"), fields["WARC-Date"], length))
        data = rest[length + 4 :]
    return found


def test_three_readers_that_share_no_code_see_the_same_records(folder, exchange):
    path = made(folder, exchange)
    names = ("WARC-Type", "WARC-Target-URI", "WARC-Date", "Content-Length")
    with path.open("rb") as file:
        fast = [tuple(record.headers.get(name) for name in names) for record in FastIterator(file, parse_http=False)]
    slow = [tuple(fields.get_header(name) for name in names) for fields, _, _ in records(path)]
    plain = [(*record[:3], str(record[3])) for record in read_plainly(path)]
    assert fast == slow == plain and len(plain) == 8


HARVARDS = """
import io, json, sys
from warcbench import WARCCachingConfig, WARCParser, WARCParsingConfig
cache = WARCCachingConfig(header_bytes=True, content_block_bytes=True)
options = WARCParsingConfig(style="content_length")
content = io.BufferedReader(io.BytesIO(sys.stdin.buffer.read()))
parser = WARCParser(content, enable_lazy_loading_of_bytes=False, parsing_options=options, cache=cache)
parser.parse()
assert (parser.error, parser.warnings) == (None, [])
for record in parser.records:
    fields = record.header.get_parsed_fields(decode=True)
    values = [fields.get(name, [None])[0] for name in ("WARC-Type", "WARC-Target-URI", "WARC-Date")]
    print(json.dumps([*values, len(record.content_block.bytes)]))
"""
"""A process of its own: the library puts a reader of its own into the module gzip, which fails from Python 3.12 on."""


def test_the_parser_of_harvards_innovation_lab_sees_the_same_records(folder, exchange):
    """WARCbench: a third library, in Python alone, with a parser of its own."""
    path = made(folder, exchange)
    plain = gzip.decompress(Path(path).read_bytes())
    told = subprocess.run([sys.executable, "-c", HARVARDS], input=plain, capture_output=True, check=True).stdout
    assert [tuple(json.loads(line)) for line in told.splitlines()] == read_plainly(path)


JAVASCRIPT = """
import { createReadStream } from "node:fs";
import { pathToFileURL } from "node:url";
const { WARCParser } = await import(pathToFileURL(process.argv[2] + "/dist/index.js"));
for await (const record of new WARCParser(createReadStream(process.argv[3]))) {
  await record.readFully();
  console.log(record.warcType, record.warcTargetURI, record.warcDate, record.warcContentLength);
}
"""


def test_warcio_js_reads_our_archive(folder, exchange, tmp_path):
    """The Webrecorder project's own implementation in TypeScript (npm package warcio 2)."""
    library = os.environ.get("WARCIO_JS", "")
    if not library or not shutil.which("node"):
        pytest.skip("set WARCIO_JS to a folder node_modules/warcio (npm install warcio@2), and install node")
    path, script = made(folder, exchange), tmp_path / "read.mjs"
    script.write_text(JAVASCRIPT)
    done = subprocess.run(["node", script, library, path], capture_output=True, text=True, check=True)
    expected = [f"{kind} {url or 'null'} {date} {length}" for kind, url, date, length in read_plainly(path)]
    assert done.stdout.splitlines() == expected
    assert verify(Place(str(folder.path))).damage == []
