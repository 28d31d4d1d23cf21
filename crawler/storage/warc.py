"""The raw exchange on its way to the archive: WARC 1.1, one gzip member per record, appended to a journal.

`exchange_records` is pure: an `Exchange` in, the bytes of its response and request records out. `WarcWriter` numbers
the files and caps their size. Reading is in `crawler/storage/replay.py`.

Sources: ISO 28500:2017 (WARC 1.1); Common Crawl's convention for payloads that were decoded in flight: the original
Content-Encoding, Transfer-Encoding and Content-Length are kept as `X-Crawl-…`, and Content-Length is that of the body.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import WarcRecord, WarcRecordType

from crawler.document import Exchange
from crawler.storage.journal import Journal
from crawler.storage.replay import EVIDENCE_TYPE, ArchivedResponse, ReadProblem, read_archive
from crawler.storage.shards import Entry, file_facts

__all__ = ["ArchivedResponse", "ReadProblem", "WarcLocation", "WarcWriter", "exchange_records", "read_archive"]

GZIP_LEVEL = 6
_DECODED = {b"content-encoding", b"transfer-encoding", b"content-length"}
_SECRETS = {b"authorization", b"proxy-authorization", b"cookie"}

Headers = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class WarcLocation:
    """Where the response record of an exchange is: file relative to CORPUS_DIR, `<urn:uuid:…>`, byte offset."""

    file: str
    record_id: str
    offset: int


class WarcWriter:
    """Writes exchanges to numbered files `<prefix>-NNNNNN.warc.gz`, a new one once `max_bytes` are reached.

    `new_id` returns a UUID as text and `clock` seconds since the epoch; with both injected the bytes are reproducible.
    """

    def __init__(
        self,
        folder: Path,
        prefix: str,
        *,
        max_bytes: int,
        first_number: int,
        on_seal: Callable[[Path, Entry], None],
        info: dict[str, str],
        clock: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._folder, self._prefix, self._max_bytes, self._number = folder, prefix, max_bytes, first_number
        self._on_seal, self._info, self._clock, self._new_id = on_seal, info, clock, new_id
        self._journal: Journal | None = None
        self._count = 0
        self._times: list[str] = []

    def write(self, exchange: Exchange) -> WarcLocation:
        """Append response and request record; durable after `commit()`."""
        if self._journal is not None and self._journal.size >= self._max_bytes:
            self.seal()
        journal = self._journal or self._start()
        response_id = self._new_id()
        response, request = exchange_records(exchange, response_id, self._new_id())
        if exchange.evidence:  # before the response, so that who reads in order has it in time
            journal.append(evidence_record(exchange, response_id, self._new_id()))
        offset = journal.append(response)
        journal.append(request)
        self._count += 1
        moment = warc_date(exchange.fetched_at)
        self._times = [min([moment, *self._times]), max([moment, *self._times])]
        return WarcLocation(f"{self._folder.name}/{journal.path.name}", f"<urn:uuid:{response_id}>", offset)

    def commit(self) -> None:
        """Return when every record written so far is on the disk."""
        if self._journal is not None:
            self._journal.sync()

    def seal(self) -> None:
        """Give the current file its final name. Does nothing where none is open."""
        if self._journal is None:
            return
        path = self._journal.seal()
        entry = archive_entry(path, self._count, self._times)
        self._journal, self._count, self._times = None, 0, []
        self._number += 1
        self._on_seal(path, entry)

    def abandon(self) -> None:
        """Close the file as it is: after a failed disk, the next start recovers what was committed."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _start(self) -> Journal:
        self._journal = Journal(self._folder / f"{self._prefix}-{self._number:06d}.warc.gz")
        fields = "".join(f"{name}: {value}\r\n" for name, value in self._info.items()).encode()
        headers = [("WARC-Filename", self._journal.path.name), ("Content-Type", "application/warc-fields")]
        self._journal.append(
            _record(WarcRecordType.warcinfo, self._new_id(), warc_date(self._clock()), headers, fields)
        )
        return self._journal


def archive_entry(path: Path, count: int, times: Iterable[str]) -> Entry:
    """The manifest entry (without path) of a sealed WARC file: hash, size, response records, time span."""
    known = sorted(times)
    span = {"first_crawled_at": known[0] if known else None, "last_crawled_at": known[-1] if known else None}
    return file_facts(path) | {"documents": count} | span


def exchange_records(exchange: Exchange, response_id: str, request_id: str) -> tuple[bytes, bytes]:
    """The gzip members of the response record and the request record that belongs to it."""
    moment = warc_date(exchange.fetched_at)
    shared: Headers = [("WARC-Target-URI", exchange.url)]
    if exchange.ip_address:
        shared.append(("WARC-IP-Address", exchange.ip_address))
    headers: Headers = [*shared, ("WARC-Identified-Payload-Type", _payload_type(exchange))]
    response = _record(
        WarcRecordType.response,
        response_id,
        moment,
        headers,
        _response_head(exchange) + exchange.body,
        hashlib.sha1(exchange.body, usedforsecurity=False).digest(),
    )
    headers = [*shared, ("WARC-Concurrent-To", f"<urn:uuid:{response_id}>")]
    return response, _record(WarcRecordType.request, request_id, moment, headers, _request_head(exchange))


def evidence_record(exchange: Exchange, response_id: str, evidence_id: str) -> bytes:
    """The gzip member of the metadata record that says what policy had read before the request."""
    headers = [
        ("WARC-Target-URI", exchange.url),
        ("WARC-Concurrent-To", f"<urn:uuid:{response_id}>"),
        ("Content-Type", EVIDENCE_TYPE),
    ]
    return _record(WarcRecordType.metadata, evidence_id, warc_date(exchange.fetched_at), headers, exchange.evidence)


def warc_date(seconds: float) -> str:
    """RFC 3339 in UTC with milliseconds, as WARC 1.1 allows."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _record(  # noqa: PLR0917  # the parts of a record in the order they are written
    kind: WarcRecordType, uuid: str, moment: str, headers: Headers, block: bytes, payload_digest: bytes | None = None
) -> bytes:
    record = WarcRecord()
    record.init_headers(kind, f"uuid:{uuid}".encode())
    record.headers["WARC-Date"] = moment
    for name, value in headers:
        record.headers.append(name, value)
    record.is_http = kind in (WarcRecordType.response, WarcRecordType.request)  # no hash
    record.set_bytes_content(block)
    buffer = io.BytesIO()
    with GzipWriter(buffer, compression_level=GZIP_LEVEL) as out:
        record.write(out, checksum_data=True, payload_digest=payload_digest)
    return buffer.getvalue()


def _response_head(exchange: Exchange) -> bytes:
    lines = [b"HTTP/1.1 %d %s" % (exchange.status, _phrase(exchange.status))]
    for name, value in exchange.response_headers:
        prefix = b"X-Crawl-" if name.lower() in _DECODED else b""
        lines.append(prefix + _one_line(name) + b": " + _one_line(value))
    lines.append(b"Content-Length: %d" % len(exchange.body))
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _request_head(exchange: Exchange) -> bytes:
    parts = urlsplit(exchange.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"{exchange.method} {target} HTTP/1.1".encode()]
    if not any(name.lower() == b"host" for name, _ in exchange.request_headers):
        lines.append(b"Host: " + parts.netloc.rpartition("@")[2].encode())
    lines += [
        _one_line(name) + b": " + _one_line(value)
        for name, value in exchange.request_headers
        if name.lower() not in _SECRETS
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _phrase(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b"Unknown"


def _one_line(value: bytes) -> bytes:
    return b" ".join(value.split())


def _payload_type(exchange: Exchange) -> str:
    for name, value in exchange.response_headers:
        if name.lower() == b"content-type":
            media = value.split(b";")[0].strip().lower().decode("ascii", "replace")
            if media.isprintable() and "/" in media:
                return media
    return "application/octet-stream"
