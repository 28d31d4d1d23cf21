"""Texts of files that the crawl could not read, by a program of the user's: OCR, a layout model, whatever prints text.

Each archived file is given to the program in a process of its own; what it prints goes through the stages as the text
of a page does, and becomes a row of an annotation. The record stays what it is.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from crawler.config import Config
from crawler.dataset.annotate import Annotations, check_same
from crawler.dataset.annotations.job import job_of
from crawler.dataset.annotations.listed import ABOUT, FILES, annotations_in
from crawler.dataset.annotations.tables import KEYS, annotation_files, document_of, key_of, name_of, read_table
from crawler.dataset.lifetimes import Lifetimes
from crawler.dataset.living import WITHDRAWN, Living
from crawler.dataset.page import archived_bytes
from crawler.dataset.program import FAILURES, Printed, Program
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.rewrite import check_alone, records_in
from crawler.dataset.text_prints import TextPrints, printed
from crawler.document import Document, DropReason
from crawler.stages.chain import READING, STAGES, Chain
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import REJECTED, Place
from crawler.storage.files.records import Record
from crawler.trouble import LackError
from crawler.version import __version__

REASONS = tuple(
    reason.value
    for reason in (
        DropReason.NEEDS_OCR, DropReason.GARBLED, DropReason.NO_TEXT, DropReason.BROKEN_DOCUMENT,
        DropReason.TOO_LARGE, DropReason.DOCUMENT_MEMORY, DropReason.DOCUMENT_CPU, DropReason.DOCUMENT_CRASH,
    )
)  # fmt: skip
"""Why a file has no text: reasons that say nothing of leave. A refusal or an encrypted file is none of them."""
COLUMNS = {
    "text": ("string", "what the program read, free of personal data; empty where the stages let none of it out"),
    "reason": ("string", "why the text would not be kept: of the program or of a stage; empty where it would"),
    "detail": ("string", "more about the reason"),
    "language": ("string", "ISO 639, as in records"),
    "quality_score": ("double", "0-1, as in records"),
    "word_count": ("int64", "of the text that was read"),
    "pii_span_count": ("int64", "passages of personal data that were replaced"),
    "text_id": ("string", "the hash of the text, as doc_id of records"),
    "dup_of": (
        "string",
        "canonical URL of a kept page, or of another file here, with the same or nearly the same text",
    ),
    "seconds": ("double", "that the program took"),
}
"""Of a row: type and meaning."""
_KINDS = {name: kind for name, (kind, _) in COLUMNS.items()}
EXTRACTOR = "transcribe"
"""What the stages are told has produced the text."""
EVERY_SECONDS, FIRST_SECONDS, SHARE = 600.0, 30.0, 0.1
"""How long rows may wait until they are written, which is what a call that is killed loses: at most, at least, and as a
share of the seconds that the call has taken. Each time is a version of the corpus."""
_AFTER = tuple(name for name in STAGES if name not in READING)
IN_A_ROW = 10
"""Failures of a program, and nothing else, after which it is not asked further."""
UNCHECKED = "nobody could look whether the file itself says no"
GONE = "its file is not in the archive, or damaged there"


@dataclass(slots=True)
class Transcribed:
    """What a call did. rows: that were written; reasons: of these, by `reason`; known: files that had a row.

    duplicates: rows whose text another page has. left_out: files, by why they were not given to the program. unread:
    canonical URLs of some whose archive does not have them. said: the last thing that a program said which failed.
    """

    rows: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    duplicates: int = 0
    known: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    unread: list[str] = field(default_factory=list)
    failing: bool = False
    said: str = ""
    seconds: float = 0.0
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rejected files: with one of these reasons, and of one of these kinds (none: of any)."""

    reasons: frozenset[str] = frozenset({DropReason.NEEDS_OCR.value})
    kinds: frozenset[str] = frozenset()

    def takes(self, record: Record) -> bool:
        """True for a rejected record that is one of them."""
        return record.get("reason") in self.reasons and (not self.kinds or record.get("document_kind") in self.kinds)


@dataclass(slots=True)
class Transcription:
    """One annotation of one corpus, by one program. again: files where the program failed before are tried anew.

    at_once: programs that run side by side.
    """

    place: Place
    name: str
    program: Program
    wanted: Wanted
    config: Config
    now: float
    again: bool = False
    at_once: int = 1
    done: Transcribed = field(default_factory=Transcribed)
    _texts: TextPrints[str] | None = None
    _stages: Chain | None = None

    def waiting(self) -> int:
        """How many files would be given to the program now. Raises: StorageError."""
        return sum(1 for _ in self._records())

    def run(self, tell: Callable[[], object] = lambda: None) -> Transcribed:
        """Give every file that waits to the program, and write what came of it; the next call goes on.

        Raises: InputError where the program cannot be started, or the annotation is another one; StorageError, also
        where this machine lacks what a stage needs.
        """
        check_alone(self.place)
        listed = [each for each in annotations_in(self.place.manifest()["files"]) if each.name == self.name]
        check_same(self.name, _KINDS, [job for each in listed for job in each.jobs])
        self.done, self._texts = Transcribed(), None
        rows: list[dict[str, Any]] = []
        began = last = time.monotonic()
        try:
            for record, said in self._read():
                rows.append(self._row(record, said))
                tell()
                now = time.monotonic()
                if now - last > waits(now - began):
                    self._write(rows, began)
                    last = now
        finally:
            self._write(rows, began)
        return self.done

    # --- which files --------------------------------------------------------------------------------------------------
    def _records(self) -> Iterator[Record]:
        """The records whose files wait: living ones, each file of a page once."""
        known = self._known()
        living = Living(self.place, Lifetimes.of(self.config.storage.document_ttl_days), self.now)
        taken: set[bytes] = set()
        self.done.known = 0
        for record in records_in(self.place, (REJECTED,)):
            document = document_of(record)
            if document is None or document in taken or not self.wanted.takes(record) or living.is_replaced(record):
                continue
            taken.add(document)
            if why := living.why_not(record) or ("" if record.get("noai_checked") else UNCHECKED):
                self.done.left_out[why] += 1
            elif document in known:
                self.done.known += 1
            else:
                yield record

    def _known(self) -> set[bytes]:
        """Files with a row by the same program; a failure counts where the program had the same limits."""
        found: set[bytes] = set()
        for entry in annotation_files(self.place.manifest()["files"]):
            job = entry["job"]
            if name_of(entry["path"]) != self.name or not self.program.made(job):
                continue
            same = self.program.had_these_limits(job) and not self.again
            for row in read_table(self.place, entry["path"], [*KEYS, "reason"]):
                if same or row["reason"] not in FAILURES:
                    found.add(key_of(row))
        return found

    # --- the program --------------------------------------------------------------------------------------------------
    def _read(self) -> Iterator[tuple[Record, Printed]]:
        """What the program printed of each file, in the order of the records."""
        records, failed, others = self._records(), 0, 0
        files = ((record, body) for record in records if (body := self._body(record)) is not None)
        under_way: deque[tuple[Record, Future[Printed]]] = deque()
        with ThreadPoolExecutor(self.at_once) as threads:
            try:
                while True:
                    for record, body in islice(files, self.at_once - len(under_way)):
                        under_way.append((record, threads.submit(self.program.read, body, _file_name(record))))
                    if not under_way:
                        return
                    record, future = under_way.popleft()
                    said = _result(future)
                    self.done.seconds += said.seconds
                    failed, others = failed + bool(said.failure), others + (not said.failure)
                    self.done.said = said.said or self.done.said
                    yield record, said
                    if failed >= IN_A_ROW and not others:
                        self.done.failing = True
                        return
            finally:
                self.program.stop()
                threads.shutdown(cancel_futures=True)

    def _body(self, record: Record) -> bytes | None:
        try:
            return archived_bytes(self.place, record)
        except StorageError:
            self.done.left_out[GONE] += 1
            if len(self.done.unread) < IN_A_ROW:
                self.done.unread.append(record["canonical_url"])
            return None

    # --- its text -----------------------------------------------------------------------------------------------------
    def _row(self, record: Record, said: Printed) -> dict[str, Any]:
        """The row of a file. Raises: StorageError where this machine lacks what a stage needs."""
        row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"text": "", "reason": said.failure, "detail": said.detail}
        row |= {"canonical_url": record["canonical_url"], "doc_id": record["content_hash"]}
        row["seconds"] = round(said.seconds, 3)
        return row if said.failure else row | self._judged(record, said.text)

    def _judged(self, record: Record, text: str) -> dict[str, Any]:
        doc = _document(record, text, self.config)
        try:
            self._chain().run(doc, _AFTER)
        except LackError as error:
            raise StorageError(
                f"this machine lacks what the stages need ({error}); the same command goes on"
            ) from error
        verdict = doc.verdict or doc.hold
        shown = verdict is None or (verdict.reason.keeps_text and self.config.storage.rejected_text)
        row = {
            "text": doc.text if shown and doc.hold is None else "",
            "reason": verdict.reason.value if verdict else "",
            "detail": verdict.detail[:512] if verdict else "",
            "language": doc.language, "quality_score": doc.quality_score, "word_count": doc.word_count,
            "pii_span_count": doc.pii_span_count, "text_id": doc.doc_id or None,
        }  # fmt: skip
        return row | self._same(record, doc) if shown and doc.text else row

    def _same(self, record: Record, doc: Document) -> dict[str, Any]:
        """Who has the text already; a text that was withdrawn stays out."""
        mark, texts = printed(doc.text), self._known_texts()
        if (refused := refusals_of([self.place]).refusal(record["url"], text=mark)) is not None:
            return {"text": "", "reason": refused.drop.reason.value, "detail": refused.drop.detail}
        owner = texts.find(mark)
        texts.add(mark, record["canonical_url"])
        return {"dup_of": owner}

    def _chain(self) -> Chain:
        self._stages = self._stages or Chain(self.config, _AFTER)  # models are loaded with the first text
        return self._stages

    def _known_texts(self) -> TextPrints[str]:
        """The texts of kept pages and of earlier rows, by their prints."""
        if self._texts is None:
            self._texts = TextPrints()
            for record in Living(self.place).kept():
                if text := record.get("text"):
                    self._texts.add(printed(text), record["canonical_url"])
            for row in self._earlier():
                if row["text"]:
                    self._texts.add(printed(row["text"]), row["canonical_url"])
        return self._texts

    def _earlier(self) -> Iterator[dict[str, Any]]:
        annotations = Annotations(self.place)
        return annotations.read(self.name) if self.name in annotations.names() else iter(())

    # --- the annotation -----------------------------------------------------------------------------------------------
    def _write(self, rows: list[dict[str, Any]], began: float) -> None:
        """Write the rows that wait. Those of pages that went meanwhile are counted as withdrawn."""
        if not rows:
            return
        seconds = round(sum(row["seconds"] for row in rows), 3)
        said = {
            "kind": "text", "code": self.program.version, "model": {"name": self.program.name},
            "parameters": self.program.parameters() | {
                ABOUT: FILES,
                "reasons": sorted(self.wanted.reasons), "kinds": sorted(self.wanted.kinds),
                "config_digest": self.config.digest, "gristmill": __version__,
            },
            "cost": {"program_seconds": seconds, "seconds": round(time.monotonic() - began, 3)},
        }  # fmt: skip
        meanings = {name: meaning for name, (_, meaning) in COLUMNS.items()}
        job = job_of(_KINDS, meanings, None, said, now=time.time())
        written, refused = Annotations(self.place).write(self.name, job, rows, now=self.now)
        gone = refused.unknown + refused.changed
        if gone:
            self.done.left_out[WITHDRAWN] += gone
        self.done.rows += written.annotated
        self.done.reasons.update(row["reason"] for row in rows)
        self.done.duplicates += sum(bool(row["dup_of"]) for row in rows)
        self.done.version = written.version
        rows.clear()


def waits(taken: float) -> float:
    """Seconds that rows of a call may wait which has taken so many."""
    return min(EVERY_SECONDS, max(FIRST_SECONDS, SHARE * taken))


def _result(future: Future[Printed]) -> Printed:
    try:
        return future.result()
    except OSError as error:
        raise StorageError(f"the program could not be given a file ({error}); the same command goes on") from error


def _document(record: Record, text: str, config: Config) -> Document:
    """The page as it stands before extraction, with the text in place of what the file says itself."""
    doc = Document(url=record["url"], canonical_url=record["canonical_url"], domain=record["domain"])
    doc.tree, doc.extractor, doc.method_used = text, EXTRACTOR, "file"
    doc.document_kind, doc.page_count = record.get("document_kind"), record.get("page_count")
    doc.content_type, doc.crawled_at = record.get("content_type") or "", record.get("crawled_at") or ""
    doc.license_tag, doc.license_tier = record.get("license_tag"), record.get("license_tier")
    doc.config_digest, doc.text_allowed = config.digest, True
    doc.done = list(READING)
    return doc


def _file_name(record: Record) -> str:
    """What the file is called that the program gets: programs go by the ending."""
    kind = record.get("document_kind") or ""
    ending = kind if kind.isalnum() else PurePosixPath(record["url"]).suffix.lstrip(".")
    return f"file.{ending}" if ending.isalnum() and len(ending) < 9 else "file"
