"""An export is a corpus as other tools read it: one folder, complete or not there, with a manifest of its own.

It is written beside its place under a hidden name and gets its own in one step; what a crash leaves is removed by the
next call. Of a page the latest record counts, and what was withdrawn is never written, even where the withdrawal was
cut off before it reached the shards.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from crawler.dataset.addresses import Addresses
from crawler.dataset.export_formats import INDEX_FILE, export_format
from crawler.dataset.living import WITHDRAWN, Living
from crawler.dataset.outside import check_outside
from crawler.dataset.registry.derived import note_draft, tell_sources
from crawler.dataset.withdrawals import log_hash
from crawler.storage.corpus.software import versions
from crawler.storage.corpus.version import manifest_hash
from crawler.storage.files.columns import SCHEMA_VERSION, arrow
from crawler.storage.files.errors import RemovedError, StorageError, unmade
from crawler.storage.files.formats import Add, Format
from crawler.storage.files.journal import disk, indented, sync_folder, write_synced
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record, encode
from crawler.storage.files.shards import file_facts
from crawler.times import rfc3339

EXPORT_FORMAT = "crawler-export/1"
EXPORT = "export.json"
PROGRESS_EVERY = 1_000
"""Documents between two calls of `progress`."""


class Describer(Protocol):
    """Sees each document that is written and makes the published documents of the folder: content by name."""

    def add(self, record: Record) -> None:
        """Take a document."""

    def documents(self, files: list[dict[str, Any]], form: Format, *, withdrawn: int) -> dict[str, bytes]:
        """files: as the manifest lists them."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds: documents and files; withdrawn: records that were left out for that reason.

    addresses: how many have a redacted one; None where that was not asked for.
    """

    documents: int
    files: int
    withdrawn: int
    addresses: Addresses | None = None


def export(
    place: Place,
    out: Path,
    to: str,
    *,
    max_bytes: int,
    now: float,
    describer: Describer | None = None,
    progress: Callable[[int], object] = lambda _: None,
    redact_urls: bool = False,
) -> Exported:
    """Write the kept documents of a corpus to the folder `out`, in the format `to`.

    max_bytes: of records as JSON in one file. now: seconds since the epoch. describer: makes the published documents.
    progress: called with the number of documents written. redact_urls: addresses lose what was redacted in their page.
    Memory: one record, with Parquet one row group.
    Raises: StorageError where `out` is in use, a file is damaged, no document is kept, or the corpus changes meanwhile.
    """
    if to == "parquet":
        arrow()
    form, before, asked = export_format(to), manifest_hash(place), log_hash(place)
    with ExitStack() as stack:
        draft = draft_beside(out, stack)
        job = _Job(place, draft, form, max_bytes, progress)
        job.addresses = Addresses() if redact_urls else None
        job.fill(job.records(describer))
        if manifest_hash(place) != before or log_hash(place) != asked:
            raise StorageError(f"{place.url}: the corpus changed while it was exported; run the same command again")
        if describer is not None:
            put_all(draft, describer.documents(job.files, form, withdrawn=job.withdrawn))
        put(draft / EXPORT, indented(_lineage(place, to, before, job, now)))
        settle_version(draft, out, EXPORT, {before: place.url}, now=now)
    return job.result()


def settle_version(draft: Path, out: Path, manifest: str, sources: Mapping[str, str], *, now: float) -> None:
    """Give a complete draft its name, with its version in its registry; each source is told where it is.

    manifest: the file that lists the others. sources: places of corpora and folders by the hash of their manifests.
    """
    version = note_draft(draft, str(out), manifest, sources, now=now)
    settle(draft, out)
    tell_sources(str(out), version, sources)


def settle(draft: Path, out: Path) -> None:
    """Give a complete draft its name, in one step."""
    with disk(out):
        _sync(draft)
        if out.is_dir():
            out.rmdir()  # it is empty
        draft.rename(out)
        _sync(out.parent)


def draft_beside(out: Path, stack: ExitStack) -> Path:
    """An empty hidden folder beside `out`, ours until `stack` closes; what a crashed export left there goes."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise StorageError(f"{out}: expected an empty or new folder for what is written")
    check_outside(out)
    draft = out.with_name(f".{out.name}.part")
    lock = WriterLock(out.with_name(f".{out.name}.lock"))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        ours = lock.acquire()
    except (OSError, RemovedError) as error:
        raise unmade("--out ", out, error.__cause__ if isinstance(error, RemovedError) else error) from error
    if not ours:
        raise StorageError(f"{out}: another export writes there; wait for its end or give another folder")
    stack.callback(lock.release)
    stack.callback(shutil.rmtree, draft, ignore_errors=True)
    with disk(draft):
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir()
    return draft


class Filling:
    """The files of an export while they are written: one open at a time, and what the closed ones are."""

    def __init__(self, draft: Path, form: Format, max_bytes: int, progress: Callable[[int], object]) -> None:
        self._draft, self._form = draft, form
        self._max_bytes, self._progress = max_bytes, progress
        self.written = self.withdrawn = 0
        self.addresses: Addresses | None = None
        self.files: list[dict[str, Any]] = []

    def result(self) -> Exported:
        """What has been written so far."""
        return Exported(self.written, sum(file["documents"] > 0 for file in self.files), self.withdrawn, self.addresses)

    def fill(self, records: Iterator[Record]) -> None:
        """Write every record; each file is on the disk when the next one begins. An index comes last.

        Raises: StorageError where there is no record.
        """
        with disk(self._draft):
            (self._draft / self._form.folder).mkdir()
        record = next(records, None)
        if record is None:
            left_out = f" ({self.withdrawn:,} withdrawn ones are left out)" if self.withdrawn else ""
            raise StorageError(f"there is no document to write{left_out}; nothing was written")
        while record is not None:
            record = self._file(record, records)
        if self._form.index is not None:
            path = f"{self._form.folder}/{INDEX_FILE}"
            put(self._draft / path, self._form.index(self.files))
            self.files.append({"path": path, "documents": 0, **file_facts(self._draft / path)})
        self._progress(self.written)

    def _file(self, record: Record, records: Iterator[Record]) -> Record | None:
        """Fill one file, beginning with `record`; answers the record that did not fit any more."""
        relative, begun = self._form.path(len(self.files)), self.written
        path = self._draft / relative
        with disk(path), path.open("wb") as target:
            with self._form.writing(target, False) as add:
                rest = self._fill(add, record, records)
            target.flush()
            os.fsync(target.fileno())
        self.files.append({"path": relative, "documents": self.written - begun, **file_facts(path)})
        return rest

    def _fill(self, add: Add, record: Record | None, records: Iterator[Record]) -> Record | None:
        size = 0
        while record is not None:
            record = _without_place(record)
            line = encode(record)
            if size and size + len(line) > self._max_bytes:
                return record
            add(record, line, self.written)
            size += len(line)
            self.written += 1
            if self.written % PROGRESS_EVERY == 0:
                self._progress(self.written)
            record = next(records, None)
        return None


class _Job(Filling):
    """The export of one corpus."""

    def __init__(
        self, place: Place, draft: Path, form: Format, max_bytes: int, progress: Callable[[int], object]
    ) -> None:
        super().__init__(draft, form, max_bytes, progress)
        self._living = Living(place)

    @property
    def read(self) -> int:
        """Documents of the corpus that were looked at."""
        return self._living.read

    def records(self, describer: Describer | None) -> Iterator[Record]:
        """What is exported, counted."""
        for found in self._living.kept():
            record = found if self.addresses is None else self.addresses.of(found)
            if describer is not None:
                describer.add(record)
            yield record
        self.withdrawn = self._living.left_out[WITHDRAWN]


def _without_place(record: Record) -> Record:
    """Of an archive elsewhere on this machine the name alone: where it lies is nobody's business who gets the file."""
    file = record.get("warc_file")
    return record | {"warc_file": Path(file).name} if isinstance(file, str) and Path(file).is_absolute() else record


def _lineage(place: Place, to: str, manifest_sha256: str, job: _Job, now: float) -> dict[str, Any]:
    manifest = place.manifest()
    return {
        "format": EXPORT_FORMAT,
        "to": to,
        "schema": SCHEMA_VERSION,
        "time": rfc3339(now),
        "source": {
            "manifest_sha256": manifest_sha256,
            "version": manifest.get("version", 1),
            "crawls": manifest["crawls"],
            "config_digests": manifest["config_digests"],
        },
        "versions": versions(),
        "counts": {"read": job.read, "exported": job.written, "withdrawn": job.withdrawn},
        **({"addresses": asdict(job.addresses)} if job.addresses is not None else {}),
        "files": job.files,
    }


def put(path: Path, content: bytes) -> None:
    """Write a small file, on the disk when this returns. Raises: StorageError."""
    with disk(path):
        write_synced(path, content)


def put_all(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write small files, by name. Raises: StorageError."""
    for name, content in contents.items():
        put(folder / name, content)


def _sync(folder: Path) -> None:
    with suppress(PermissionError):
        sync_folder(folder)
