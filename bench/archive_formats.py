"""Which WARC writer, and what does one clean frame save? `python -m bench.archive_formats FOLDER_WITH_HTML`.

Prints milliseconds of CPU and bytes a page for warcio and FastWARC, and the size of the same records as a journal (one
zstd frame per group commit) and as a sealed shard (one frame).
"""

from __future__ import annotations

import io
import itertools
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.document import Document, Exchange
from crawler.storage import warc
from crawler.storage.journal import zstd_frame
from crawler.storage.records import encode, record_of
from crawler.storage.shards import write_sealed

PAGES = 400
COMMIT_RECORDS = 8
URL = "https://example.org/"
HEADERS = [(b"Content-Type", b"text/html")]


def main(folder: str) -> None:
    paths = itertools.islice(sorted(Path(folder).rglob("*.html")), PAGES)
    bodies = [path.read_bytes() for path in paths]
    print(f"{len(bodies)} pages, mean {sum(map(len, bodies)) / len(bodies):,.0f} bytes")
    _measure("warcio gzip 9", bodies, _with_warcio)
    for level in (9, 6):
        warc.GZIP_LEVEL = level
        _measure(f"FastWARC gzip {level}", bodies, _with_fastwarc)
    _shards(bodies)


def _measure(name: str, bodies: list[bytes], write: Callable[[bytes], int]) -> None:
    started = time.process_time()
    size = sum(write(body) for body in bodies)
    spent = time.process_time() - started
    print(f"{name:16} {1000 * spent / len(bodies):.2f} ms, {size / len(bodies):,.0f} bytes a page (response + request)")


def _with_fastwarc(body: bytes) -> int:
    made = Exchange("GET", URL, 200, [], HEADERS, body)
    return sum(map(len, warc.exchange_records(made, "00000000", "00000001")))


def _with_warcio(body: bytes) -> int:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version="WARC/1.1")
    answer = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "example.org")], is_http_request=True)
    response = writer.create_warc_record(URL, "response", payload=io.BytesIO(body), http_headers=answer)
    writer.write_request_response_pair(writer.create_warc_record(URL, "request", http_headers=asked), response)
    return len(out.getvalue())


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
