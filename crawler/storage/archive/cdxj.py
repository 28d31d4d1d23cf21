"""The CDXJ index of a sealed archive says which page is where; sorted by bytes, so one look-up is one bisection.

One line a response or revisit record: SURT key, 14-digit UTC time, JSON (url, mime, status, digest, length, offset,
filename; all strings, as pywb writes them). Lines are collected while the archive grows (`Draft`) and come out the same
when they are read back from it (`scan`): after a crash, and for `gristmill dataset verify`.

Sources: the CDXJ format of pywb and of the IIPC's OpenWayback; the standard's name of a revisit there, `warc/revisit`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from crawler.storage.archive.surt import surt
from crawler.storage.archive.types import DRAWN
from crawler.storage.files.journal import disk, remove_draft, replace_file
from crawler.storage.types import Index

SUFFIX = ".cdxj"
ARCHIVE_SUFFIXES = (".warc.gz", ".warc.zst")
REVISIT_TYPE = "warc/revisit"
"""What the index says in place of a media type where the payload is in an earlier record."""
_INDEXED = (WarcRecordType.response, WarcRecordType.revisit)


@dataclass(frozen=True, slots=True)
class Page:
    """One record worth a line. `moment` is its WARC-Date, `length` that of the compressed record, in bytes."""

    url: str
    moment: str
    mime: str
    status: int
    digest: str | None
    length: int
    offset: int

    @property
    def revisit(self) -> bool:
        """True where the payload is in an earlier record."""
        return self.mime == REVISIT_TYPE

    def line(self, filename: str) -> bytes:
        """The index line of this record in the archive `filename`."""
        digits = "".join(filter(str.isdigit, self.moment[:19]))
        facts: dict[str, str] = {"url": self.url, "mime": self.mime, "status": str(self.status)}
        if self.digest:
            facts["digest"] = self.digest
        facts |= {"length": str(self.length), "offset": str(self.offset), "filename": filename}
        return f"{surt(self.url)} {digits} {json.dumps(facts)}\n".encode("ascii")


def is_archive(path: str) -> bool:
    """True for the name of an archive of ours."""
    return path.endswith(ARCHIVE_SUFFIXES)


def index_of(path: str) -> str:
    """The path of the index beside an archive."""
    for suffix in ARCHIVE_SUFFIXES:
        path = path.removesuffix(suffix)
    return path + SUFFIX


def with_index(path: str) -> tuple[str, ...]:
    """A file of the corpus and what always goes where it goes: its index, where it is an archive."""
    return (path, index_of(path)) if is_archive(path) else (path,)


class Draft:
    """The lines of an archive that still grows. Not durable: what a crash takes is read back from the archive."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive
        self._path = archive.with_name(f".{index_of(archive.name)}.tmp")
        with disk(self._path):
            self._file = self._path.open("w+b")

    def add(self, page: Page) -> None:
        """Take one record."""
        with disk(self._path):
            self._file.write(page.line(self._archive.name))

    def finish(self) -> Index:
        """Write the sorted index and answer its part of the manifest entry."""
        with disk(self._path):
            self._file.seek(0)
            lines = self._file.readlines()
        self.close()
        return write_index(self._archive, lines)

    def close(self) -> None:
        """Give the lines up. A full disk is no reason to keep them: what went wrong before is what people are told."""
        with suppress(OSError):
            self._file.close()
        remove_draft(self._path)


def write_index(archive: Path, lines: list[bytes]) -> Index:
    """Write the index of an archive from its lines, in any order; answers its part of the manifest entry."""
    path = archive.with_name(index_of(archive.name))
    content = b"".join(sorted(lines))
    replace_file(path, content)
    return index_facts(path.name, content)


def index_facts(name: str, content: bytes) -> Index:
    """What the manifest says of an index: where it is, its hash, its size and its lines."""
    return {
        "path": f"archive/{name}",
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "lines": content.count(b"\n"),
    }


def urls_in(index: bytes) -> Iterator[str]:
    """The address of each page whose payload the archive of this index has, one for each capture.

    Raises: ValueError where a line is damaged.
    """
    for line in index.splitlines():
        facts = json.loads(line.split(b" ", 2)[-1])
        if facts.get("mime") != REVISIT_TYPE:
            yield facts["url"]


def scan(file: IO[bytes]) -> Iterator[Page]:
    """Every response and revisit record of an archive, in file order, without captures: they are no pages.

    Raises as FastWARC does on damage.
    """
    found: Page | None = None
    for record in ArchiveIterator(file, record_types=WarcRecordType.any_type, parse_http=False):
        if found is not None:
            yield replace(found, length=record.stream_pos - found.offset)
        found = _page(record) if record.record_type in _INDEXED and not record.headers.get(DRAWN) else None
    if found is not None:
        yield replace(found, length=file.seek(0, os.SEEK_END) - found.offset)


def _page(record: WarcRecord) -> Page:
    headers, revisit = record.headers, record.record_type == WarcRecordType.revisit
    record.parse_http(strict_mode=False)
    return Page(
        url=headers.get("WARC-Target-URI") or "",
        moment=headers.get("WARC-Date") or "",
        mime=REVISIT_TYPE if revisit else headers.get("WARC-Identified-Payload-Type") or "",
        status=(record.http_headers.status_code if record.http_headers else None) or 0,
        digest=headers.get("WARC-Payload-Digest"),
        length=0,
        offset=record.stream_pos,
    )
