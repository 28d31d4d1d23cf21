"""The payload of an archived response without transfer and content encoding; what explodes stays bounded."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

from fastwarc.stream_io import ChunkedReader

from crawler.decompress import ARCHIVE_WINDOW_LOG, CODINGS, End, unpack

_BEGIN_ALIKE = frozenset({"br", "deflate"})
"""Codings whose streams have no mark at their beginning: plain text can look like a torn one."""
_BINARY = frozenset(range(32)) - frozenset(b"\t\n\f\r\x1b")
"""Bytes that no text has (WHATWG MIME Sniffing, binary data byte)."""
_LOOKED_AT = 1_024

_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_UNFINISHED_SIZE = re.compile(rb"[ \t\r\n]*[0-9A-Fa-f]{0,15}[ \t]*(?:;[^\n]*)?\r?")


@dataclass(frozen=True, slots=True)
class Payload:
    """A body without its codings. torn: how its own headers and codings show that its end is missing; else empty."""

    data: bytes
    torn: str = ""


def decoded(headers: Iterable[tuple[str, str]], raw: bytes, max_bytes: int) -> Payload:
    """The body behind `raw`. Archives exist whose headers promise an encoding that the payload does not have: such a
    payload is returned as it is, which is what browsers and other archive readers do.

    Raises: ValueError where more than `max_bytes` come out.
    """
    transfer, content, lengths = [], [], set()
    for name, value in headers:
        if name.lower() == "content-length":
            lengths.add(value.strip())
        codings = [coding.strip().lower() for coding in value.split(",")]
        if name.lower() == "transfer-encoding":
            transfer += codings
        elif name.lower() == "content-encoding":
            content += codings
    if not transfer and not content:
        return Payload(raw, _missing(lengths, len(raw)))
    body, torn = raw, ""
    for coding in [*reversed(transfer), *reversed(content)]:
        found = _without(coding, body, max_bytes)
        body, torn = found.data, torn or found.torn
    return Payload(body, torn)


def _missing(lengths: set[str], size: int) -> str:
    """RFC 9112, section 8: a message shorter than its Content-Length is incomplete. Two that differ say nothing."""
    length = next(iter(lengths)) if len(lengths) == 1 else ""
    is_short = length.isascii() and length.isdecimal() and len(length) < 16 and size < int(length)
    return f"{size} of the {length} bytes that Content-Length promises" if is_short else ""


def _without(coding: str, raw: bytes, max_bytes: int) -> Payload:
    if coding == "chunked":
        return Payload(_joined(raw, max_bytes), "the last chunk is missing" if _lacks_last_chunk(raw) else "")
    if coding not in CODINGS:
        return Payload(raw)
    found = unpack(raw, coding, max_bytes, window_log=ARCHIVE_WINDOW_LOG)
    if found.end is End.TOO_LARGE:
        raise _beyond(max_bytes)
    if found.end is End.TORN and (coding not in _BEGIN_ALIKE or not _BINARY.isdisjoint(raw[:_LOOKED_AT])):
        return Payload(found.data, f"the {coding} stream ends before its end")
    return Payload(found.data if found.end is End.WHOLE and not found.rest else raw)


def _lacks_last_chunk(raw: bytes) -> bool:
    """Chunks, and then nothing; what is no chunk was damaged, or had its chunks joined before, which is not told."""
    at = 0
    while chunk := _CHUNK.match(raw, at):
        size = int(chunk[1], 16)
        if size == 0:
            return False
        at = chunk.end() + size
        if at > len(raw):
            return True
        at += 2 if raw.startswith(b"\r\n", at) else raw.startswith(b"\n", at)
    return at > 0 and _UNFINISHED_SIZE.fullmatch(raw, at) is not None


def _joined(raw: bytes, max_bytes: int) -> bytes:
    try:
        body = ChunkedReader(io.BytesIO(raw)).read(max_bytes + 1)
    except (OSError, ValueError, EOFError):
        return raw
    if len(body) > max_bytes:
        raise _beyond(max_bytes)
    return bytes(body)


def _beyond(max_bytes: int) -> ValueError:
    return ValueError(f"the decoded payload is beyond the limit of {max_bytes} bytes")
