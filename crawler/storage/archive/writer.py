"""The raw exchange on its way to the archive: WARC 1.1, one compressed unit per record, appended to a journal.

`WarcWriter` numbers the files, caps their size, and writes the index beside each. What stands in a record is in
`crawler/storage/archive/records.py`; reading is in `crawler/storage/archive/reader.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from crawler.document import Exchange
from crawler.storage.archive.cdxj import REVISIT_TYPE, Draft, Page, scan, write_index
from crawler.storage.archive.records import (
    PACKERS,
    Referred,
    capture_record,
    drawn_record,
    metadata_record,
    payload_digest,
    payload_type,
    request_record,
    response_record,
    revisit_record,
    tombstone_record,
    urn,
    warcinfo_record,
)
from crawler.storage.files.journal import Journal, disk
from crawler.storage.files.shards import file_facts
from crawler.storage.types import Index, Sealed
from crawler.times import rfc3339

ENDINGS = {"gzip": "gz", "zstd": "zst"}
"""ARCHIVE_COMPRESSION, and how the file's name ends."""


@dataclass(frozen=True, slots=True)
class WarcLocation:
    """Where the response record of an exchange is: file relative to CORPUS_DIR, `<urn:uuid:…>`, byte offset."""

    file: str
    record_id: str
    offset: int


@dataclass(slots=True)
class _Counts:
    """What is in one file: response records, revisit records, first and last date."""

    documents: int = 0
    revisits: int = 0
    times: list[str] = field(default_factory=list)

    def add(self, page: Page) -> None:
        self.documents += not page.revisit
        self.revisits += page.revisit
        self.times = [min([page.moment, *self.times]), max([page.moment, *self.times])]


class WarcWriter:
    """Writes exchanges to numbered files `<prefix>-NNNNNN.warc.gz` (or .zst), a new one once `max_bytes` are reached.

    `new_id` returns a UUID as text and `clock` seconds since the epoch; with both injected the bytes are reproducible.
    compression: "gzip" or "zstd".
    """

    def __init__(
        self,
        folder: Path,
        prefix: str,
        *,
        max_bytes: int,
        first_number: int,
        on_seal: Callable[[Path, Sealed], None],
        info: dict[str, str],
        clock: Callable[[], float],
        new_id: Callable[[], str],
        compression: str = "gzip",
    ) -> None:
        self._folder, self._prefix, self._max_bytes, self._number = folder, prefix, max_bytes, first_number
        self._on_seal, self._info, self._clock, self._new_id = on_seal, info, clock, new_id
        self._ending = ENDINGS[compression]
        self._pack = PACKERS[self._ending]
        self._journal: Journal | None = None
        self._draft: Draft | None = None
        self._counts = _Counts()

    def write(self, exchange: Exchange) -> WarcLocation:
        """Append response and request record; durable after `commit()`."""
        record_id = self._new_id()
        record = response_record(exchange, record_id, self._pack)
        return self._append(exchange, record_id, record, payload_type(exchange), payload_digest(exchange.body))

    def write_revisit(self, exchange: Exchange, referred: Referred) -> WarcLocation:
        """Append a revisit record and its request: a 304, or an answer whose payload `referred` holds already.

        The payload in `exchange.body` is not written; for an answer other than 304 its digest is.
        """
        record_id = self._new_id()
        record = revisit_record(exchange, referred, record_id, self._pack)
        same = exchange.status != HTTPStatus.NOT_MODIFIED
        digest = payload_digest(exchange.body) if same else referred.payload_digest
        return self._append(exchange, record_id, record, REVISIT_TYPE, digest)

    def write_tombstone(self, url: str, moment: str, content: bytes) -> WarcLocation:
        """Append a metadata record: a page that was kept is gone since `moment` (RFC 3339), as `content` says."""
        self._make_room()
        journal, _ = self._open()
        record_id = self._new_id()
        offset = journal.append(tombstone_record(url, moment, content, record_id, self._pack))
        return WarcLocation(f"{self._folder.name}/{journal.path.name}", urn(record_id), offset)

    def commit(self) -> None:
        """Return when every record written so far is on the disk."""
        if self._journal is not None:
            self._journal.sync()

    def seal(self) -> None:
        """Write the index, then give the current file its final name. Does nothing where none is open."""
        if self._journal is None or self._draft is None:
            return
        self._journal.sync()
        index = self._draft.finish()
        path = self._journal.seal()
        entry = archive_entry(path, self._counts, index)
        self._journal, self._draft, self._counts = None, None, _Counts()
        self._number += 1
        self._on_seal(path, entry)

    def abandon(self) -> None:
        """Close the file as it is: after a failed disk, the next start recovers what was committed."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        if self._draft is not None:
            self._draft.close()
            self._draft = None

    def _append(  # the record and what the index says of it
        self, exchange: Exchange, record_id: str, record: bytes, mime: str, digest: str | None
    ) -> WarcLocation:
        self._make_room()
        journal, draft = self._open()
        for beside in self._beside(exchange, record_id, mime):
            journal.append(beside)
        offset = journal.append(record)
        journal.append(request_record(exchange, self._new_id(), record_id, self._pack))
        moment = rfc3339(exchange.fetched_at)
        page = Page(exchange.url, moment, mime, exchange.status, digest, len(record), offset)
        draft.add(page)
        self._counts.add(page)
        return WarcLocation(f"{self._folder.name}/{journal.path.name}", urn(record_id), offset)

    def _beside(self, exchange: Exchange, record_id: str, mime: str) -> Iterator[bytes]:
        """What goes before the response, so that who reads in order has it in time."""
        rendering = exchange.rendering
        for capture in rendering.captures if rendering is not None and mime != REVISIT_TYPE else ():
            yield from self._captured(capture.exchange, record_id)
        if exchange.evidence or exchange.fetch or rendering is not None:
            yield metadata_record(exchange, self._new_id(), record_id, self._pack)
        if rendering is not None and rendering.dom and mime != REVISIT_TYPE:
            yield drawn_record(exchange, rendering.dom, self._new_id(), record_id, self._pack)

    def _captured(self, exchange: Exchange | None, page_id: str) -> Iterator[bytes]:
        """What was captured beside a page, with its own request and evidence."""
        if exchange is None:
            return
        record_id = self._new_id()
        if exchange.evidence:
            yield metadata_record(exchange, self._new_id(), record_id, self._pack)
        yield capture_record(exchange, record_id, page_id, self._pack)
        yield request_record(exchange, self._new_id(), record_id, self._pack)

    def _make_room(self) -> None:
        if self._journal is not None and self._journal.size >= self._max_bytes:
            self.seal()

    def _open(self) -> tuple[Journal, Draft]:
        if self._journal is None or self._draft is None:
            path = self._folder / f"{self._prefix}-{self._number:06d}.warc.{self._ending}"
            self._journal = Journal(path)
            self._draft = Draft(path)
            moment = rfc3339(self._clock())
            self._journal.append(warcinfo_record(self._info, path.name, self._new_id(), moment, self._pack))
        return self._journal, self._draft


def describe_archive(path: Path, name: Path | None = None) -> Sealed:
    """Read an archive that has no index yet, write its index, and answer its manifest entry (without path).

    name: what the archive will be called, where it has another name now. Raises: StorageError on a failing disk.
    """
    counts, lines, final = _Counts(), [], name or path
    with disk(path), path.open("rb") as file:
        for page in scan(file):
            counts.add(page)
            lines.append(page.line(final.name))
    return archive_entry(path, counts, write_index(final, lines))


def archive_entry(path: Path, counts: _Counts, index: Index) -> Sealed:
    """The manifest entry (without path) of an archive: hash, size, records, time span, index."""
    file = file_facts(path)
    return {
        "sha256": file["sha256"],
        "bytes": file["bytes"],
        "documents": counts.documents,
        "revisits": counts.revisits,
        "index": index,
        "first_crawled_at": min(counts.times, default=None),
        "last_crawled_at": max(counts.times, default=None),
    }
