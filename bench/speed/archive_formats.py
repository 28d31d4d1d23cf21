"""Which WARC writer, which compression, what does an index cost?

`python -m bench.speed.archive_formats FOLDER_WITH_HTML`

Prints milliseconds of CPU and bytes a page for warcio and FastWARC, for gzip and zstd side by side (writing, reading
all records back, reading them back for the index), and the size of the same records as a journal (one zstd frame per
group commit) and as a sealed shard (one frame).
"""

from __future__ import annotations

import functools
import io
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from bench.web.pages import html_files
from crawler.document import Document, Exchange
from crawler.storage.archive import records
from crawler.storage.archive.cdxj import scan
from crawler.storage.archive.records import PACKERS, Pack, gzip_member, request_record, response_record, zstd_record
from crawler.storage.files.journal import zstd_frame
from crawler.storage.files.records import encode, record_of
from crawler.storage.files.shards import write_sealed

PAGES = 400
COMMIT_RECORDS = 8
URL = "https://example.org/"
HEADERS = [(b"Content-Type", b"text/html")]


def main(folder: str) -> None:
    bodies = [path.read_bytes() for path in html_files(Path(folder))[:PAGES]]
    print(f"{len(bodies)} pages, mean {sum(map(len, bodies)) / len(bodies):,.0f} bytes; CPU and size a page:")
    _measure("warcio gzip 9", bodies, _with_warcio)
    for level in (9, 6):
        records.GZIP_LEVEL = level
        _measure(f"FastWARC gzip {level}", bodies, functools.partial(_with_fastwarc, gzip_member))
    for level in (3, 6, 9):
        records.ZSTD_LEVEL = level
        _measure(f"FastWARC zstd {level}", bodies, functools.partial(_with_fastwarc, zstd_record))
    records.ZSTD_LEVEL = 6
    with tempfile.TemporaryDirectory() as made:
        for ending in PACKERS:
            _read(Path(made) / f"x.warc.{ending}", bodies)
    _shards(bodies)


def _measure(name: str, bodies: list[bytes], write: Callable[[bytes], bytes]) -> None:
    started = time.process_time()
    size = sum(len(write(body)) for body in bodies)
    spent = time.process_time() - started
    print(f"{name:22} {1000 * spent / len(bodies):.2f} ms, {size / len(bodies):,.0f} bytes")


def _with_fastwarc(pack: Pack, body: bytes) -> bytes:
    made = Exchange("GET", URL, 200, [], HEADERS, body)
    return response_record(made, "00000000", pack) + request_record(made, "00000001", "00000000", pack)


def _read(path: Path, bodies: list[bytes]) -> None:
    """How long all records take with FastWARC and warcio, and the pages for the index."""
    pack = PACKERS[path.suffix.removeprefix(".")]
    path.write_bytes(b"".join(_with_fastwarc(pack, body) for body in bodies))
    readers: dict[str, Callable[[IO[bytes]], int]] = {
        "FastWARC": lambda file: sum(len(record.reader.read()) for record in FastIterator(file, parse_http=False)),
        "index": lambda file: sum(len(page.line(path.name)) for page in scan(file)),
    }
    if path.suffix == ".gz":
        readers["warcio"] = lambda file: sum(len(r.content_stream().read()) for r in ArchiveIterator(file))
    for name, read in readers.items():
        started = time.process_time()
        with path.open("rb") as file:
            read(file)
        spent = time.process_time() - started
        print(f"read {path.suffix:4} {name:12} {1000 * spent / len(bodies):.2f} ms")


def _with_warcio(body: bytes) -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version="WARC/1.1")
    answer = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "example.org")], is_http_request=True)
    response = writer.create_warc_record(URL, "response", payload=io.BytesIO(body), http_headers=answer)
    writer.write_request_response_pair(writer.create_warc_record(URL, "request", http_headers=asked), response)
    return out.getvalue()


def _shards(bodies: list[bytes]) -> None:
    lines = [encode(record_of(Document(url=URL, text=body.decode("utf-8", "replace")))) for body in bodies]
    started = time.process_time()
    batches = [lines[i : i + COMMIT_RECORDS] for i in range(0, len(lines), COMMIT_RECORDS)]
    journal = sum(len(zstd_frame(b"".join(batch))) for batch in batches)
    middle = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        sealed = write_sealed(Path(folder) / "sealed.jsonl.zst", iter(lines))["bytes"]
    ended = time.process_time()
    for name, spent, size in (("journal", middle - started, journal), ("sealed", ended - middle, sealed)):
        print(f"{name:16} {1000 * spent / len(lines):.2f} ms, {size / len(lines):,.0f} bytes a record")


if __name__ == "__main__":
    main(sys.argv[1])
