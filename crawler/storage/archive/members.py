"""Members are the compressed units of an archive (gzip, zstd or none): plain bytes out, whatever is broken in them.

A piece says at which byte of the file its member begins, so that every record has an offset. What cannot be unpacked
becomes a `Damage`, and reading goes on at the next member that begins a WARC record.
"""

from __future__ import annotations

import re
import struct
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import IO, Any, Protocol

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHUNK = 1 << 16
_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # skippable frame: WARC Zstandard 1.0 keeps a dictionary in the first one
_PROBE = 1 << 12
_MAX_DICTIONARY = 1 << 26
_MAX_WINDOW_LOG = 27
_START = b"WARC/"
_PLAIN_START = re.compile(rb"(?:\A|[\n\xbf])WARC/\d\.\d")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Piece:
    """Plain bytes. `offset`: where in the file their member begins; `first`: these are the first of that member."""

    offset: int
    data: bytes
    first: bool


@dataclass(frozen=True, slots=True)
class Damage:
    """A member that cannot be unpacked: where it begins, and what is wrong."""

    offset: int
    what: str


class Unpacker(Protocol):
    """One member: `feed` bytes of the file, `take` plain bytes; `eof` at its end, `rest` is what lies behind it."""

    @property
    def eof(self) -> bool:
        """True where the member is complete."""

    def feed(self, data: bytes) -> None:
        """Take more bytes of the file."""

    def take(self) -> bytes:
        """At most `CHUNK` plain bytes; none where more is to be fed. Raises: zlib.error, ZstdError."""

    @property
    def rest(self) -> bytes:
        """Bytes behind the end."""


def pieces(file: IO[bytes], start: int = 0) -> Iterator[Piece | Damage]:
    """The plain bytes of an archive from the member at byte `start` on; the packing is told by its first bytes.

    A file whose beginning is none of an archive (a byte order mark, a torn first member) is read from its first record.
    A file that cannot seek is read from where it stands, and after damage goes on behind the point that showed it.
    """
    if file.seekable():
        file.seek(0)
    head = file.read(4)
    if head[:3] == _GZIP:
        unpacked = _Members(file, head, _Gzip, _GZIP)
    elif head == _ZSTD or _is_skippable(head):
        try:
            dictionary, head = _read_dictionary(file, head)
        except (struct.error, ValueError, zstd.ZstdError, EOFError) as error:
            yield Damage(0, f"the dictionary in front of all records cannot be read ({error})")
            return
        unpacked = _Members(file, head, lambda: _Zstd(dictionary), _ZSTD)
    else:
        yield from _told_by_a_record(file, head, start)
        return
    yield from unpacked.pieces(start)


def _told_by_a_record(file: IO[bytes], head: bytes, start: int) -> Iterator[Piece | Damage]:
    """A file that does not begin with a packed member: plain, unless the first record in it is in one."""
    head += file.read(CHUNK)
    if not file.seekable() or _PLAIN_START.search(head):
        yield from _plain(file, head, start)
        return
    kinds: tuple[tuple[Callable[[], Unpacker], bytes], ...] = ((_Gzip, _GZIP), (lambda: _Zstd(None), _ZSTD))
    for new, magic in kinds:
        unpacked = _Members(file, b"", new, magic)
        if unpacked.find(0):
            if not start:
                yield Damage(0, "no record begins here")
            yield from unpacked.pieces(start)
            return
    file.seek(0)
    yield from _plain(file, file.read(CHUNK), start)


def _plain(file: IO[bytes], data: bytes, start: int) -> Iterator[Piece]:
    offset = 0
    if start and file.seekable():
        offset, data = file.seek(start), file.read(CHUNK)
    while data:
        yield Piece(offset, data, False)
        offset += len(data)
        data = file.read(CHUNK)


class _Members:
    """Members one after the other, over a window of the file's bytes."""

    def __init__(self, file: IO[bytes], head: bytes, new: Callable[[], Unpacker], magic: bytes) -> None:
        self._file, self._new, self._magic = file, new, magic
        self._window = head  # bytes of the file that no member has taken yet
        self._at = file.tell() - len(head) if file.seekable() else 0  # where the window begins

    def pieces(self, start: int) -> Iterator[Piece | Damage]:
        if start > self._at:
            self._jump(start)
        while self._fill(len(self._magic)):
            begin = self._at
            if _is_skippable(self._window) and self._magic == _ZSTD:
                self._skip_frame()
                continue
            problem = yield from self._member(begin)
            if problem:
                yield Damage(begin, problem)
                self.find(begin + 1)

    def _member(self, begin: int) -> Generator[Piece, None, str]:
        """Yields the pieces of one member and returns what is wrong with it, or nothing."""
        if not self._window.startswith(self._magic):
            return "no compressed record begins here"
        unpacker, first = self._new(), True
        try:
            while not unpacker.eof:
                if not self._fill(1):
                    return "the compressed record is torn: the file ends within it"
                unpacker.feed(self._advance(len(self._window)))
                while data := unpacker.take():
                    yield Piece(begin, data, first)
                    first = False
        except (zlib.error, zstd.ZstdError) as error:
            return f"the compressed record is damaged ({error})"
        self._give_back(unpacker.rest)
        return ""

    def _fill(self, size: int) -> bool:
        """Have at least so many bytes in the window; False at the end of the file, where fewer are left."""
        while len(self._window) < size:
            data = self._file.read(CHUNK)
            if not data:
                return size > 1 and bool(self._window)
            self._window += data
        return True

    def _advance(self, size: int) -> bytes:
        taken, self._window = self._window[:size], self._window[size:]
        self._at += len(taken)
        return taken

    def _give_back(self, rest: bytes) -> None:
        self._window = rest + self._window
        self._at -= len(rest)

    def _jump(self, offset: int) -> None:
        self._file.seek(offset)
        self._window, self._at = b"", offset

    def _skip_frame(self) -> None:
        self._fill(8)
        left = 8 + int.from_bytes(self._window[4:8], "little")
        while left and self._fill(1):
            left -= len(self._advance(left))

    def find(self, begin: int) -> bool:
        """Go to the next member that begins a record, from this byte on; a broken one may have swallowed its start.

        False: there is none, and the window is at the end.
        """
        if self._file.seekable():
            self._jump(begin)
        while self._fill(len(self._magic) + 1):
            found = self._window.find(self._magic)
            if found < 0:
                self._advance(len(self._window) - len(self._magic) + 1)
                if not self._more():
                    break
                continue
            self._advance(found)
            if self._begins_record():
                return True
            self._advance(1)
        self._advance(len(self._window))
        return False

    def _more(self) -> bool:
        data = self._file.read(CHUNK)
        self._window += data
        return bool(data)

    def _begins_record(self) -> bool:
        self._fill(_PROBE)
        unpacker = self._new()
        try:
            unpacker.feed(self._window[:_PROBE])
            return unpacker.take().removeprefix(_BOM).startswith(_START)
        except (zlib.error, zstd.ZstdError):
            return False


class _Gzip:
    def __init__(self) -> None:
        self._stream, self._fed = zlib.decompressobj(31), b""

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def rest(self) -> bytes:
        return self._stream.unused_data

    def feed(self, data: bytes) -> None:
        self._fed = data

    def take(self) -> bytes:
        plain = self._stream.decompress(self._fed, CHUNK) if not self._stream.eof else b""
        self._fed = self._stream.unconsumed_tail
        return plain


class _Zstd:
    def __init__(self, dictionary: Any) -> None:
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _MAX_WINDOW_LOG}
        self._stream, self._fed = zstd.ZstdDecompressor(dictionary, options), b""

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof)

    @property
    def rest(self) -> bytes:
        return bytes(self._stream.unused_data)

    def feed(self, data: bytes) -> None:
        self._fed = data

    def take(self) -> bytes:
        if self._stream.eof or (self._stream.needs_input and not self._fed):
            return b""
        fed, self._fed = self._fed, b""
        return bytes(self._stream.decompress(fed, CHUNK))


def _is_skippable(head: bytes) -> bool:
    return len(head) >= 4 and head[1:4] == _DICTIONARY[1:] and 0x50 <= head[0] <= 0x5F


def _read_dictionary(file: IO[bytes], head: bytes) -> tuple[Any, bytes]:
    """The dictionary of a .warc.zst file (None where it has none), and the bytes read beyond it.

    Raises: struct.error, ValueError, ZstdError, EOFError.
    """
    if head != _DICTIONARY:
        return None, head
    (size,) = struct.unpack("<I", file.read(4))
    content = file.read(min(size, _MAX_DICTIONARY))
    if content.startswith(_ZSTD):
        content = zstd.ZstdDecompressor().decompress(content, _MAX_DICTIONARY)
    return zstd.ZstdDict(content), b""
