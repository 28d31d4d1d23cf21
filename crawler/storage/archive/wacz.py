"""A WACZ is a zip file with archives in it; they are read where they are, without unpacking the zip to a disk.

Source: Web Archive Collection Zipped, version 1.1.1: `archive/*.warc.gz`, usually stored as they are. One that the zip
file has packed a second time is unpacked as it is read, from its beginning where an earlier byte is asked for.
"""

from __future__ import annotations

import io
import os
import struct
from typing import IO, cast
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from crawler.storage.archive.names import is_archive

_LOCAL = struct.Struct("<4s22xHH")  # of a local file header: its signature, lengths of name and extra field
MAX_REWINDS = 100
"""Times that a packed member is unpacked from its beginning again, each for a damaged record."""


def archives_in(file: IO[bytes]) -> list[str]:
    """Names of the archives in a WACZ, sorted. Raises: OSError, whatever `zipfile` does of a file that is none."""
    if not file.seekable():
        raise OSError("its server gives no parts of a file, which a WACZ needs: fetch it first")
    with ZipFile(file) as zipped:
        return sorted(one.filename for one in zipped.infolist() if not one.is_dir() and is_archive(one.filename))


def open_member(file: IO[bytes], name: str) -> IO[bytes]:
    """One member, for reading; it closes `file` with itself. Raises: KeyError, OSError, what `zipfile` does."""
    zipped = ZipFile(file)
    found = zipped.getinfo(name)
    if found.compress_type == ZIP_STORED and not found.flag_bits & 1:
        return cast("IO[bytes]", _Stored(file, _begin(file, found), found.file_size))
    return cast("IO[bytes]", _Packed(file, zipped, found))


def _begin(file: IO[bytes], member: ZipInfo) -> int:
    file.seek(member.header_offset)
    signature, name, extra = _LOCAL.unpack(file.read(_LOCAL.size))
    if signature != b"PK\x03\x04":
        raise OSError(f"the zip file has no member at byte {member.header_offset}")
    return member.header_offset + _LOCAL.size + int(name) + int(extra)


class _Member:
    """What both kinds of members share: a size, a position, and the file they close."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self.size, self._at = file, size, 0

    def tell(self) -> int:
        return self._at

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()

    def _target(self, offset: int, whence: int) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        return max(0, min(self.size, base + offset))


class _Stored(_Member):
    """A member that lies in the zip file as it is: a part of the file."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        super().__init__(file, size)
        self._start = start

    def read(self, size: int = -1) -> bytes:
        left = self.size - self._at
        self._file.seek(self._start + self._at)
        data = self._file.read(left if size < 0 else min(size, left))
        if not data and left and size:
            raise OSError("the zip file ends before this member does")
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = self._target(offset, whence)
        return self._at


class _Packed(_Member):
    """A member that the zip file has packed."""

    def __init__(self, file: IO[bytes], zipped: ZipFile, member: ZipInfo) -> None:
        super().__init__(file, member.file_size)
        self._zipped, self._info, self._rewinds = zipped, member, 0
        self._stream = zipped.open(member)

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        target = self._target(offset, whence)
        if target < self._at:
            self._rewinds += 1
            if self._rewinds > MAX_REWINDS:
                raise OSError(f"more than {MAX_REWINDS} damaged records in a packed member: unpack the zip file first")
            self._stream.close()
            self._stream, self._at = self._zipped.open(self._info), 0
        while self._at < target and self.read(min(target - self._at, io.DEFAULT_BUFFER_SIZE * 8)):
            continue
        return self._at
