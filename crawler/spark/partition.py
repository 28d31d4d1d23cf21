"""What runs inside a Spark executor: files in, judged documents out, by the same chain as crawl and replay.

Neither Scrapy nor pyspark is imported here, so the module is tested without a cluster, and an executor's Python process
holds the stages' models and nothing else.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from types import FrameType
from typing import NoReturn, Protocol

from crawler.config import Config
from crawler.dataset.exclude import without_text
from crawler.dataset.mix.sources import synthetic_of
from crawler.dataset.refused import PASSED, Refusals
from crawler.document import Document, Drop, DropReason
from crawler.documents.from_archive import compare_with_past, document_of_problem
from crawler.pool.cpu_limit import PATIENCE
from crawler.spark.inputs import ARCHIVED, THEIRS, Given, Input, Page, document_of, read_given
from crawler.spark.isolation import CrashError, isolated
from crawler.stages.chain import READING, STAGES, Chain
from crawler.storage.archive.reader import Archive, ArchivedResponse, ReadProblem
from crawler.storage.archive.remote import members_of
from crawler.storage.corpus.sources import hashes_of
from crawler.storage.files.errors import ArchiveError, StorageError
from crawler.storage.files.place import HELD, REJECTED, SHARDS
from crawler.storage.files.records import Record, encode, held_kind, holding_of, record_of, rejection_of
from crawler.storage.types import Origin

Place = tuple[int, int]
"""Number of the file and number of the page in it: the order in which a replay meets the pages."""


@dataclass(slots=True)
class Judged:
    """A document after the stages, before it is compared with others. `doc.verdict` is None where it may be kept."""

    place: Place
    doc: Document


@dataclass(frozen=True, slots=True)
class Read:
    """A file that was read: its SHA-256, where it is on a disk here, what it says of itself, and why the rest of it
    could not be read; all may be empty.
    """

    name: str
    sha256: str = ""
    origin: Origin = field(default_factory=Origin)
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """What the comparison with other documents needs to know of one: no text, some hundred bytes."""

    place: Place
    canonical_url: str
    doc_id: str
    signature: bytes
    shingle_count: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The verdict of that comparison against one document."""

    verdict: Drop
    dup_of: str | None
    dup_similarity: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """One finished record. kind: the folder that it goes to; json: with line feed."""

    kind: str
    json: bytes


@dataclass(frozen=True, slots=True)
class Flags:
    """What the other versions of its page mean for a version. stale: a newer one replaces it, and it is not written.

    withdrawn: the newest one refuses, so nothing of this one may be kept.
    """

    stale: bool = False
    withdrawn: bool = False


Part = Judged | Duplicate | Flags
"""What is known of one place; the document comes last."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What may not be written. refusals: of all corpora that were asked; expired: by corpus, what was too old in it."""

    refusals: Refusals = field(default_factory=Refusals)
    expired: Mapping[str, Refusals] = field(default_factory=dict)

    def verdict_on(self, given: Given) -> Drop | None:
        """Whether a document that a file has may be used at all: what is not asked of an archived page."""
        if (refusal := self.refusals.of_record(given.record)) is not None:
            return _PASSED if refusal is PASSED else refusal.drop
        expired = self.expired.get(given.file.corpus)
        return _EXPIRED if expired is not None and expired.has_passed(given.record) else None

    def judge(self, doc: Document, config: Config) -> Document:
        """The document with the verdict that the pipeline step `withdrawn` would give it."""
        refusal = self.refusals.of_document(doc, config.dedup)
        if refusal is not None and (doc.verdict is None or doc.text_allowed):
            doc.verdict = refusal.drop
        return doc


_PASSED = Drop("policy", DropReason.WITHDRAWN, "a later visit found the page gone, moved or closed to us")
_EXPIRED = Drop("policy", DropReason.WITHDRAWN, "it was older than its corpus lets documents become")


class Broadcast(Protocol):
    """What Spark brings to every executor."""

    @property
    def value(self) -> Refused:
        """The same everywhere."""
        ...


def judge(
    config: Config,
    files: Iterable[tuple[int, Input]],
    careful: Callable[[], bool] = bool,
    *,
    refused: Broadcast | None = None,
    fields: Mapping[str, str] | None = None,
) -> Iterator[Judged | Read]:
    """Read the numbered files and take every page through the header policy and all stages, in their order; behind the
    last page of each comes its `Read`.

    Nothing is raised for a file's or a page's sake: a record that cannot be read, a page that a stage cannot digest and
    one that `refused` names have their verdicts. `careful` says whether an earlier try has died here: every page then
    has a process of its own. fields: of documents of others, our name → theirs.
    """
    known = Refused() if refused is None else refused.value
    judge_one = judge_carefully if careful() else judge_page
    for number, file in files:
        count = 0
        for item in _archived(file.name, config) if file.kind == ARCHIVED else _given(file, fields or {}):
            if isinstance(item, Read):
                yield item
                continue
            if isinstance(item, ReadProblem):
                doc = document_of_problem(item, config)
            elif isinstance(item, Given) and (verdict := known.verdict_on(item)) is not None:
                doc = _given_up(_bare(config, item), verdict)
            else:
                doc = judge_one(config, item)
            yield Judged((number, count), known.judge(doc, config))
            count += 1


def _archived(name: str, config: Config) -> Iterator[ArchivedResponse | ReadProblem | Read]:
    try:
        names = members_of(name)
    except ArchiveError as error:
        yield Read(name, unread=str(error))
        return
    limit = max(config.policy.max_body_bytes, config.documents.max_bytes)
    for member in names:
        archive, unread = Archive(member, max_bytes=limit), ""
        try:
            yield from archive
        except ArchiveError as error:
            unread = str(error)
        yield Read(member, _sha256(member), archive.origin, unread)


def _given(file: Input, fields: Mapping[str, str]) -> Iterator[Given | ReadProblem | Read]:
    unread = ""
    try:
        yield from read_given(file, fields)
    except StorageError as error:
        unread = str(error)
    yield Read(file.name, _sha256(file.name) if file.kind == THEIRS else "", unread=unread)


def _sha256(name: str) -> str:
    return hashes_of([name]).get(name, "")


def judge_page(config: Config, page: Page) -> Document:
    """One page through header policy and stages, as the stage pool does it: same limit, same verdict beyond it."""
    seconds = config.crawl.stage_timeout_seconds
    try:
        doc = compare_with_past(_through(config, page, STAGES, seconds), config)
    except _OverdueError:
        verdict = Drop("stages", DropReason.STAGE_TIMEOUT, f"longer than {seconds:g} s of CPU time")
        doc = _given_up(_salvage(config, page, seconds), verdict)
    doc.links = []  # nobody follows them here, and they would travel with the document
    return doc


def judge_carefully(config: Config, page: Page) -> Document:
    """`judge_page` in a process of its own: a page that kills it is rejected, as by the stage pool."""
    _chain(config)  # once, here, for every fork
    try:
        return isolated(partial(judge_page, config, page))
    except CrashError as error:
        verdict = Drop("stages", DropReason.STAGE_CRASHED, f"worker process ended: {error}")
    try:
        doc = isolated(partial(_salvage, config, page, config.crawl.stage_timeout_seconds))
    except CrashError:
        doc = _bare(config, page)
    return _given_up(doc, verdict)


def claim_of(judged: Judged) -> Claim:
    """The part of a document that is compared."""
    doc = judged.doc
    return Claim(judged.place, doc.canonical_url or doc.url, doc.doc_id, doc.signature, doc.shingle_count)


def is_read(item: Judged | Read) -> bool:
    """True for what is said of a file."""
    return isinstance(item, Read)


def is_candidate(item: Judged | Read) -> bool:
    """True for a document that the stages would keep."""
    return isinstance(item, Judged) and item.doc.verdict is None


def order_of(place: Place) -> int:
    """The place as one number, in the order of the archives. (No archive has 2^32 pages.)"""
    return place[0] << 32 | place[1]


def archive_of(key: tuple[int, int]) -> int:
    """The number of the archive of a key of `finish_all`."""
    return key[0] >> 32


def keyed(part: Judged | Read) -> Iterator[tuple[tuple[int, int], Part]]:
    """A document, to be sorted behind what else is known of its place."""
    if isinstance(part, Judged):
        yield (order_of(part.place), 1), part


def known(order: int, part: Part) -> tuple[tuple[int, int], Part]:
    """What else is known of the place of this order."""
    return (order, 0), part


def finish_all(config: Config, parts: Iterable[tuple[tuple[int, int], Part]]) -> Iterator[Line]:
    """The records of documents, sorted with what else is known of each; no text of what was withdrawn."""
    duplicate, flags, at = None, Flags(), -1
    for (order, _), part in parts:
        if order != at:
            duplicate, flags, at = None, Flags(), order
        if isinstance(part, Duplicate):
            duplicate = part
        elif isinstance(part, Flags):
            flags = part
        elif not flags.stale:
            line = finish(config, part, duplicate, withdrawn=flags.withdrawn)
            if line.kind == REJECTED or not flags.withdrawn:
                yield line


def finish(config: Config, judged: Judged, duplicate: Duplicate | None = None, *, withdrawn: bool = False) -> Line:
    """The record of a document once all is known, with the words of `crawler/storage/files/records.py`.

    withdrawn: a later version of the page refuses. A rejected record is then what a withdrawal leaves of it.
    """
    doc = judged.doc
    if duplicate is not None:
        doc.verdict, doc.dup_of, doc.dup_similarity = duplicate.verdict, duplicate.dup_of, duplicate.dup_similarity
    if doc.verdict is None:
        if (hold := doc.hold) is not None:
            return Line(f"{HELD}/{held_kind(hold.reason)}", _line(holding_of(doc, hold), doc))
        return Line(SHARDS, _line(record_of(doc), doc))
    record = rejection_of(doc, doc.verdict, with_text=config.storage.rejected_text)
    return Line(REJECTED, _line(without_text(record) if withdrawn else record, doc))


def _line(record: Record, doc: Document) -> bytes:
    """A document that says that a model wrote it goes on saying so."""
    return encode(record | synthetic_of(doc.extra))


class _OverdueError(BaseException):
    """The time of one page is over. No `Exception`: a stage must not mistake it for its own."""


@lru_cache(maxsize=1)
def _chain(config: Config) -> Chain:
    """One chain, with its models, per process and configuration."""
    return Chain(config)


def _through(config: Config, page: Page, names: tuple[str, ...], seconds: float) -> Document:
    """Raises: _OverdueError after so many CPU seconds in the stages; loading the models does not count."""
    chain = _chain(config)
    doc = document_of(page, config)
    with _limit(seconds):
        return chain.run(doc, names)


def _salvage(config: Config, page: Page, seconds: float) -> Document:
    """The document with what reading alone finds, or the bare one where even that takes too long."""
    try:
        return _through(config, page, READING, seconds)
    except _OverdueError:
        return _bare(config, page)


def _bare(config: Config, page: Page) -> Document:
    doc = document_of(page, config)
    doc.html = b""
    return doc


def _given_up(doc: Document, verdict: Drop) -> Document:
    doc.verdict, doc.text, doc.links = verdict, "", []
    return doc


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raises: _OverdueError in the body after so many CPU seconds of this process, again every second should something
    swallow it; where the body waits instead of working, after `PATIENCE` times as long.
    """
    timers = {signal.SIGPROF: (signal.ITIMER_PROF, seconds), signal.SIGALRM: (signal.ITIMER_REAL, PATIENCE * seconds)}
    before = {number: signal.signal(number, _overdue) for number in timers}
    for timer, limit in timers.values():
        signal.setitimer(timer, limit, 1.0)
    try:
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0.0)
            signal.signal(number, before[number])


def _overdue(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _OverdueError
