"""One exchange as WARC 1.1 records, each compressed by itself: pure, bytes out. `writer.py` appends them.

Beside what the standard defines, every record of an exchange carries `X-Crawl-Licence-Tier` and, where there is one,
`X-Crawl-Licence` with `-Reviewer` and `-Reviewed`: readers ignore named fields that they do not know (section 5.1), and
no later version of the standard will give a name outside `WARC-…` another meaning.

Sources: ISO 28500:2017 (WARC 1.1), sections 6.3 to 6.7; the IIPC's "WARC with zstd" draft (one frame a record);
Common Crawl's convention for payloads that were decoded in flight: the original Content-Encoding, Transfer-Encoding and
Content-Length are kept as `X-Crawl-…`, and Content-Length is that of the body.
"""

from __future__ import annotations

import base64
import hashlib
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import orjson
import zstandard
from fastwarc.warc import WarcRecord, WarcRecordType

from crawler.document import Exchange
from crawler.storage.archive.types import DRAWN, EVIDENCE_TYPE, TOMBSTONE_TYPE
from crawler.times import rfc3339

GZIP_LEVEL = 6
ZSTD_LEVEL = 6
_GZIP_BITS = 16 + zlib.MAX_WBITS  # a gzip header around the largest window
_SMALL = 4096
_SMALL_BITS, _SMALL_MEMORY = 16 + 12, 5
"""Records up to 2^12 bytes fit into a window of that size."""
NO_TIER = "none"
"""Value of `X-Crawl-Licence-Tier` where no allowlist entry names a tier for the page."""
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
"""`WARC-Profile` of a revisit (section 6.7): the server said 304, or sent the same payload again."""
_DECODED = {b"content-encoding", b"transfer-encoding", b"content-length"}
_SECRETS = {b"authorization", b"proxy-authorization", b"cookie"}

Headers = list[tuple[str, str]]
Pack = Callable[[bytes], bytes]
"""Compresses one record into a unit that stands for itself."""


@dataclass(frozen=True, slots=True)
class Referred:
    """The earlier record that a revisit stands on; None where it is not known any more.

    url: its WARC-Target-URI. date: its WARC-Date (RFC 3339), or the time of the earlier fetch. record_id:
    `<urn:uuid:…>`. payload_digest: as in its `WARC-Payload-Digest`, such as `sha1:…`.
    """

    url: str
    date: str | None = None
    record_id: str | None = None
    payload_digest: str | None = None


def gzip_member(raw: bytes) -> bytes:
    """One gzip member (RFC 1952) without time or name.

    By zlib at once: FastWARC's `GzipWriter` needs 0.3 ms for each record, however small, and a page has three. Two of
    them are small: with a window and tables of their size they take 6 µs instead of 46, and as many bytes.
    """
    if len(raw) > _SMALL:
        return zlib.compress(raw, GZIP_LEVEL, wbits=_GZIP_BITS)
    stream = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, _SMALL_BITS, _SMALL_MEMORY)
    return stream.compress(raw) + stream.flush()


def zstd_record(raw: bytes) -> bytes:
    """One zstd frame (RFC 8878) with checksum and size."""
    return zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compress(raw)


PACKERS: dict[str, Pack] = {"gz": gzip_member, "zst": zstd_record}
"""By the end of the file's name."""


def response_record(exchange: Exchange, record_id: str, pack: Pack = gzip_member, more: Headers | None = None) -> bytes:
    """The response as it was archived: head, payload without codings, payload digest and type. more: further fields."""
    headers = [*_shared(exchange), ("WARC-Identified-Payload-Type", payload_type(exchange)), *(more or [])]
    if exchange.truncated:
        headers.append(("WARC-Truncated", exchange.truncated))
    return _packed(
        pack,
        WarcRecordType.response,
        record_id,
        rfc3339(exchange.fetched_at),
        headers,
        _response_head(exchange) + exchange.body,
        hashlib.sha1(exchange.body, usedforsecurity=False).digest(),
    )


def request_record(exchange: Exchange, record_id: str, response_id: str, pack: Pack = gzip_member) -> bytes:
    """The request that belongs to a response or revisit record, without credentials."""
    headers = [*_shared(exchange), ("WARC-Concurrent-To", urn(response_id))]
    date = rfc3339(exchange.fetched_at)
    return _packed(pack, WarcRecordType.request, record_id, date, headers, _request_head(exchange))


def revisit_record(exchange: Exchange, referred: Referred, record_id: str, pack: Pack = gzip_member) -> bytes:
    """A visit that brought nothing new: the head of the answer, and which record holds the payload (section 6.7).

    An answer of 304 gets the profile `server-not-modified`, any other one `identical-payload-digest`: its payload is
    left out, which the standard marks as `WARC-Truncated: length`.
    """
    same = exchange.status != HTTPStatus.NOT_MODIFIED
    digest = payload_digest(exchange.body) if same else referred.payload_digest
    headers = [*_shared(exchange), ("Content-Type", "application/http; msgtype=response")]
    headers += [("WARC-Profile", IDENTICAL if same else NOT_MODIFIED)]
    headers += [("WARC-Refers-To-Target-URI", referred.url)]
    headers += [("WARC-Refers-To-Date", referred.date)] if referred.date else []
    headers += [("WARC-Refers-To", referred.record_id)] if referred.record_id else []
    headers += [("WARC-Payload-Digest", digest)] if digest else []
    headers += [("WARC-Truncated", "length")] if same else []
    date = rfc3339(exchange.fetched_at)
    return _packed(pack, WarcRecordType.revisit, record_id, date, headers, _response_head(exchange))


def metadata_record(exchange: Exchange, record_id: str, response_id: str, pack: Pack = gzip_member) -> bytes:
    """What policy had read before the request, and how the fetch went: JSON, read back by `crawler.policy.evidence`."""
    content = exchange.evidence
    more: dict[str, Any] = {"fetch": exchange.fetch} if exchange.fetch else {}
    more |= {"browser": exchange.rendering.facts} if exchange.rendering is not None else {}
    if more:
        content = orjson.dumps((orjson.loads(content) if content else {}) | more)
    headers = [*_shared(exchange), ("WARC-Concurrent-To", urn(response_id)), ("Content-Type", EVIDENCE_TYPE)]
    return _packed(pack, WarcRecordType.metadata, record_id, rfc3339(exchange.fetched_at), headers, content)


def drawn_record(exchange: Exchange, dom: bytes, record_id: str, response_id: str, pack: Pack = gzip_member) -> bytes:
    """The page as a browser has drawn it (section 6.4: resource), beside the response that it was drawn from."""
    headers = [*_shared(exchange), ("WARC-Concurrent-To", urn(response_id))]
    headers += [("Content-Type", "text/html; charset=utf-8"), (DRAWN, "dom")]
    return _packed(pack, WarcRecordType.resource, record_id, rfc3339(exchange.fetched_at), headers, dom)


def capture_record(exchange: Exchange, record_id: str, response_id: str, pack: Pack = gzip_member) -> bytes:
    """JSON that a page has fetched in the browser: a response like any other, tied to that of its page."""
    return response_record(exchange, record_id, pack, [("WARC-Concurrent-To", urn(response_id)), (DRAWN, "capture")])


def tombstone_record(url: str, moment: str, content: bytes, record_id: str, pack: Pack = gzip_member) -> bytes:
    """A visit that found a page gone and left no response: what was decided, as JSON (section 6.6: metadata).

    moment: RFC 3339 in UTC; content: by `crawler.policy.evidence.with_verdict`.
    """
    headers = [("WARC-Target-URI", url), ("Content-Type", TOMBSTONE_TYPE)]
    return _packed(pack, WarcRecordType.metadata, record_id, moment, headers, content)


def warcinfo_record(fields: dict[str, str], file_name: str, record_id: str, moment: str, pack: Pack) -> bytes:
    """Who wrote the file, with what and under which rules (section 6.2)."""
    content = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
    headers = [("WARC-Filename", file_name), ("Content-Type", "application/warc-fields")]
    return _packed(pack, WarcRecordType.warcinfo, record_id, moment, headers, content)


def resource_record(  # noqa: PLR0917  # the parts of a record in the order they are written
    url: str, media_type: str, body: bytes, record_id: str, moment: str, more: Headers | None = None
) -> bytes:
    """A file that came without HTTP (section 6.4), as one gzip member. more: further fields, such as the licence."""
    headers = [("WARC-Target-URI", url), ("Content-Type", media_type), ("X-Crawl-Licence-Tier", NO_TIER), *(more or [])]
    sha1 = hashlib.sha1(body, usedforsecurity=False).digest()
    return _packed(gzip_member, WarcRecordType.resource, record_id, moment, headers, body, sha1)


def payload_digest(body: bytes) -> str:
    """SHA-1 in base 32, as every reader expects it."""
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def payload_type(exchange: Exchange) -> str:
    """The media type of the payload as the server named it."""
    for name, value in exchange.response_headers:
        if name.lower() == b"content-type":
            media = value.split(b";")[0].strip().lower().decode("ascii", "replace")
            if media.isprintable() and "/" in media:
                return media
    return "application/octet-stream"


def urn(uuid: str) -> str:
    """A record id as WARC fields hold it."""
    return f"<urn:uuid:{uuid}>"


def _shared(exchange: Exchange) -> Headers:
    """The fields that all records of an exchange have."""
    headers = [("WARC-Target-URI", exchange.url)]
    headers += [("WARC-IP-Address", exchange.ip_address)] if exchange.ip_address else []
    headers += [("X-Crawl-Licence-Tier", exchange.license_tier or NO_TIER)]
    for name, value in (
        ("X-Crawl-Licence", exchange.license_tag),
        ("X-Crawl-Licence-Reviewer", exchange.license_reviewer),
        ("X-Crawl-Licence-Reviewed", exchange.license_reviewed),
    ):
        headers += [(name, _printable(value))] if value else []
    return headers


def _packed(  # noqa: PLR0917  # the parts of a record in the order they are written
    pack: Pack,
    kind: WarcRecordType,
    uuid: str,
    moment: str,
    headers: Headers,
    block: bytes,
    payload_sha1: bytes | None = None,
) -> bytes:
    record = WarcRecord()
    record.init_headers(kind, f"uuid:{uuid}".encode())
    record.headers["WARC-Date"] = moment
    for name, value in headers:
        record.headers.append(name, value)
    record.is_http = kind in (WarcRecordType.response, WarcRecordType.request)  # no hash
    record.set_bytes_content(block)
    buffer = io.BytesIO()
    record.write(buffer, checksum_data=True, payload_digest=payload_sha1)
    return pack(buffer.getvalue())


def _response_head(exchange: Exchange) -> bytes:
    protocol = exchange.protocol if exchange.protocol in {"HTTP/1.0", "HTTP/1.1"} else "HTTP/1.1"
    lines = [b"%s %d %s" % (protocol.encode(), exchange.status, _phrase(exchange.status))]
    has_payload = exchange.status != HTTPStatus.NOT_MODIFIED
    for name, value in exchange.response_headers:
        prefix = b"X-Crawl-" if has_payload and name.lower() in _DECODED else b""
        lines.append(prefix + _one_line(name) + b": " + _one_line(value))
    lines += [b"Content-Length: %d" % len(exchange.body)] if has_payload else []
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


def _printable(text: str) -> str:
    return " ".join(text.split())
