"""A folder of chunks is derived of a corpus as an export is: whole or not there, with manifest, registry and card.

A chunk has its place as code points: TextPositionSelector of the W3C Web Annotation Data Model, section 4.2.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawler.dataset.chunks.cut import Cutter
from crawler.dataset.chunks.rows import FORMAT, SCHEMA_VERSION, rows_of
from crawler.dataset.export import Describer, Filling, draft_beside, put, put_all, settle_version
from crawler.dataset.mix.spec import Tokenizer
from crawler.dataset.mix.tokens import counter
from crawler.dataset.withdrawals import log_lines
from crawler.stages.text.words import token_estimate
from crawler.storage.corpus.software import versions
from crawler.storage.corpus.version import manifest_hash
from crawler.storage.files.columns import arrow
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import indented
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record
from crawler.times import rfc3339

FOLDER_FORMAT = "crawler-chunks/1"
CHUNKS = "chunks.json"


@dataclass(frozen=True, slots=True)
class Measure:
    """How long a chunk may be. tokens, overlap: of each; tokenizer: a `tokenizer.json`, None = an estimate."""

    tokens: int = 512
    overlap: int = 0
    tokenizer: Path | None = None

    def cutter(self) -> tuple[str, Cutter]:
        """What counts, in words for the manifest, and what cuts. Raises: StorageError where it cannot be loaded."""
        if self.tokenizer is None:
            return counter(None)[0], Cutter(token_estimate, self.tokens, self.overlap)
        name, count = counter(Tokenizer("tokenizers", self.tokenizer))
        return name, Cutter(lambda text: count([{"text": text}])[0], self.tokens, self.overlap)


@dataclass(frozen=True, slots=True)
class Made:
    """What was written: pages, chunks of them, tokens of these, files."""

    pages: int
    chunks: int
    tokens: int
    files: int
    counted_by: str


def write(
    place: Place,
    records: Iterable[Record],
    out: Path,
    measure: Measure,
    *,
    max_bytes: int,
    now: float,
    left_out: Callable[[], Mapping[str, int]],
    describer: Describer | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> Made:
    """Cut the records of a corpus into the new folder `out`.

    records: the pages that may be in it. left_out: how many may not, by reason; asked once `records` are read.
    max_bytes: of rows as JSON in one file. now: seconds since the epoch. progress: called with the chunks written.
    Memory: one record with its chunks, and one row group.
    Raises: StorageError where `out` is in use, a file is damaged, there is no page, or the corpus changes meanwhile.
    """
    arrow()
    counted_by, cutter = measure.cutter()
    before = _state(place)
    with ExitStack() as stack:
        draft = draft_beside(out, stack)
        job = _Job(draft, FORMAT, max_bytes, progress)
        job.fill(job.rows(records, cutter, describer))
        if _state(place) != before:
            raise StorageError(f"{place.url}: the corpus changed while it was cut; run the same command again")
        without = dict(left_out())
        if describer is not None:
            put_all(draft, describer.documents(job.files, FORMAT, withdrawn=without.get("withdrawn", 0)))
        manifest = {
            "format": FOLDER_FORMAT,
            "schema": SCHEMA_VERSION,
            "chunk_tokens": measure.tokens,
            "overlap_tokens": measure.overlap,
            "counted_by": counted_by,
            "time": rfc3339(now),
            "source": _source(place, before[0]),
            "versions": versions(),
            "counts": {"pages": job.pages, "chunks": job.written, "tokens": job.tokens, "left_out": without},
            "files": job.files,
        }
        put(draft / CHUNKS, indented(manifest))
        settle_version(draft, out, CHUNKS, {before[0]: place.url}, now=now)
    return Made(job.pages, job.written, job.tokens, len(job.files), counted_by)


class _Job(Filling):
    pages = tokens = 0

    def rows(self, records: Iterable[Record], cutter: Cutter, describer: Describer | None) -> Iterator[Record]:
        """The chunks, counted."""
        for record in records:
            self.pages += 1
            if describer is not None:
                describer.add(record)
            for row in rows_of(record, cutter):
                self.tokens += row["tokens"]
                yield row


def _state(place: Place) -> tuple[str, int]:
    """Version of a corpus, and how long its log of withdrawals is: that only grows."""
    return manifest_hash(place), sum(1 for _ in log_lines(place))


def _source(place: Place, manifest_sha256: str) -> dict[str, Any]:
    manifest = place.manifest()
    return {
        "manifest_sha256": manifest_sha256,
        "version": manifest.get("version", 1),
        "crawls": manifest["crawls"],
        "config_digests": manifest["config_digests"],
    }
