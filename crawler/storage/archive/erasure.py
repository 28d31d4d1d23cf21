"""Withdrawn pages leave the archive: each of their WARC records is overwritten by an empty one of the same length.

So the byte offsets of all other records stay true. What stands in for a record keeps its id, its date and the digest of
its payload, nothing of its content and not its URL.

Sources: RFC 1952 (a gzip member may carry a comment of any length: it fills the space), RFC 8878 (readers of zstd pass
over skippable frames), ISO 28500:2017 (WARC 1.1).
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from crawler.storage.archive.writer import describe_archive
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk, rename_durably, zstd_frame
from crawler.storage.files.place import Place
from crawler.storage.types import Sealed

_CHUNK = 1 << 20
_COMMENT = 0x10  # FLG.FCOMMENT
_SKIPPABLE_MAGIC = 0x184D2A50  # RFC 8878, section 3.1.2
_SKIPPABLE = struct.Struct("<II")  # magic number and size
_FRAME = 10 + 8  # bytes of a member's header and trailer


@dataclass(frozen=True, slots=True)
class _Member:
    """One WARC record, which is one gzip member or zstd frame as `writer.py` writes them."""

    start: int
    withdrawn: bool
    response: bool
    record_id: str
    page_id: str
    """The record that it stands beside (WARC-Concurrent-To); empty where it names none."""
    date: str
    payload_digest: str | None


def erase_pages(
    place: Place, old: str, new: Path, is_withdrawn: Callable[[str], bool], *, sha256: str
) -> tuple[Sealed, int] | None:
    """Copy an archive without the records whose target URI is withdrawn, and without what their pages fetched.

    sha256: of the archive as the manifest lists it, so that no damage hides a record from us.

    Answers the manifest entry (without path) of the new file and the number of pages that went; None where
    the archive holds nothing of the kind, and no file is written then.
    Raises: StorageError where the archive is damaged or the disk fails.
    """
    _check(place, old, sha256)
    members = _members(place, old, is_withdrawn)
    if not any(member.withdrawn for member in members):
        return None
    temporary = new.with_name(f".{new.name}.tmp")
    try:
        with disk(temporary), place.open(old) as source, temporary.open("wb") as target:
            _write_without(members, source, target, old)
        entry = describe_archive(temporary, new)
        rename_durably(temporary, new)
    finally:
        temporary.unlink(missing_ok=True)
    return entry, sum(member.response and member.withdrawn and not member.page_id for member in members)


def _write_without(members: list[_Member], source: IO[bytes], target: IO[bytes], name: str) -> None:
    """Copy every member, or what stands in for it, to `target` and to the disk."""
    ends = [*(member.start for member in members[1:]), source.seek(0, os.SEEK_END)]
    for member, end in zip(members, ends, strict=True):
        if member.withdrawn:
            target.write(_stand_in(member, end - member.start, name))
        else:
            source.seek(member.start)
            _copy(source, target, end - member.start)
    target.flush()
    os.fsync(target.fileno())


def _check(place: Place, name: str, sha256: str) -> None:
    with disk(name), place.open(name) as file:
        digest = hashlib.sha256()
        while block := file.read(_CHUNK):
            digest.update(block)
    if digest.hexdigest() != sha256:
        raise StorageError(f"{name}: the SHA-256 is not the one in the manifest; restore the file from a copy")


def _members(place: Place, name: str, is_withdrawn: Callable[[str], bool]) -> list[_Member]:
    with place.open(name) as file:
        records = ArchiveIterator(file, record_types=WarcRecordType.any_type, parse_http=False)
        members = _with_captures([_member(record, is_withdrawn) for record in records])
    if not members or members[0].start != 0:
        raise StorageError(f"{name}: no WARC record at its beginning; restore the file from a copy")
    return members


def _with_captures(members: list[_Member]) -> list[_Member]:
    """JSON that a withdrawn page fetched has a URL of its own: it goes with the page, and so does what is beside it."""
    gone = {member.record_id for member in members if member.withdrawn and member.response}
    gone |= {member.record_id for member in members if member.response and member.page_id in gone}
    return [replace(member, withdrawn=member.withdrawn or {member.record_id, member.page_id} & gone != set())
            for member in members]  # fmt: skip


def _member(record: WarcRecord, is_withdrawn: Callable[[str], bool]) -> _Member:
    headers = record.headers
    return _Member(
        start=record.stream_pos,
        withdrawn=is_withdrawn((headers.get("WARC-Target-URI") or "").strip("<>")),
        response=record.record_type == WarcRecordType.response,
        record_id=headers.get("WARC-Record-ID") or "",
        page_id=headers.get("WARC-Concurrent-To") or "",
        date=headers.get("WARC-Date") or "",
        payload_digest=headers.get("WARC-Payload-Digest"),
    )


def _copy(source: IO[bytes], target: IO[bytes], count: int) -> None:
    while count:
        block = source.read(min(count, _CHUNK))
        if not block:
            raise StorageError("the archive is shorter than its records say; restore the file from a copy")
        target.write(block)
        count -= len(block)


def _stand_in(member: _Member, length: int, name: str) -> bytes:
    """Exactly `length` compressed bytes: a metadata record that says "withdrawn"."""
    fill = _zstd_of if name.endswith(".zst") else _gzip_of
    for digest in (member.payload_digest, None):
        if found := fill(_withdrawn(member, digest), length):
            return found
    raise StorageError(
        f"{name}: a record of {length} bytes is too small to be one of ours; remove this archive by hand"
    )


def _gzip_of(data: bytes, length: int) -> bytes | None:
    """One gzip member of exactly `length` bytes, filled up by its comment; None where there is no room for it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(data) + packer.flush()
    room = length - _FRAME - len(packed)
    if room < 0:
        return None
    header = b"\x1f\x8b\x08" + bytes([_COMMENT if room else 0]) + b"\0\0\0\0\x02\xff"
    comment = b" " * (room - 1) + b"\0" if room else b""
    return header + comment + packed + struct.pack("<II", zlib.crc32(data), len(data))


def _zstd_of(data: bytes, length: int) -> bytes | None:
    """One zstd frame, and a skippable one that fills it up to exactly `length` bytes; None where they do not fit."""
    frame = zstd_frame(data)
    room = length - len(frame)
    if room == 0:
        return frame
    if room < _SKIPPABLE.size:
        return None
    return frame + _SKIPPABLE.pack(_SKIPPABLE_MAGIC, room - _SKIPPABLE.size) + bytes(room - _SKIPPABLE.size)


def _withdrawn(member: _Member, payload_digest: str | None) -> bytes:
    lines = ["WARC/1.1", "WARC-Type: metadata", f"WARC-Record-ID: {member.record_id}", f"WARC-Date: {member.date}"]
    lines += [f"WARC-Payload-Digest: {payload_digest}"] if payload_digest else []
    lines += ["Content-Type: text/plain", "Content-Length: 9", "", "withdrawn", "", ""]
    return "\r\n".join(lines).encode()
