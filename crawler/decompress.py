"""One content coding taken off some bytes from outside: bounded while it grows, and said how it ended.

Pure, for downloader, archive reader and sitemaps, which differ in what they make of a torn or damaged stream.
Sources: RFC 1952 (gzip), RFC 1950 and 1951 (deflate), RFC 7932 (br), RFC 8878 (zstd), RFC 9110 section 8.4.1.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import brotli  # type: ignore[import-untyped]  # ships no types

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_STEP = 65_536
_SLICE = 16_384
_GZIP_MAGIC = b"\x1f\x8b"
WEB_WINDOW_LOG = 23
"""8 MiB, the largest window that the content coding zstd may use (RFC 9659)."""
ARCHIVE_WINDOW_LOG = 27
"""128 MiB, what the zstd library opens by itself; archives hold what no web server may send."""


class End(Enum):
    """How a stream ended: complete; before its end; at an error in it; at the limit."""

    WHOLE = auto()
    TORN = auto()
    DAMAGED = auto()
    TOO_LARGE = auto()


class TornError(ValueError):
    """The compressed stream ends before its end."""


class _TooLargeError(Exception):
    """The limit is reached."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What came out (beyond the limit: a little more than that), how it ended, and the codec's own error if it did.

    rest: what follows a gzip or zlib stream and is no part of it; of the other codings it is not told.
    """

    data: bytes
    end: End
    error: Exception | None = None
    rest: bytes = b""


def unpack(
    packed: bytes, coding: str, limit: int, *, window_log: int = WEB_WINDOW_LOG, salvage: bool = False
) -> Unpacked:
    """Decode gzip, x-gzip, deflate, br or zstd; never raises on any bytes. Of nothing comes nothing.

    limit: bytes, 0 = none. window_log: of zstd, bits. salvage: gzip gives every byte before the damage.
    Raises: KeyError where `coding` is none of `CODINGS`.
    """
    decode, plain = _DECODERS[coding], bytearray()
    if not packed:
        return Unpacked(b"", End.WHOLE)
    try:
        rest = decode(_Job(packed, plain, limit, window_log, salvage))
    except _TooLargeError:
        return Unpacked(bytes(plain), End.TOO_LARGE)
    except TornError as error:
        return Unpacked(bytes(plain), End.TORN, error)
    except (zlib.error, brotli.error, zstd.ZstdError) as error:
        return Unpacked(bytes(plain), End.DAMAGED, error)
    return Unpacked(bytes(plain), End.WHOLE, rest=rest)


@dataclass(frozen=True, slots=True)
class _Job:
    packed: bytes
    plain: bytearray
    limit: int
    window_log: int
    salvage: bool

    def grow(self, part: bytes) -> None:
        self.plain.extend(part)
        if self.limit and len(self.plain) > self.limit:
            raise _TooLargeError


def _gzip(job: _Job) -> bytes:
    """All members (RFC 1952 section 2.2)."""
    rest = _inflate(zlib.decompressobj(wbits=31), job.packed, job)
    while rest.startswith(_GZIP_MAGIC):
        rest = _inflate(zlib.decompressobj(wbits=31), rest, job)
    return rest


def _deflate(job: _Job) -> bytes:
    """HTTP's deflate is zlib (RFC 9110 section 8.4.1.2), but some servers send the bare stream."""
    try:
        zlib.decompressobj().decompress(job.packed, 1)
    except zlib.error:
        _inflate(zlib.decompressobj(wbits=-15), job.packed, job)
        return b""
    return _inflate(zlib.decompressobj(), job.packed, job)


def _inflate(stream: Any, packed: bytes, job: _Job) -> bytes:
    """One zlib stream; answers what follows it."""
    for at in range(0, len(packed), _SLICE):
        piece = packed[at : at + _SLICE]
        while piece and not stream.eof:
            before = stream.copy() if job.salvage else None
            try:
                job.grow(stream.decompress(piece, _STEP))
            except zlib.error:
                _salvage(before, piece, job)
                raise
            piece = stream.unconsumed_tail
        if stream.eof:
            return bytes(stream.unused_data) + packed[at + _SLICE :]
    raise TornError


def _salvage(before: Any, piece: bytes, job: _Job) -> None:
    """Byte by byte as far as it goes; the caller raises what stopped it."""
    if before is None:
        return
    for at in range(len(piece)):
        try:
            job.grow(before.decompress(piece[at : at + 1]))
        except zlib.error:
            return


def _brotli(job: _Job) -> bytes:
    stream, packed = brotli.Decompressor(), job.packed
    while not stream.is_finished():
        part = stream.process(packed, output_buffer_limit=_STEP)
        packed = b""
        if not part:
            break
        job.grow(part)
    if not stream.is_finished():
        raise TornError
    return b""


def _zstd(job: _Job) -> bytes:
    """All frames (RFC 8878 section 3.1)."""
    packed = job.packed
    while packed:
        stream = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: job.window_log})
        while not stream.eof:
            part = stream.decompress(packed, _STEP)
            packed = b""
            if not part and stream.needs_input:
                raise TornError
            job.grow(part)
        packed = stream.unused_data
    return b""


_DECODERS: dict[str, Callable[[_Job], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
CODINGS = frozenset(_DECODERS)
