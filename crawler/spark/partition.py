"""What runs inside a Spark executor: archives in, judged documents out, by the same chain as crawl and replay.

Neither Scrapy nor pyspark is imported here, so the module is tested without a cluster, and an executor's Python process
holds the stages' models and nothing else.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from types import FrameType
from typing import NoReturn, Protocol

from crawler.config import Config
from crawler.dataset.exclude import without_text
from crawler.dataset.refused import Refusals
from crawler.document import Document, Drop, DropReason
from crawler.documents.from_archive import compare_with_past, document_from_archive
from crawler.pool.cpu_limit import PATIENCE
from crawler.spark.isolation import CrashError, isolated
from crawler.stages.chain import READING, STAGES, Chain
from crawler.storage.archive.reader import ArchivedResponse, ReadProblem, read_archive
from crawler.storage.files.errors import ArchiveError
from crawler.storage.files.place import HELD, HELD_KINDS
from crawler.storage.files.records import encode, held_kind, holding_of, record_of, rejection_of

KEPT, REJECTED = "kept", "rejected"
FOLDERS = (KEPT, REJECTED, *(f"{HELD}/{kind}" for kind in HELD_KINDS))

Place = tuple[int, int]
"""Number of the archive and number of the page in it: the order in which replay meets the pages."""


@dataclass(slots=True)
class Judged:
    """A document after the stages, before it is compared with others. `doc.verdict` is None where it may be kept."""

    place: Place
    doc: Document


@dataclass(frozen=True, slots=True)
class Unread:
    """What an archive held and nobody could read. `whole`: the archive, or one in a WACZ, or its end."""

    archive: str
    offset: int
    what: str
    whole: bool = False


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
    """One finished record. kind: one of `FOLDERS`; reason: "stage/reason" or empty; json: without line feed."""

    kind: str
    reason: str
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


class Refused(Protocol):
    """What was withdrawn, as Spark brings it to every executor: a broadcast variable."""

    @property
    def value(self) -> Refusals:
        """Of the corpus of the configuration, and of those whose archives are read."""


def judge(
    config: Config,
    archives: Iterable[tuple[int, str]],
    careful: Callable[[], bool] = bool,
    *,
    refused: Refused | None = None,
) -> Iterator[Judged | Unread]:
    """Read the numbered archives and take every page through the header policy and all stages, in archive order.

    Nothing is raised for an archive's or a page's sake: what cannot be read comes back as `Unread`, what a stage cannot
    digest as a verdict, and so does a page that `refused` names. `careful` says whether an earlier try has died here:
    every page then has a process of its own.
    """
    judge_one = judge_carefully if careful() else judge_page
    limit = max(config.policy.max_body_bytes, config.documents.max_bytes)
    for number, name in archives:
        problems: list[ReadProblem] = []
        unread: list[ArchiveError] = []
        pages = read_archive(name, on_problem=problems.append, on_unread=unread.append, revisits=True, max_bytes=limit)
        for count, response in enumerate(pages):
            doc = judge_one(config, response)
            yield Judged((number, count), doc if refused is None else _unless_refused(doc, refused.value, config))
        yield from (Unread(p.file, p.offset, p.what) for p in problems)
        yield from (Unread(name, 0, str(error), whole=True) for error in unread)


def _unless_refused(doc: Document, refused: Refusals, config: Config) -> Document:
    """The document with the verdict that the pipeline step `withdrawn` would give it."""
    refusal = refused.of_document(doc, config.dedup)
    if refusal is not None and (doc.verdict is None or doc.text_allowed):
        doc.verdict = refusal.drop
    return doc


def judge_page(config: Config, response: ArchivedResponse) -> Document:
    """One page through header policy and stages, as the stage pool does it: same limit, same verdict beyond it."""
    seconds = config.crawl.stage_timeout_seconds
    try:
        doc = compare_with_past(_through(config, response, STAGES, seconds), config)
    except _OverdueError:
        verdict = Drop("stages", DropReason.STAGE_TIMEOUT, f"longer than {seconds:g} s of CPU time")
        doc = _given_up(_salvage(config, response, seconds), verdict)
    doc.links = []  # nobody follows them here, and they would travel with the document
    return doc


def judge_carefully(config: Config, response: ArchivedResponse) -> Document:
    """`judge_page` in a process of its own: a page that kills it is rejected, as by the stage pool."""
    _chain(config)  # once, here, for every fork
    try:
        return isolated(partial(judge_page, config, response))
    except CrashError as error:
        verdict = Drop("stages", DropReason.STAGE_CRASHED, f"worker process ended: {error}")
    try:
        doc = isolated(partial(_salvage, config, response, config.crawl.stage_timeout_seconds))
    except CrashError:
        doc = _bare(config, response)
    return _given_up(doc, verdict)


def claim_of(judged: Judged) -> Claim:
    """The part of a document that is compared."""
    doc = judged.doc
    return Claim(judged.place, doc.canonical_url or doc.url, doc.doc_id, doc.signature, doc.shingle_count)


def is_unread(item: Judged | Unread) -> bool:
    """True for a place in an archive that could not be read."""
    return isinstance(item, Unread)


def is_kind(kind: str, line: Line) -> bool:
    """True for a record of this kind."""
    return line.kind == kind


def is_candidate(item: Judged | Unread) -> bool:
    """True for a document that the stages would keep."""
    return isinstance(item, Judged) and item.doc.verdict is None


def order_of(place: Place) -> int:
    """The place as one number, in the order of the archives. (No archive has 2^32 pages.)"""
    return place[0] << 32 | place[1]


def archive_of(key: tuple[int, int]) -> int:
    """The number of the archive of a key of `finish_all`."""
    return key[0] >> 32


def keyed(part: Judged | Unread) -> Iterator[tuple[tuple[int, int], Part]]:
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
            kind = f"{HELD}/{held_kind(hold.reason)}"
            return Line(kind, f"{hold.stage}/{hold.reason}", encode(holding_of(doc, hold)).rstrip(b"\n"))
        return Line(KEPT, "", encode(record_of(doc)).rstrip(b"\n"))
    record = rejection_of(doc, doc.verdict, with_text=config.storage.rejected_text)
    record = without_text(record) if withdrawn else record
    return Line(REJECTED, f"{doc.verdict.stage}/{doc.verdict.reason}", encode(record).rstrip(b"\n"))


class _OverdueError(BaseException):
    """The time of one page is over. No `Exception`: a stage must not mistake it for its own."""


@lru_cache(maxsize=1)
def _chain(config: Config) -> Chain:
    """One chain, with its models, per process and configuration."""
    return Chain(config)


def _through(config: Config, response: ArchivedResponse, names: tuple[str, ...], seconds: float) -> Document:
    """Raises: _OverdueError after so many CPU seconds in the stages; loading the models does not count."""
    chain = _chain(config)
    doc = document_from_archive(response, config)
    with _limit(seconds):
        return chain.run(doc, names)


def _salvage(config: Config, response: ArchivedResponse, seconds: float) -> Document:
    """The document with what reading alone finds, or the bare one where even that takes too long."""
    try:
        return _through(config, response, READING, seconds)
    except _OverdueError:
        return _bare(config, response)


def _bare(config: Config, response: ArchivedResponse) -> Document:
    doc = document_from_archive(response, config)
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
