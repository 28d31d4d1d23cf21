"""Framing cuts plain bytes of an archive into WARC records, whoever wrote it: bounded, checked, not lost after damage.

Sources: ISO 28500:2017 (WARC 1.1) sections 4 and 5; Common Crawl's files. Tolerated: line feeds alone, a byte order
mark, a missing or short end of the last record, no Content-Length where the compressed member ends with the record. Not
tolerated, because half a page is no page: a length that does not lead to the end of the record; in an uncompressed
file, where nothing else shows a flipped bit, a wrong block digest. (Tools that edit records leave wrong ones, too.)
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from crawler.storage.archive.members import Damage, Piece

MAX_HEADER_BYTES = 1 << 16
_VERSION = re.compile(rb"WARC/\d\.\d{1,2}\r?\n[A-Za-z-]{1,64}:")
_LONGEST_VERSION = 80
_BEGIN = re.compile(rb"WARC/")
_END_OF_HEAD = re.compile(rb"\n\r?\n")
_BLANK = re.compile(rb"(?:[\r\n]|\xef\xbb\xbf)*")
"""Line ends between records, and the byte order mark of an editor, also where files were put one behind the other."""
_NO_RECORD = "no WARC record begins here"
_ALGORITHMS = {"sha1": 20, "sha256": 32, "sha512": 64, "md5": 16}


class BrokenRecordError(ValueError):
    """A record that cannot be read. `offset`: where it begins in the file."""

    def __init__(self, offset: int, what: str) -> None:
        self.offset, self.what = offset, what
        super().__init__(what)


@dataclass(slots=True)
class RawRecord:
    """One record: where it begins, its named fields in lower case, its block (empty where nobody wanted it).

    `problem`: why the block of a wanted record is not there; empty where all is well.
    """

    offset: int
    fields: dict[str, str]
    block: bytes = b""
    problem: str = ""

    @property
    def kind(self) -> str:
        """The record's WARC-Type in lower case."""
        return self.fields.get("warc-type", "").lower()


Wanted = Callable[[dict[str, str]], bool]
Source = Callable[[int], Iterator[Piece | Damage]]
"""The pieces of the archive from a byte of the file on."""


class RecordReader:
    """Records of one archive, in file order, from byte `start` on.

    wanted: tells by the named fields whose block is read. Blocks beyond `max_bytes` are reported, never held in memory.
    can_seek: `source` can be asked for an earlier byte again.
    """

    def __init__(
        self, source: Source, wanted: Wanted, max_bytes: int, *, start: int = 0, can_seek: bool = True
    ) -> None:
        self._open, self._can_seek = source, can_seek
        self._source = source(start)
        self._wanted, self._max_bytes = wanted, max_bytes
        self._buffer = bytearray()
        self._members: deque[tuple[int, int]] = deque()  # (index into the buffer, offset in the file), ascending
        self._offset = start  # in the file: of the record (plain) or the member at the head of the buffer
        self._plain: bool | None = None  # not compressed; None before the first piece
        self._pending: list[BrokenRecordError] = []

    def records(self) -> Iterator[RawRecord | BrokenRecordError]:
        """Every record, or what stands in the place of one."""
        while True:
            try:
                record = self._record() if self._to_content() else None
            except BrokenRecordError as error:
                yield error
                self._to_next_record(error.offset)
            else:
                if record is not None:
                    yield record
                elif not self._pending:
                    return
            yield from self._pending
            self._pending.clear()

    # --- one record --------------------------------------------------------------------------------------------------
    def _record(self) -> RawRecord:
        offset = self._offset
        record = RawRecord(offset, self._fields(offset))
        length = self._length(record)
        wanted = self._wanted(record.fields)
        if length is None:
            record.block = self._rest_of_member(offset)
        elif wanted and length <= self._max_bytes:
            record.block = self._take(length, offset)
        else:
            self._drop(length, offset)
            record.problem = f"{length} bytes are beyond the limit of {self._max_bytes}" if wanted else ""
        self._end(offset)
        if wanted and self._plain and not record.problem:  # gzip and zstd have checksums of their own
            record.problem = _digest_problem(record)
        return record

    def _fields(self, offset: int) -> dict[str, str]:
        head = self._head(offset)
        lines = head.replace(b"\r\n", b"\n").split(b"\n")
        fields: dict[str, str] = {}
        last = ""
        for line in lines[1:]:
            if line[:1] in {b" ", b"\t"} and last:
                fields[last] += " " + line.strip().decode("utf-8", "replace")
                continue
            name, _, value = line.partition(b":")
            last = name.strip().lower().decode("latin-1")
            fields.setdefault(last, value.strip().decode("utf-8", "replace"))
        return fields

    def _head(self, offset: int) -> bytes:
        """The version line and the named fields; the empty line that ends them is taken, too."""
        searched = 0
        while not (found := _END_OF_HEAD.search(self._buffer, searched)):
            searched = max(0, len(self._buffer) - 3)
            if len(self._buffer) > MAX_HEADER_BYTES or not self._may_begin_record():
                raise BrokenRecordError(offset, _NO_RECORD)
            if not self._fill_for(offset):
                raise BrokenRecordError(offset, "the file ends within the header of this record")
        if not _VERSION.match(self._buffer):
            raise BrokenRecordError(offset, _NO_RECORD)
        head = bytes(self._buffer[: found.start()])
        self._forget(found.end())
        return head

    def _may_begin_record(self) -> bool:
        return bytes(self._buffer[:5]) == b"WARC/"[: len(self._buffer)]

    def _length(self, record: RawRecord) -> int | None:
        text = record.fields.get("content-length", "")
        if text.isascii() and text.isdecimal() and len(text) < 16:
            return int(text)
        if text or self._plain:
            raise BrokenRecordError(record.offset, f"no usable Content-Length ({text[:40]!r})")
        return None

    def _take(self, size: int, offset: int) -> bytes:
        while len(self._buffer) < size:
            self._more(offset, size)
        block = bytes(self._buffer[:size])
        self._check_members(size, offset)
        self._forget(size)
        return block

    def _drop(self, size: int, offset: int) -> None:
        left = size
        while left > len(self._buffer):
            self._check_members(len(self._buffer), offset)
            left -= len(self._buffer)
            self._forget(len(self._buffer))
            self._more(offset, left)
        self._check_members(left, offset)
        self._forget(left)

    def _more(self, offset: int, missing: int) -> None:
        if not self._fill_for(offset):
            raise BrokenRecordError(offset, f"the record is torn: {missing} bytes before its end")

    def _fill_for(self, offset: int) -> bool:
        """`_fill` for the record at `offset`; damage behind its member is kept for later and is the end of it."""
        try:
            return self._fill()
        except BrokenRecordError as error:
            if error.offset == offset:
                raise
            self._pending.append(error)
            return False

    def _check_members(self, size: int, offset: int) -> None:
        """A block must not reach into a member that begins a record of its own."""
        for at, _ in self._members:
            if at < size and self._buffer.startswith(b"WARC/", at):
                self._forget(at)
                raise BrokenRecordError(offset, f"the record ends {size - at} bytes before the end it promises")

    def _rest_of_member(self, offset: int) -> bytes:
        """What is left of a member: the block of a record without Content-Length."""
        while not self._members and len(self._buffer) <= self._max_bytes and self._fill_for(offset):
            continue
        size = self._members[0][0] if self._members else len(self._buffer)
        if size > self._max_bytes:
            raise BrokenRecordError(offset, f"no Content-Length, and more than {self._max_bytes} bytes")
        block = bytes(self._buffer[:size])
        self._forget(size)
        return block.removesuffix(b"\r\n\r\n")

    def _end(self, offset: int) -> None:
        """After a block: line ends, then another record, another member or the end of the file."""
        while True:
            self._forget_blank()
            if not self._plain and self._offset != offset:
                return  # the member is over and was whole; what begins the next one is judged there
            if self._members or len(self._buffer) >= _LONGEST_VERSION or not self._fill_for(offset):
                break
        if self._buffer and not _VERSION.match(self._buffer):
            raise BrokenRecordError(offset, "its Content-Length does not lead to the end of the record")

    # --- the buffer --------------------------------------------------------------------------------------------------
    def _to_content(self) -> bool:
        """Skip the line ends between records; False at the end of the file."""
        while True:
            self._forget_blank()
            if self._buffer:
                return True
            if not self._fill():
                return False

    def _to_next_record(self, offset: int) -> None:
        """Drop everything before the next line that begins a record.

        Nothing of what a broken record promised is believed: where there are no members, the search begins behind its
        first byte.
        """
        if self._plain and self._can_seek:
            self._source, self._offset = self._open(offset + 1), offset + 1
            self._buffer.clear()
        while (at := self._next_start()) < 0:
            self._forget(max(0, len(self._buffer) - _LONGEST_VERSION))
            try:
                if not self._fill():
                    self._forget(len(self._buffer))
                    return
            except BrokenRecordError as error:
                if error.offset != offset:
                    self._pending.append(error)
        self._forget(at)

    def _next_start(self) -> int:
        """Where in the buffer a line begins a record; -1 where none does."""
        begins = {at for at, _ in self._members} | {0}
        for found in _BEGIN.finditer(self._buffer):
            at = found.start()
            if (at in begins or self._buffer[at - 1] in b"\n\xbf") and _VERSION.match(self._buffer, at):
                return at
        return -1

    def _fill(self) -> bool:
        """Append the next piece; False at the end. Raises: BrokenRecordError at a damaged member."""
        piece = next(self._source, None)
        if piece is None:
            return False
        if isinstance(piece, Damage):
            self._forget(len(self._buffer))
            self._offset = piece.offset
            raise BrokenRecordError(piece.offset, piece.what)
        if self._plain is None:
            self._plain = not piece.first
        if piece.first:
            self._members.append((len(self._buffer), piece.offset))
        elif not self._buffer:
            self._offset = piece.offset
        self._buffer += piece.data
        return True

    def _forget_blank(self) -> None:
        found = _BLANK.match(self._buffer)
        self._forget(found.end() if found else 0)

    def _forget(self, size: int) -> None:
        del self._buffer[:size]
        if self._plain:
            self._offset += size
        while self._members and self._members[0][0] <= size:
            self._offset = self._members.popleft()[1]
        self._members = deque((at - size, offset) for at, offset in self._members)


def _digest_problem(record: RawRecord) -> str:
    """What is wrong with a block by its own WARC-Block-Digest; nothing where there is none that can be checked."""
    algorithm, _, value = record.fields.get("warc-block-digest", "").partition(":")
    algorithm = algorithm.lower().replace("-", "")
    size = _ALGORITHMS.get(algorithm)
    expected = _digest_bytes(value.strip(), size) if size else None
    if expected is None or hashlib.new(algorithm, record.block, usedforsecurity=False).digest() == expected:
        return ""
    return "its block does not have the digest that it promises"


def _digest_bytes(text: str, size: int) -> bytes | None:
    """A digest in hex or base32 (both are in use); None where it is neither."""
    try:
        raw = bytes.fromhex(text) if len(text) == 2 * size else base64.b32decode(text + "=" * (-len(text) % 8), True)
    except (ValueError, binascii.Error):
        return None
    return raw if len(raw) == size else None
