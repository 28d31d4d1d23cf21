"""For `bench/faults/torn_writes.py`: a writer that dies at a chosen step, and the audit of what it left.

A step is the moment before, in the middle of and after each write to a journal, and the moment before and after each
fsync, rename and removal. The writer runs in a forked child, so that one campaign pays for its imports once.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from crawler.config import from_mapping
from crawler.dataset.verify import verify
from crawler.document import Document, Drop, DropReason, Exchange
from crawler.storage.archive.records import Referred
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files import journal
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of
from crawler.storage.files.shards import read_records

EPOCH = 1_767_225_600.0
COMMIT_EVERY = 3
HEADERS = [(b"Content-Type", b"text/html")]


class Steps:
    """Counts steps; ends this process with SIGKILL at number `last` (None: never)."""

    def __init__(self, last: int | None) -> None:
        self.count, self._last = 0, last

    def step(self) -> None:
        """One more."""
        self.count += 1
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def inject(self) -> None:
        """Put steps around whatever changes the disk."""
        write, fsync = journal._write_all, os.fsync

        def write_in_halves(file: Any, data: bytes) -> None:
            self.step()
            write(file, data[: len(data) // 2])
            self.step()
            write(file, data[len(data) // 2 :])
            self.step()

        def stepped(call: Callable[..., Any]) -> Callable[..., Any]:
            def wrapped(*args: Any, **kwargs: Any) -> Any:
                self.step()
                answer = call(*args, **kwargs)
                self.step()
                return answer

            return wrapped

        journal._write_all = write_in_halves
        os.fsync = stepped(fsync)
        for name in ("replace", "unlink"):
            setattr(Path, name, stepped(getattr(Path, name)))


def corpus_of(folder: Path, worker: str, compression: str) -> Corpus:
    """A corpus whose files are so small that sealing happens all the time."""
    small = {"SHARD_MAX_BYTES": 4_000, "ARCHIVE_MAX_BYTES": 4_000, "ARCHIVE_COMPRESSION": compression}
    return Corpus(from_mapping({"CORPUS_DIR": str(folder), "WORKER_ID": worker, **small}))


def url_of(number: int) -> str:
    """The address of a page of the campaign."""
    return f"http://torn.test/{number}"


def write_pages(corpus: Corpus, pages: int, acknowledge: Callable[[int], None]) -> None:
    """Archive, keep or reject so many pages; say so after each commit."""
    corpus.open()
    for number in range(pages):
        _write_page(corpus, number)
        if number % COMMIT_EVERY == 0:
            corpus.commit()
            acknowledge(number)
    corpus.close()
    acknowledge(pages - 1)


def _write_page(corpus: Corpus, number: int) -> None:
    url = url_of(number)
    body = b"<p>page %d</p>" % number * 20
    made = Exchange("GET", url, 200, [], HEADERS, body, fetched_at=EPOCH + number, fetch={"attempt": 1})
    doc = Document(url=url, canonical_url=url, domain="torn.test", text=f"text {number} " * 30, crawl_id="crawl")
    if number % 6 == 5:
        made.status, made.body = 304, b""
        place = corpus.archive_revisit(made, Referred(url))
    else:
        place = corpus.archive(made)
    doc.warc_file, doc.warc_record_id, doc.warc_offset = place.file, place.record_id, place.offset
    if number % 6 == 5:
        corpus.reject(rejection_of(doc, Drop("fetch", DropReason.UNCHANGED, "304")))
    elif number % 4 == 3:
        corpus.reject(rejection_of(doc, Drop("quality", DropReason.LOW_QUALITY, "short")))
    else:
        corpus.keep(record_of(doc))


@dataclass(slots=True)
class Found:
    """What is on the disk: numbers of the pages by place, and sentences about what is wrong."""

    records: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def audit(folder: Path, acknowledged: int) -> list[str]:
    """Everything up to the page that was acknowledged last is there once, and readable; what is wrong otherwise."""
    place, found = Place(str(folder)), Found()
    archived = _archived(folder, found)
    for entry in place.manifest()["files"]:
        if entry["kind"] == "archive":
            continue
        for record in read_records(place, entry["path"]):
            found.records[record["url"]] += 1
            if archived.get((record["warc_file"], record["warc_offset"])) != record["url"]:
                found.wrong.append(f"{record['url']}: no record of it where its line says")
    lost = [number for number in range(acknowledged + 1) if not found.records[url_of(number)]]
    twice = [url for url, count in found.records.items() if count > 1]
    found.wrong += [f"lost although acknowledged: {lost}"] if lost else []
    found.wrong += [f"twice: {twice}"] if twice else []
    findings = verify(place)
    found.wrong += findings.damage + [f"surplus: {line}" for line in findings.surplus]
    names = [path for path in folder.rglob("*") if path.suffix in {".part", ".tmp"}]
    found.wrong += [f"left behind: {path.name}" for path in names]
    return found.wrong


def _archived(folder: Path, found: Found) -> dict[tuple[str, int], str]:
    """Response and revisit records by place, as FastWARC reads them, and warcio where it can."""
    pages: dict[tuple[str, int], str] = {}
    for path in sorted((folder / "archive").glob("*.warc.*")):
        name = f"archive/{path.name}"
        try:
            fast = _by_fastwarc(path)
            slow = _by_warcio(path) if path.name.endswith(".gz") else fast
        except (OSError, ArchiveLoadFailed) as error:
            found.wrong.append(f"{name}: {error}")
            continue
        pages |= {(name, offset): url for offset, url in fast.items()}
        if slow != fast:
            found.wrong.append(f"{name}: warcio reads {len(slow)} records, FastWARC {len(fast)}")
    return pages


def _by_fastwarc(path: Path) -> dict[int, str]:
    kinds = WarcRecordType.response | WarcRecordType.revisit
    with path.open("rb") as file:
        records = FastIterator(file, record_types=kinds, parse_http=False, verify_digests=True)
        return {record.stream_pos: record.headers["WARC-Target-URI"] for record in records}


def _by_warcio(path: Path) -> dict[int, str]:
    found = {}
    with path.open("rb") as file:
        records = ArchiveIterator(file, check_digests="raise")
        for record in records:
            record.content_stream().read()
            if record.rec_type in {"response", "revisit"}:
                found[records.get_record_offset()] = record.rec_headers.get_header("WARC-Target-URI")
    return found
