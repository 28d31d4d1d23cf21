"""Captures of a site in an archive of others: an index names them, their records are fetched one by one into a WARC.

The index is a CDXJ server (pywb's API: `?url=…&output=json`, pages by `showNumPages` and `page`), as Common Crawl has
one for each crawl (`https://index.commoncrawl.org/CC-MAIN-…-index`), or a file of its lines. A capture is a range of
bytes that holds one whole gzip member, so the ranges one behind the other are an archive that a replay reads. Before
them stands a warcinfo record with the index they were found in: what is made of the pages can say where they are from.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, cast
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import fsspec
import orjson

from crawler.dataset.withdrawals import covers
from crawler.decompress import End, unpack
from crawler.policy.headers import retry_after_seconds
from crawler.storage.archive.records import gzip_member, warcinfo_record
from crawler.storage.files.errors import StorageError
from crawler.times import rfc3339
from crawler.version import __version__

MAX_RECORD = 64 * 2**20
"""Bytes of one packed record; a longer range is refused."""
MAX_UNPACKED = 512 * 2**20
"""Bytes of a record that is unpacked to look whether it is one."""
MAX_PAGE = 256 * 2**20
"""Bytes of one answer of the index."""
MAX_PAGES = 10_000
ANSWER_SECONDS = 180.0
"""A silence of the index that is longer ends the operation; Common Crawl's takes half a minute for a large domain."""
PAUSES = (5.0, 15.0, 45.0)
"""Seconds before an index that is busy (429, 503) is asked again, where its Retry-After says nothing."""
LONGEST_PAUSE = 300.0
"""A Retry-After that is longer ends the operation."""
log = logging.getLogger(__name__)
SOFTWARE = f"gristmill/{__version__} (dataset captures)"
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Capture:
    """One record: its page, the archive (as the index calls it), and its bytes there."""

    url: str
    filename: str
    offset: int
    length: int


@dataclass(slots=True)
class Captured:
    """What was fetched. problems: sentences for people."""

    records: int = 0
    bytes: int = 0
    problems: list[str] = field(default_factory=list)


def captures(index: str, url: str, *, status: str = "200") -> Iterator[Capture]:
    """What an index (a CDXJ server or a file) has of a page, or of a domain (`*.example.org`, `example.org/*`).

    status: HTTP status of the captures that are wanted. `*` is everything in a file.
    Raises: StorageError where the index does not answer or a line cannot be read.
    """
    if index.startswith(("http://", "https://")):
        yield from _asked(index, {"url": url, "output": "json", "filter": f"=status:{status}"}, status)
    else:
        yield from (found for found in _lines(_whole(index), index, status) if _is_of(url, found.url))


def _is_of(wanted: str, url: str) -> bool:
    """What a server looks up, for the lines of a file; http and https are one."""
    if wanted.startswith("*."):
        return covers(frozenset({wanted[2:]}), url)
    bare, pattern = url.partition("://")[2], wanted.partition("://")[2] or wanted
    return bare.startswith(pattern[:-1]) if pattern.endswith("*") else bare.rstrip("/") == pattern.rstrip("/")


def about(index: str, base: str, url: str) -> dict[str, str]:
    """What the warcinfo record says of captures of `url`: the index (of a file its name), where the archives were."""
    named = index if index.startswith(("http://", "https://")) else Path(index).name
    where = f" below {base}" if base.startswith(("http://", "https://")) else ""
    return {
        "software": SOFTWARE,
        "format": "WARC File Format 1.1",
        "isPartOf": named,
        "description": f"captures of {url}{where}, found by {named}",
    }


def save(found: Iterator[Capture], base: str, out: Path, info: dict[str, str]) -> Captured:
    """Fetch every range below `base` (a URL or a folder) into the new archive `out`, in the order of the index.

    info: the fields of its warcinfo record (`about`). A capture that cannot be had, or is no record, is said and left
    out. Raises: StorageError where `out` is there.
    """
    if out.exists():
        raise StorageError(f"{out}: exists already; give another name, or remove it")
    done, unfinished = Captured(), out.with_name(out.name + ".part")
    try:
        with unfinished.open("wb") as file:
            done.bytes = file.write(
                warcinfo_record(info, out.name, str(uuid.uuid4()), rfc3339(time.time()), gzip_member)
            )
            for data in _records(found, base, done):
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if done.records:
            unfinished.replace(out)
    except OSError as error:
        raise StorageError(f"{unfinished}: cannot be written ({error.strerror})") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return done


def _records(found: Iterator[Capture], base: str, done: Captured) -> Iterator[bytes]:
    """Each record once; what was fetched and what could not be had is noted in `done`."""
    seen: set[tuple[str, int]] = set()
    for capture in found:
        if (capture.filename, capture.offset) in seen:
            continue
        seen.add((capture.filename, capture.offset))
        try:
            data = record_of(capture, base)
        except StorageError as error:
            done.problems.append(str(error))
            continue
        done.records, done.bytes = done.records + 1, done.bytes + len(data)
        yield data


def record_of(capture: Capture, base: str) -> bytes:
    """The packed record, checked to be one whole gzip member that begins as WARC does. Raises: StorageError."""
    place = f"{base.rstrip('/')}/{capture.filename}"
    where = f"{place}, {capture.length} bytes at {capture.offset}"
    if not 0 < capture.length <= MAX_RECORD:
        raise StorageError(f"{where}: expected a record of 1 to {MAX_RECORD} bytes")
    data = _range(place, capture.offset, capture.offset + capture.length)
    if len(data) != capture.length:
        raise StorageError(
            f"{where}: {len(data)} bytes came; the server gives no ranges, or the index is of other files"
        )
    plain = unpack(data, "gzip", MAX_UNPACKED) if data.startswith(_GZIP) else None
    if plain is not None and plain.end is End.TOO_LARGE:
        raise StorageError(f"{where}: more than {MAX_UNPACKED} bytes unpacked")
    if plain is None or plain.error is not None or plain.rest or not plain.data.startswith(b"WARC/"):
        raise StorageError(f"{where}: no WARC record; the index is of other files, or base= is wrong")
    return data


def _asked(index: str, query: dict[str, str], status: str) -> Iterator[Capture]:
    count = _whole(f"{index}?{urlencode(query | {'showNumPages': 'true'})}").strip() or b"0"
    pages = _pages(count)
    if pages is None:
        raise StorageError(f"{index}: answers {count[:80]!r} to showNumPages; expected a number of pages")
    for page in range(pages):
        asked = f"{index}?{urlencode(query | {'page': str(page)})}"
        yield from _lines(_whole(asked), asked, status)


def _pages(answer: bytes) -> int | None:
    """pywb says a number, or an object with it."""
    try:
        found: Any = orjson.loads(answer)
        number = found["pages"] if isinstance(found, dict) else found
    except (orjson.JSONDecodeError, KeyError):
        return None
    return number if type(number) is int and 0 <= number <= MAX_PAGES else None


def _lines(data: bytes, where: str, status: str) -> Iterator[Capture]:
    """JSON objects one a line, alone or behind a SURT key and a time."""
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            facts = orjson.loads(line[line.index(b"{") :])
            capture = Capture(str(facts["url"]), str(facts["filename"]), int(facts["offset"]), int(facts["length"]))
        except (ValueError, KeyError, TypeError):
            raise StorageError(f"{where}, line {number}: no line of a CDXJ index: {line[:80]!r}") from None
        if str(facts.get("status", status)) == status and ".." not in capture.filename.split("/"):
            yield capture


def _whole(place: str) -> bytes:
    """Raises: StorageError where it cannot be read or is too long; a 404 that speaks of captures is empty."""
    try:
        with _patiently(place) as file:
            data = file.read(MAX_PAGE + 1)
    except HTTPError as error:
        if error.code == HTTPStatus.NOT_FOUND:
            if b"capture" in error.read(65_536).lower():
                return b""  # how a CDX server says: nothing of that
            raise StorageError(
                f"{place}: the index answers 404 without a word on captures: check the name of the index"
            ) from error
        raise StorageError(f"{place}: the index answers {error.code} {error.reason}; try again later") from error
    except (OSError, HTTPException) as error:
        why = getattr(error, "strerror", None) or str(getattr(error, "reason", "")) or str(error)
        raise StorageError(f"{place}: the index cannot be read ({why})") from error
    if len(data) > MAX_PAGE:
        raise StorageError(f"{place}: more than {MAX_PAGE} bytes; ask for less at a time")
    return data


def _patiently(place: str) -> IO[bytes]:
    """An index that is busy is asked again when it says, or after a while: what was fetched so far would be lost."""
    for pause in PAUSES:
        try:
            return _opened(place)
        except HTTPError as error:
            if error.code not in _BUSY:
                raise
            lines = [(name.encode(), value.encode()) for name, value in error.headers.items()]
            asked = retry_after_seconds(lines, time.time()) or pause  # "at once" is no time to come back
            if asked > LONGEST_PAUSE:
                raise
            log.warning("%s: the index is busy (%d); trying again in %.0f s", place, error.code, asked)
            time.sleep(asked)  # of a command, which has nothing else to do
    return _opened(place)


def _opened(place: str) -> IO[bytes]:
    if not place.startswith(("http://", "https://")):
        return Path(place).open("rb")
    request = Request(place, headers={"User-Agent": SOFTWARE})  # noqa: S310  # http and https only, see above
    return cast("IO[bytes]", urlopen(request, timeout=ANSWER_SECONDS))  # noqa: S310


def _range(place: str, start: int, end: int) -> bytes:
    try:
        fs, path = fsspec.core.url_to_fs(place)
        return bytes(fs.cat_file(path, start=start, end=end))
    except Exception as error:  # whatever the client library raises
        raise StorageError(f"{place}: cannot be read ({str(error) or type(error).__name__})") from error
