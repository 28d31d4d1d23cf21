"""Withdrawn pages leave the archive: each of their WARC records is overwritten by an empty one of the same length.

So the byte offsets of all other records stay true. What stands in for a record keeps its id, its date and the digest of
its payload, nothing of its content and not its URL.

Sources: RFC 1952 (a gzip member may carry a comment of any length: it fills the space), ISO 28500:2017 (WARC 1.1).
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from crawler.storage.errors import StorageError
from crawler.storage.journal import disk, rename_durably
from crawler.storage.place import Place
from crawler.storage.shards import Entry
from crawler.storage.warc import archive_entry

_CHUNK = 1 << 20
_COMMENT = 0x10  # FLG.FCOMMENT
_FRAME = 10 + 8  # bytes of a member's header and trailer


def erase_pages(place: Place, old: str, new: Path, is_withdrawn: Callable[[str], bool]) -> tuple[Entry, int] | None:
    """Copy an archive without the records whose target URI is withdrawn.

    Answers the manifest entry (without path) of the new file and the number of response records that went; None where
    the archive holds nothing of the kind, and no file is written then.
    Raises: StorageError where the archive is damaged or the disk fails.
    """
    temporary = new.with_name(f".{new.name}.tmp")
    times: list[str] = []
    erased = responses = 0
    try:
        with disk(temporary), place.open(old) as index, place.open(old) as source, temporary.open("wb") as target:
            for record, start, end in _members(index, old, source):
                response = record.record_type == WarcRecordType.response
                source.seek(start)
                if is_withdrawn((record.headers.get("WARC-Target-URI") or "").strip("<>")):
                    target.write(_stand_in(record, end - start, old))
                    erased += 1
                    responses += response
                    continue
                _copy(source, target, end - start)
                if response:
                    times.append(record.headers.get("WARC-Date") or "")
            target.flush()
            os.fsync(target.fileno())
        if not erased:
            return None
        entry = archive_entry(temporary, len(times), times)
        rename_durably(temporary, new)
        return entry, responses
    finally:
        temporary.unlink(missing_ok=True)


def _members(index: IO[bytes], name: str, source: IO[bytes]) -> Iterator[tuple[WarcRecord, int, int]]:
    """Every record with the bytes it takes, from and to: one gzip member each, as `storage/warc.py` writes them."""
    size = source.seek(0, os.SEEK_END)
    starts = [record.stream_pos for record in ArchiveIterator(index, record_types=WarcRecordType.any_type)]
    if not starts or starts[0] != 0:
        raise StorageError(f"{name}: no WARC record at its beginning; restore the file from a copy")
    ends = [*starts[1:], size]
    index.seek(0)
    records = ArchiveIterator(index, record_types=WarcRecordType.any_type, parse_http=False)
    yield from ((record, start, end) for record, start, end in zip(records, starts, ends, strict=True))


def _copy(source: IO[bytes], target: IO[bytes], count: int) -> None:
    while count:
        block = source.read(min(count, _CHUNK))
        if not block:
            raise StorageError("the archive is shorter than its records say; restore the file from a copy")
        target.write(block)
        count -= len(block)


def _stand_in(record: WarcRecord, length: int, name: str) -> bytes:
    """A gzip member of exactly `length` bytes: a metadata record that says "withdrawn"."""
    for digest in (record.headers.get("WARC-Payload-Digest"), None):
        data = _withdrawn(record, digest)
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(data) + packer.flush()
        room = length - _FRAME - len(packed)
        if room >= 0:
            header = b"\x1f\x8b\x08" + bytes([_COMMENT if room else 0]) + b"\0\0\0\0\x02\xff"
            comment = b" " * (room - 1) + b"\0" if room else b""
            return header + comment + packed + struct.pack("<II", zlib.crc32(data), len(data))
    raise StorageError(
        f"{name}: a record of {length} bytes is too small to be one of ours; remove this archive by hand"
    )


def _withdrawn(record: WarcRecord, payload_digest: str | None) -> bytes:
    lines = ["WARC/1.1", "WARC-Type: metadata", f"WARC-Record-ID: {record.headers.get('WARC-Record-ID')}"]
    lines += [f"WARC-Date: {record.headers.get('WARC-Date')}"]
    lines += [f"WARC-Payload-Digest: {payload_digest}"] if payload_digest else []
    lines += ["Content-Type: text/plain", "Content-Length: 9", "", "withdrawn", "", ""]
    return "\r\n".join(lines).encode()
