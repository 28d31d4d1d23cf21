"""Under the limits: one content coding taken off a body, bounded while it grows and complete at its end.

Scrapy's own decoders give back as much of a torn stream as they can. Half a page is no page, and half a robots.txt is a
permission that nobody gave: here a stream that does not end, or whose checksum is wrong, is an error.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from typing import Any

import brotli  # type: ignore[import-untyped]  # ships no types

from crawler.downloader.private import TooLarge

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_STEP = 65_536
_ZSTD_WINDOW_LOG = 23
"""8 MiB, the largest window that the content coding zstd may use (RFC 9659)."""


class TornError(ValueError):
    """The compressed stream ends before its end."""


def decode(body: bytes, coding: bytes, limit: int) -> bytes:
    """The body without `coding` (gzip, x-gzip, deflate, br, zstd); at most `limit` bytes, 0 = no limit.

    Raises: TooLarge; TornError or the codec's own error where the stream is incomplete or damaged.
    """
    return _DECODERS[coding](body, limit) if body else b""


def _gzip(body: bytes, limit: int) -> bytes:
    """All members (RFC 1952 section 2.2); what follows them and is no member is not part of the page."""
    plain, rest = bytearray(), body
    while not plain or rest.startswith(b"\x1f\x8b"):
        stream = zlib.decompressobj(wbits=31)
        _inflate(stream, rest, plain, limit)
        rest = stream.unused_data
        if not rest:
            break
    return bytes(plain)


def _deflate(body: bytes, limit: int) -> bytes:
    """HTTP's deflate is zlib (RFC 9110 section 8.4.1.2), but some servers send the bare stream."""
    plain = bytearray()
    try:
        zlib.decompressobj().decompress(body, 1)
    except zlib.error:
        _inflate(zlib.decompressobj(wbits=-15), body, plain, limit)
    else:
        _inflate(zlib.decompressobj(), body, plain, limit)
    return bytes(plain)


def _inflate(stream: Any, packed: bytes, plain: bytearray, limit: int) -> None:
    while packed and not stream.eof:
        _grow(plain, stream.decompress(packed, _STEP), limit)
        packed = stream.unconsumed_tail
    if not stream.eof:
        raise TornError


def _brotli(body: bytes, limit: int) -> bytes:
    stream, plain = brotli.Decompressor(), bytearray()
    packed = body
    while not stream.is_finished():
        part = stream.process(packed, output_buffer_limit=_STEP)
        packed = b""
        if not part:
            break
        _grow(plain, part, limit)
    if not stream.is_finished():
        raise TornError
    return bytes(plain)


def _zstd(body: bytes, limit: int) -> bytes:
    """All frames (RFC 8878 section 3.1)."""
    plain, packed = bytearray(), body
    while packed:
        stream = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})
        while not stream.eof:
            part = stream.decompress(packed, _STEP)
            packed = b""
            if not part and stream.needs_input:
                raise TornError
            _grow(plain, part, limit)
        packed = stream.unused_data
    return bytes(plain)


def _grow(plain: bytearray, part: bytes, limit: int) -> None:
    plain += part
    if limit and len(plain) > limit:
        raise TooLarge(len(plain), limit)


_DECODERS: dict[bytes, Callable[[bytes, int], bytes]] = {
    b"gzip": _gzip,
    b"x-gzip": _gzip,
    b"deflate": _deflate,
    b"br": _brotli,
    b"zstd": _zstd,
}
KNOWN = frozenset(_DECODERS)
