"""Where `gristmill diagnose` gets its records: from a corpus as it lies there, or from an archive judged again.

The choice is by hash of the seed and the document's address: the same seed always chooses the same documents.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from crawler.config import Config
from crawler.dataset.verdicts import standing_records
from crawler.dataset.withdrawals import withdrawn_urls
from crawler.document import Document
from crawler.documents.from_archive import document_from_archive
from crawler.pool.pool import StagePool
from crawler.storage.archive.reader import ArchivedResponse, ReadProblem, expand, read_archive
from crawler.storage.corpus.judged import judging_digests
from crawler.storage.files.errors import ArchiveError, StorageError
from crawler.storage.files.place import PAGES, Place
from crawler.storage.files.records import Record, record_of, rejection_of
from crawler.storage.types import Manifest

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice:
    """How many documents, and which. count: 0 = all."""

    count: int = 200
    seed: int = 0

    def of(self, items: Iterable[T], name: Callable[[T], str]) -> Iterable[T]:
        """The chosen items in their order; at most `count` are held in memory."""
        if not self.count:
            return items
        ranked = ((self._rank(name(item)), position, item) for position, item in enumerate(items))
        chosen = heapq.nsmallest(self.count, ranked, key=lambda entry: entry[:2])
        return [item for _, _, item in sorted(chosen, key=lambda entry: entry[1])]

    def _rank(self, name: str) -> bytes:
        return hashlib.blake2b(f"{self.seed} {name}".encode("utf-8", "replace"), digest_size=8).digest()


@dataclass(slots=True)
class Sampled:
    """Records, and what has to be known to read them.

    judged_by: by configuration digest of a record, that of the settings that decide once a page was fetched.
    """

    records: Iterable[Record]
    judged_by: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def from_corpus(corpus_dir: str, choice: Choice) -> Sampled:
    """Records of the sealed files of a corpus, kept and rejected, as they lie there; nothing runs.

    Of each page the record that stands: what earlier visits found is history (`crawler/dataset/verdicts.py`). Withdrawn
    addresses are left out, and noted.

    Raises: StorageError where there is no corpus or no sealed file; while reading, where a file is damaged.
    """
    place = Place(corpus_dir)
    manifest = place.manifest()
    entries = [entry for entry in manifest["files"] if entry["kind"] in PAGES]
    if not entries:
        raise StorageError(
            f"{corpus_dir}: no sealed file yet; files are sealed when a crawl ends, or when they are full"
        )
    withdrawn = frozenset(withdrawn_urls(place))
    records = (record for record in _read(place, manifest) if record.get("canonical_url") not in withdrawn)
    notes = [f"withdrawn addresses ({len(withdrawn):,}) were left out: no threshold keeps them"] if withdrawn else []
    chosen = choice.of(records, lambda record: str(record.get("canonical_url")))
    return Sampled(chosen, judging_digests(manifest), notes)


def from_archive(pattern: str, choice: Choice, config: Config) -> Sampled:
    """Archived pages, judged by the stages as a replay would; nothing is written. Duplicates are not looked for.

    Raises: StorageError where no archive matches, or none can be read.
    """
    problems: list[ReadProblem] = []
    unread: list[str] = []
    archives = expand(pattern)
    pages = (page for name in archives for page in _pages(name, problems, unread))
    chosen = choice.of(pages, lambda page: f"{page.url} {page.record_id}")
    records = asyncio.run(_judge(chosen, config))
    notes = ["duplicates were not judged: a sample cannot show them"]
    if len(unread) == len(archives):
        raise StorageError("; ".join(unread[:5]))
    notes += [f"left out: {said}" for said in unread]
    if problems:
        first = problems[0]
        notes.append(f"{len(problems)} broken records were left out, the first in {first.file} at byte {first.offset}")
    return Sampled(records, notes=notes)


def _pages(name: str, problems: list[ReadProblem], unread: list[str]) -> Iterator[ArchivedResponse]:
    """The pages of one archive; one that cannot be read costs itself, and is told."""
    try:
        yield from read_archive(name, on_problem=problems.append)
    except ArchiveError as error:
        unread.append(str(error))


def record_for(doc: Document, config: Config) -> Record:
    """The record that a crawl would write for a judged document: without the text where policy forbids it."""
    if doc.verdict is None:
        return record_of(doc)
    return rejection_of(doc, doc.verdict, with_text=config.storage.rejected_text)


def _read(place: Place, manifest: Manifest) -> Iterator[Record]:
    try:
        yield from standing_records(place, manifest)
    except OSError as error:
        raise StorageError(f"{place.url}: cannot be read ({error}); restore it from a copy") from error


async def _judge(pages: Iterable[ArchivedResponse], config: Config) -> list[Record]:
    """Records in the order of the pages; a few are in work at a time."""
    pool = StagePool(config)
    window: deque[asyncio.Future[Document]] = deque()
    records: list[Record] = []
    try:
        await pool.warm_up()
        for page in pages:
            window.append(asyncio.ensure_future(pool.run(document_from_archive(page, config))))
            if len(window) >= 4 * max(1, pool.workers):
                records.append(record_for(await window.popleft(), config))
        while window:
            records.append(record_for(await window.popleft(), config))
    finally:
        pool.close()
    return records
