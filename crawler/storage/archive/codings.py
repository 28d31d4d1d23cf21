"""The payload of an archived response without transfer and content encoding; what explodes stays bounded."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.decompress import ARCHIVE_WINDOW_LOG, End, unpack
from crawler.wire.chunks import ChunkError, joined
from crawler.wire.codings import CodingError, content_codings
from crawler.wire.head import Head, HeadError

_BEGIN_ALIKE = frozenset({"br", "deflate"})
"""Codings whose streams have no mark at their beginning: plain text can look like a torn one."""
_BINARY = frozenset(range(32)) - frozenset(b"\t\n\f\r\x1b")
"""Bytes that no text has (WHATWG MIME Sniffing, binary data byte)."""
_LOOKED_AT = 1_024


@dataclass(frozen=True, slots=True)
class Payload:
    """A body without its codings. torn: how its own headers and codings show that its end is missing; else empty."""

    data: bytes
    torn: str = ""


def decoded(head: Head, raw: bytes, max_bytes: int) -> Payload:
    """The body behind `raw`. Archives exist whose headers promise an encoding that the payload does not have: such a
    payload is returned as it is, which is what browsers and other archive readers do.

    Raises: ValueError where more than `max_bytes` come out.
    """
    codings = _codings(head)
    body, torn = _unchunked(head, raw, is_encoded=bool(codings))
    for coding in reversed(codings):
        found = _without(coding, body, max_bytes)
        body, torn = found.data, torn or found.torn
    if len(body) > max_bytes:
        raise _beyond(max_bytes)
    return Payload(body, torn)


def _codings(head: Head) -> list[str]:
    try:
        return content_codings(value.decode("latin-1") for value in head.values(b"content-encoding"))
    except CodingError:
        return []


def _unchunked(head: Head, raw: bytes, *, is_encoded: bool) -> tuple[bytes, str]:
    """Without chunks, and how it shows that its end is missing; what are no chunks had them joined before."""
    if not head.is_chunked:
        return raw, "" if is_encoded else _missing(head, len(raw))
    try:
        body, is_whole = joined(raw)
    except ChunkError:
        return raw, ""
    return body, "" if is_whole or not raw else "the last chunk is missing"


def _missing(head: Head, size: int) -> str:
    """RFC 9112, section 8: a message shorter than its Content-Length is incomplete. Two that differ say nothing."""
    try:
        length = head.length
    except HeadError:
        return ""
    return f"{size} of the {length} bytes that Content-Length promises" if length is not None and size < length else ""


def _without(coding: str, raw: bytes, max_bytes: int) -> Payload:
    found = unpack(raw, coding, max_bytes, window_log=ARCHIVE_WINDOW_LOG)
    if found.end is End.TOO_LARGE:
        raise _beyond(max_bytes)
    if found.end is End.TORN and (coding not in _BEGIN_ALIKE or not _BINARY.isdisjoint(raw[:_LOOKED_AT])):
        return Payload(found.data, f"the {coding} stream ends before its end")
    return Payload(found.data if found.end is End.WHOLE and not found.rest else raw)


def _beyond(max_bytes: int) -> ValueError:
    return ValueError(f"the decoded payload is beyond the limit of {max_bytes} bytes")
