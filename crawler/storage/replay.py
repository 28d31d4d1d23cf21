"""Archives back into responses: what the replay spider reads instead of the network.

Reads .warc, .warc.gz, .warc.zst, .wet and .wet.gz from a path or any fsspec URL, ours or Common Crawl's. Broken records
are counted with their offset and skipped where the container lets us find the next record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, cast

import fsspec
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from crawler.storage.encodings import decoded
from crawler.storage.errors import StorageError
from crawler.storage.journal import complete_bytes

Headers = list[tuple[bytes, bytes]]
_PAGES = WarcRecordType.response | WarcRecordType.conversion | WarcRecordType.resource
_WANTED = _PAGES | WarcRecordType.metadata
EVIDENCE_TYPE = "application/json;profile=crawl-policy-evidence"
"""Content-Type of our metadata records: what policy had read before the request (`crawler.policy.evidence`)."""
_MAX_EVIDENCE = 2**20
_SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".wet", ".wet.gz")


@dataclass(frozen=True, slots=True)
class ArchivedResponse:
    """One page from an archive. `body` is free of transfer and content encoding.

    evidence: what the crawl that wrote the archive noted beside the page, unread; empty in other people's archives.
    kind: "response" (HTTP), "conversion" (WET: `body` is plain text in UTF-8) or "resource" (a file without HTTP).
    status: HTTP status; 200 for the kinds without HTTP. fetched_at: seconds since the epoch.
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


@dataclass(slots=True)
class ReadProblem:
    """What could not be read: handed to `on_problem` as it happens."""

    file: str
    offset: int
    what: str


@dataclass(slots=True)
class _Reader:
    name: str
    max_bytes: int
    report: Callable[[ReadProblem], None]
    seen: int = 0
    position: int = field(default=0)
    noted: tuple[str, bytes] = ("", b"")  # id of the response to come, and its evidence

    def responses(self, file: IO[bytes]) -> Iterator[ArchivedResponse]:
        try:
            for record in ArchiveIterator(file, record_types=_WANTED, parse_http=False):
                if record.record_type == WarcRecordType.metadata:
                    self._note(record)
                    continue
                self.position = record.stream_pos
                self.seen += 1
                if found := self._convert(record):
                    yield found
            self._check_tail(file)
        except (OSError, ValueError, RuntimeError, EOFError) as error:
            self._problem(f"the archive cannot be read beyond this record: {error}")

    def _note(self, record: WarcRecord) -> None:
        if record.headers.get("Content-Type") == EVIDENCE_TYPE and record.content_length <= _MAX_EVIDENCE:
            self.noted = (record.headers.get("WARC-Concurrent-To") or "", record.reader.read())

    def _convert(self, record: WarcRecord) -> ArchivedResponse | None:
        try:
            return self._response(record)
        except (OSError, ValueError, RuntimeError, EOFError, TypeError) as error:
            self._problem(f"broken record: {error}")
        return None

    def _response(self, record: WarcRecord) -> ArchivedResponse | None:
        url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
        if not url.startswith(("http://", "https://")):
            return None
        if record.content_length > self.max_bytes:
            raise ValueError(f"{record.content_length} bytes are beyond the limit of {self.max_bytes}")
        if record.is_http:
            record.parse_http(strict_mode=False)
        raw = record.reader.read()
        if len(raw) < record.content_length:
            raise ValueError(f"truncated: {len(raw)} of {record.content_length} bytes")
        http = record.http_headers if record.is_http else None
        body = raw if http is None else decoded(http.items(), raw, self.max_bytes)
        return ArchivedResponse(
            url=url,
            kind=record.headers.get("WARC-Type") or "response",
            status=(http.status_code or 0) if http is not None else 200,
            headers=list(http.items_bytes()) if http is not None else _headers_without_http(record),
            body=body,
            fetched_at=record.record_date.timestamp(),
            file=self.name,
            record_id=record.headers.get("WARC-Record-ID") or "",
            offset=self.position,
            ip_address=record.headers.get("WARC-IP-Address"),
            evidence=self.noted[1] if self.noted[0] == record.headers.get("WARC-Record-ID") else b"",
        )

    def _check_tail(self, file: IO[bytes]) -> None:
        """The container ends where its last record ends; a torn end is not the same as the end."""
        name = self.name.partition("?")[0]
        if not name.endswith((".gz", ".zst")) or not file.seekable():
            return
        size = file.seek(0, os.SEEK_END)
        file.seek(self.position)
        self.position += complete_bytes(file, gzipped=name.endswith(".gz"))
        if self.position != size:
            self._problem(f"the last record is torn: {size - self.position} bytes cannot be read")

    def _problem(self, what: str) -> None:
        self.report(ReadProblem(self.name, self.position, what))


def read_archive(
    path_or_url: str,
    *,
    on_problem: Callable[[ReadProblem], None] | None = None,
    max_bytes: int = 10 * 2**20,
) -> Iterator[ArchivedResponse]:
    """Every page of one archive, in file order; payloads beyond `max_bytes` are reported, not read.

    A record that cannot be read goes to `on_problem` with its offset; a file in which nothing can be read is an error.
    Raises: StorageError where the file is missing, is no archive of a known kind, or holds no WARC record at all.
    """
    _check_name(path_or_url)
    first: list[ReadProblem] = []

    def report(problem: ReadProblem) -> None:
        if not first:
            first.append(problem)
        if on_problem is not None:
            on_problem(problem)

    reader = _Reader(path_or_url, max_bytes, report)
    try:
        with _open(path_or_url) as file:
            yield from reader.responses(file)
    except OSError as error:
        raise StorageError(f"{path_or_url}: cannot be opened ({error}); check the path or URL") from error
    if first and reader.seen == 0:
        raise StorageError(f"{path_or_url}: no WARC record could be read ({first[0].what}); is it a WARC file?")


def expand(pattern: str) -> list[str]:
    """The archives a glob or URL stands for, sorted.

    Raises: StorageError where nothing matches.
    """
    fs, path = fsspec.core.url_to_fs(pattern)
    found = sorted(fs.glob(path)) if any(c in path for c in "*?[") else [path]
    if not found:
        raise StorageError(f"{pattern}: no archive matches; expected files such as archive/*.warc.gz")
    return [name if "file" in _protocols(fs) else fs.unstrip_protocol(name) for name in found]


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def _open(path_or_url: str) -> IO[bytes]:
    return cast("IO[bytes]", fsspec.open(path_or_url, "rb").open())


def _check_name(path_or_url: str) -> None:
    name = path_or_url.partition("?")[0].removesuffix(".part")
    if name.endswith((".arc", ".arc.gz")):
        raise StorageError(
            f"{path_or_url}: ARC files are not read; convert them first: warcio recompress IN OUT.warc.gz"
        )
    if not name.endswith(_SUFFIXES):
        raise StorageError(f"{path_or_url}: not an archive name; expected one of {', '.join(_SUFFIXES)}")


def _headers_without_http(record: WarcRecord) -> Headers:
    kind = record.headers.get("Content-Type") or "text/plain"
    return [(b"Content-Type", kind.encode("latin-1", "replace"))]
