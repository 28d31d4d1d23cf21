"""Archives back into responses: what the replay spider reads instead of the network.

Reads WARC and WET files, packed with gzip, zstd or not at all, also those in a WACZ, from a path or any fsspec URL,
ours or Common Crawl's, front to back. What cannot be read is reported with its offset, and reading goes on at the next
record. Below: `wacz.py`, `members.py` (gzip, zstd), `framing.py` (WARC), `crawler/wire/` (HTTP).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import IO

from crawler.storage.archive.codings import Payload, decoded
from crawler.storage.archive.framing import BrokenRecordError, RawRecord, RecordReader
from crawler.storage.archive.members import Damage, Piece, pieces
from crawler.storage.archive.names import ARC, check_name
from crawler.storage.archive.origin import origin_of
from crawler.storage.archive.places import expand
from crawler.storage.archive.remote import members_of, open_archive, unreadable
from crawler.storage.archive.types import DRAWN, EVIDENCE_TYPE, TOMBSTONE_TYPE
from crawler.storage.files.errors import ArchiveError
from crawler.storage.types import Origin
from crawler.wire.head import Headers, read_block

__all__ = ["Archive", "ArchivedResponse", "ReadProblem", "expand", "read_archive"]

MAX_BYTES = 64 * 2**20
"""Payloads beyond this are reported, not read: the default of DOCUMENT_MAXSIZE."""
BEYOND = "beyond the limit"
_MAX_EVIDENCE = 2**20
MAX_CAPTURES = 50
"""Captures of one page that are read, as many as a crawl writes."""
_HEAD_ROOM = 2**18  # bytes of HTTP head that a block may have on top of its payload
_PAGES = frozenset({"response", "conversion", "resource", "revisit"})
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}(?=:)")


@dataclass(frozen=True, slots=True)
class ArchivedResponse:
    """One page from an archive. `body` is free of transfer and content encoding.

    evidence: what the crawl that wrote the archive noted beside the page, unread; empty in other people's archives.
    kind: "response" (HTTP), "conversion" (WET: `body` is plain text in UTF-8), "resource" (a file without HTTP),
    "revisit": no body, the page was as an earlier record has it (`refers_to` says which, as far as it is known), or
    "tombstone": no body, our crawl found the page gone (`evidence` holds its verdict).
    status: HTTP status; 200 for the kinds without HTTP, 0 for a tombstone. fetched_at: seconds since the epoch.
    drawn: the page as the browser of our crawl has drawn it, HTML in UTF-8; empty where none has. captures: JSON that
    it fetched there, each a response of its own.
    truncated: the reason in WARC-Truncated (section 5.13); empty where the body is whole. torn: how the payload shows
    by itself that its end is missing; else empty.
    license_tag, license_tier, …: as our own archives note them (`X-Crawl-Licence`, `X-Crawl-Licence-Tier`, …).
    """

    url: str
    kind: str
    status: int
    headers: Headers
    body: bytes
    fetched_at: float
    file: str
    record_id: str
    offset: int
    ip_address: str | None = None
    evidence: bytes = b""
    drawn: bytes = b""
    captures: tuple[ArchivedResponse, ...] = ()
    truncated: str = ""
    torn: str = ""
    refers_to: str = ""
    license_tag: str | None = None
    license_tier: str | None = None
    license_reviewer: str | None = None
    license_reviewed: str | None = None


@dataclass(frozen=True, slots=True)
class ReadProblem:
    """What could not be read: where its record (or compressed member) begins, and its address where that is known."""

    file: str
    offset: int
    what: str
    url: str = ""
    record_id: str = ""

    @property
    def is_size(self) -> bool:
        """True where the record is whole, but beyond the limit."""
        return BEYOND in self.what


class Archive:
    """One archive, read front to back: iterate over its pages and problems, in file order.

    start: byte of the file where a record begins; reading starts there. `offset` is where reading stands, `records` how
    many WARC records have been seen, `skipped` what no page comes from, by kind ("scheme/dns", …), `origin` what its
    first warcinfo record says, once it has been read.
    Raises: ArchiveError where the file is missing, is no archive of a known kind, holds no WARC record at all, or
    where its disk or server does not give the rest of it.
    """

    def __init__(
        self, path_or_url: str, *, start: int = 0, max_bytes: int = MAX_BYTES, anonymous: bool = False
    ) -> None:
        check_name(path_or_url)
        self.name, self.offset, self.records = path_or_url, start, 0
        self.skipped: Counter[str] = Counter()
        self._start, self._max_bytes, self._anonymous = start, max_bytes, anonymous
        self.origin: Origin = {}
        self._noted: tuple[str, bytes] = ("", b"")  # id of the response to come, and its evidence
        self._drawn: tuple[str, bytes] = ("", b"")  # the same, and what a browser drew of it
        self._captured: tuple[str, list[ArchivedResponse]] = ("", [])  # the same, and what was fetched for it

    def __iter__(self) -> Iterator[ArchivedResponse | ReadProblem]:
        first: ReadProblem | None = None
        with open_archive(self.name, anonymous=self._anonymous) as file:
            for found in self._found(file):
                if isinstance(found, ReadProblem):
                    first = first or found
                yield found
        if not self.records and not self._start:
            why = first.what if first else "it is empty"
            raise ArchiveError(f"{self.name}: no WARC record could be read ({why}); is it a WARC file?")

    def _found(self, file: IO[bytes]) -> Iterator[ArchivedResponse | ReadProblem]:
        can_seek = file.seekable()
        start = self._start if can_seek else 0
        limit = self._max_bytes + _HEAD_ROOM
        reader = RecordReader(lambda at: self._pieces(file, at), _is_wanted, limit, start=start, can_seek=can_seek)
        try:
            for record in reader.records():
                self.offset = max(self.offset, record.offset)
                if isinstance(record, BrokenRecordError):
                    yield ReadProblem(self.name, record.offset, record.what)
                    continue
                self.records += 1
                if found := self._read(record):
                    yield found
        except (OSError, EOFError) as error:
            raise unreadable(self.name, error) from error

    def _pieces(self, file: IO[bytes], start: int) -> Iterator[Piece | Damage]:
        """Raises: ArchiveError where the plain bytes begin as an ARC file does."""
        for number, piece in enumerate(pieces(file, start)):
            if not number and isinstance(piece, Piece) and piece.data.startswith(b"filedesc:"):
                raise ArchiveError(f"{self.name}: {ARC}")
            yield piece

    def _read(self, record: RawRecord) -> ArchivedResponse | ReadProblem | None:
        fields = record.fields
        if record.kind == "warcinfo":
            self.origin = self.origin or origin_of(record.block)
            return None
        if self._is_beside(record):
            return None
        is_tombstone = record.kind == "metadata" and fields.get("content-type") == TOMBSTONE_TYPE
        if record.kind not in _PAGES and not is_tombstone:
            return self._left_out(record)
        url = fields.get("warc-target-uri", "").strip("<> ")
        scheme = _SCHEME.match(url)
        if not scheme or scheme[0].lower() not in {"http", "https"} or not url.startswith("://", scheme.end()):
            self.skipped[f"scheme/{scheme[0].lower() if scheme else 'none'}"] += 1
            return None
        problem = record.problem
        if not problem:
            try:
                return self._page_or_capture(record, url)
            except (OSError, ValueError, RuntimeError, EOFError, TypeError, OverflowError) as error:
                problem = f"broken record: {error}"
        return ReadProblem(self.name, record.offset, problem, url, fields.get("warc-record-id", ""))

    def _is_beside(self, record: RawRecord) -> bool:
        """True for what our crawl noted beside the response to come; it is kept for that one."""
        fields, is_whole = record.fields, not record.problem
        if record.kind == "metadata" and fields.get("content-type") == EVIDENCE_TYPE:
            if is_whole and len(record.block) <= _MAX_EVIDENCE:
                self._noted = (fields.get("warc-concurrent-to", ""), record.block)
            return True
        if record.kind == "resource" and fields.get(DRAWN.lower()) == "dom":
            if is_whole and len(record.block) <= self._max_bytes:
                self._drawn = (fields.get("warc-concurrent-to", ""), record.block)
            return True
        return False

    def _left_out(self, record: RawRecord) -> ReadProblem | None:
        if record.kind == "continuation":
            return ReadProblem(self.name, record.offset, "a segment of a record: segmented records are not read")
        if record.kind not in {"warcinfo", "request", "metadata"}:
            self.skipped["type/other"] += 1
        return None

    def _page_or_capture(self, record: RawRecord, url: str) -> ArchivedResponse | None:
        """The page with what stands beside it; None for a capture, which waits for its page."""
        found = self._response(record, url)
        if record.kind == "response" and record.fields.get(DRAWN.lower()) == "capture":
            page_id = record.fields.get("warc-concurrent-to", "")
            if self._captured[0] != page_id:
                self._captured = (page_id, [])
            if len(self._captured[1]) < MAX_CAPTURES:
                self._captured[1].append(found)
            return None
        if found.record_id and self._captured[0] == found.record_id:
            return replace(found, captures=tuple(self._captured[1]))
        return found

    def _response(self, record: RawRecord, url: str) -> ArchivedResponse:
        """Raises: ValueError, OSError, … where the record cannot be understood."""
        fields = record.fields
        if "warc-segment-number" in fields:
            raise ValueError("segmented records are not read")
        record_id = fields.get("warc-record-id", "")
        status, headers, payload = self._content(record)
        tier = fields.get("x-crawl-licence-tier", "none")
        return ArchivedResponse(
            url=url,
            kind="tombstone" if record.kind == "metadata" else record.kind,
            status=status,
            headers=headers,
            body=payload.data,
            fetched_at=_seconds(fields.get("warc-date", "")),
            file=self.name,
            record_id=record_id,
            offset=record.offset,
            ip_address=fields.get("warc-ip-address"),
            evidence=self._evidence(record),
            drawn=self._drawn[1] if record_id and self._drawn[0] == record_id else b"",
            truncated=fields.get("warc-truncated", "").lower(),
            torn=payload.torn,
            refers_to=fields.get("warc-refers-to-target-uri", "") or fields.get("warc-refers-to", ""),
            license_tag=fields.get("x-crawl-licence"),
            license_tier=None if tier == "none" else tier,
            license_reviewer=fields.get("x-crawl-licence-reviewer"),
            license_reviewed=fields.get("x-crawl-licence-reviewed"),
        )

    def _evidence(self, record: RawRecord) -> bytes:
        if record.kind == "metadata":
            return record.block
        record_id = record.fields.get("warc-record-id", "")
        return self._noted[1] if record_id and self._noted[0] == record_id else b""

    def _content(self, record: RawRecord) -> tuple[int, Headers, Payload]:
        """Status, header lines and decoded payload."""
        kind = record.fields.get("content-type", "")
        if record.kind == "revisit":
            status, headers = _revisited(record.block)
            return status, headers, Payload(b"")
        if record.kind == "metadata":
            return 0, [], Payload(b"")
        if record.kind != "response" and not kind.startswith("application/http"):
            lines = [(b"Content-Type", kind.encode("latin-1", "replace"))] if kind else []
            return 200, lines, Payload(record.block)
        head, body = read_block(record.block)
        return head.status, head.headers, decoded(head, body, self._max_bytes)


def read_archive(
    path_or_url: str,
    *,
    on_problem: Callable[[ReadProblem], None] | None = None,
    on_unread: Callable[[ArchiveError], None] | None = None,
    max_bytes: int = MAX_BYTES,
    revisits: bool = False,
) -> Iterator[ArchivedResponse]:
    """Every page of one archive, in file order, and on request revisits and tombstones; what cannot be read goes to
    `on_problem`.

    Of a WACZ every archive in it; one that cannot be read goes to `on_unread` and does not keep the others from it.
    Raises: ArchiveError as `Archive` where nobody takes it there, of several the first, after all others were read.
    """
    failed: list[ArchiveError] = []
    tell = on_unread or failed.append
    try:
        names = members_of(path_or_url)
    except ArchiveError as error:
        names = []
        tell(error)
    for name in names:
        try:
            for found in Archive(name, max_bytes=max_bytes):
                if isinstance(found, ReadProblem):
                    if on_problem is not None:
                        on_problem(found)
                elif revisits or found.kind not in {"revisit", "tombstone"}:
                    yield found
        except ArchiveError as error:
            tell(error)
    if failed:
        raise failed[0]


def _is_wanted(fields: dict[str, str]) -> bool:
    kind = fields.get("warc-type", "").lower()
    ours = kind == "metadata" and fields.get("content-type") in {EVIDENCE_TYPE, TOMBSTONE_TYPE}
    return ours or kind in _PAGES or kind == "warcinfo"


def _revisited(block: bytes) -> tuple[int, Headers]:
    try:
        head, _ = read_block(block)
    except ValueError:
        return 304, []
    return head.status, head.headers


def _seconds(date: str) -> float:
    """Raises: ValueError where WARC-Date is no date (section 5.4; it may be any W3C date, and lack the zone).

    A year or a month is its first day.
    """
    try:
        moment = datetime.fromisoformat(date + "-01-01"[len(date) - 4 :] if len(date) in {4, 7} else date)
    except ValueError:
        raise ValueError(f"no usable WARC-Date ({date[:40]!r})") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
