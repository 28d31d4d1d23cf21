"""A body in chunks is put together as it comes (RFC 9112 section 7.1), as lenient as Chromium and no more.

Blanks behind a size, extensions, trailers and bare line feeds pass. A size that is none, and data that do not end where
the size says, are errors.
"""

from __future__ import annotations

import re

MAX_LINE = 16_384
"""Bytes of a line between chunks: size and extensions, or a trailer."""

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15}) *")
_BEGUN = re.compile(rb"[0-9A-Fa-f]{0,40} *(?:;[^\n]*)?\r?")
_ZEROS = re.compile(rb"0*(?=[0-9A-Fa-f])")


class ChunkError(ValueError):
    """What stands here is no chunk."""


class Chunks:
    """Feed it what comes; it gives back what is body.

    is_whole: the last chunk has come, nothing of the body is missing. ended: the trailers have come, too, and `rest` is
    what followed them.
    """

    def __init__(self) -> None:
        self.is_whole = self.ended = False
        self.rest = b""
        self._line = bytearray()
        self._left = 0  # bytes of the chunk that are still to come
        self._is_data_end = False  # the line end behind a chunk is next

    def feed(self, data: bytes) -> bytes:
        """The bytes of the body among these. Raises: ChunkError."""
        body, at = [], 0
        while at < len(data) and not self.ended:
            if self._left:
                part = data[at : at + self._left]
                body.append(part)
                self._left -= len(part)
                self._is_data_end = not self._left
                at += len(part)
            else:
                at = self._take_line(data, at)
        if self.ended:
            self.rest += data[at:]
        return b"".join(body)

    @property
    def may_go_on(self) -> bool:
        """False where what has come of the next line is not the begin of a size."""
        return self.is_whole or self._is_data_end or _BEGUN.fullmatch(self._line) is not None

    def _take_line(self, data: bytes, at: int) -> int:
        end = data.find(b"\n", at)
        self._line += data[at:] if end < 0 else data[at:end]
        if len(self._line) > MAX_LINE:
            raise ChunkError(f"a line of more than {MAX_LINE} bytes between chunks")
        if end < 0:
            return len(data)
        line = bytes(self._line.removesuffix(b"\r"))
        self._line.clear()
        self._end_line(line)
        return end + 1

    def _end_line(self, line: bytes) -> None:
        if self.is_whole:
            self.ended = not line
        elif self._is_data_end:
            if line:
                raise ChunkError("the data of a chunk go on behind their size")
            self._is_data_end = False
        else:
            self._left = _size(line)
            self.is_whole = not self._left


def _size(line: bytes) -> int:
    digits = _ZEROS.sub(b"", line.partition(b";")[0], count=1)
    found = _SIZE.fullmatch(digits)
    if found is None:
        raise ChunkError(f"no size of a chunk: {line[:40]!r}")
    return int(found[1], 16)


def joined(raw: bytes) -> tuple[bytes, bool]:
    """A whole body, and whether its last chunk is there. Raises: ChunkError."""
    chunks = Chunks()
    body = chunks.feed(raw)
    if not chunks.may_go_on:
        raise ChunkError("no size of a chunk at the end")
    return body, chunks.is_whole
