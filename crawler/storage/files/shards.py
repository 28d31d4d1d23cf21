"""Records on their way to disk: a journal while the file grows, one clean compressed file when it is sealed.

While it grows, a shard is a journal `….part` of zstd frames, one frame per group commit, whatever SHARD_FORMAT says.
Sealing reads the journal back, writes the final file in its format (`formats.py`; zstd as ONE frame: many readers,
among them `zstandard.open`, stop silently after the first), counts what is in it and removes the journal. The bytes of
a sealed file depend on its records only, not on when commits happened. See
`docs/adr/storage-001-journal-and-sealed-file.md`.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

import orjson
import zstandard

from crawler.storage.files import formats
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import format_of
from crawler.storage.files.journal import PART, Journal, disk, remove_draft, rename_durably, zstd_frame
from crawler.storage.files.place import SHARDS, Place
from crawler.storage.files.tally import Tally
from crawler.storage.types import FileFacts, Sealed


class ShardWriter:
    """Writes records to numbered files `<prefix>-NNNNNN.<suffix>` of one folder, each at most `max_bytes` uncompressed.

    `max_documents`: records a file at most; 0 = any number. One record larger than `max_bytes` gets a file of its own.
    `on_seal` receives the path and content of every sealed file. Nothing is durable before `commit()`.
    """

    def __init__(
        self,
        folder: Path,
        prefix: str,
        *,
        shard_format: str,
        max_bytes: int,
        max_documents: int = 0,
        first_number: int,
        on_seal: Callable[[Path, Sealed], None],
    ) -> None:
        self._folder, self._prefix, self._max_bytes = folder, prefix, max_bytes
        self._suffix = formats.shard_format(shard_format).suffix
        self._max_documents, self._number = max_documents, first_number
        self._on_seal = on_seal
        self._journal: Journal | None = None
        self._pending: list[bytes] = []
        self._bytes = self._documents = 0  # uncompressed; pending included

    def add(self, line: bytes) -> None:
        """Take one encoded record. Seals the current file first where the record would not fit any more."""
        if self._bytes and (self._bytes + len(line) > self._max_bytes or self._documents == self._max_documents > 0):
            self.seal()
        self._pending.append(line)
        self._bytes += len(line)
        self._documents += 1

    def commit(self) -> None:
        """Return when every record taken so far is on the disk."""
        if self._pending:
            if self._journal is None:
                self._journal = Journal(self._folder / f"{self._prefix}-{self._number:06d}.{self._suffix}")
            self._journal.append(zstd_frame(b"".join(self._pending)))
            self._pending.clear()
        if self._journal is not None:
            self._journal.sync()

    def seal(self) -> None:
        """Commit, then turn the journal into its final file. Does nothing where no record was taken."""
        self.commit()
        if self._journal is None:
            return
        self._journal.close()
        entry = seal_shard(self._journal.part)
        path, self._journal, self._bytes, self._documents = self._journal.path, None, 0, 0
        self._number += 1
        self._on_seal(path, entry)

    def abandon(self) -> None:
        """Close the file as it is: after a failed disk, the next start recovers what was committed."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None


def seal_shard(part: Path) -> Sealed:
    """Turn the journal `part` into its final file and return the manifest entry (without path). Safe to repeat.

    Raises: StorageError on a failing disk; the journal is complete until the final file is.
    """
    final = part.with_name(part.name.removesuffix(".part"))
    with disk(part), part.open("rb") as source:
        entry = write_sealed(final, _journal(source))
    with disk(part):
        part.unlink()
    return entry


def write_sealed(final: Path, lines: Iterable[bytes]) -> Sealed:
    """Write a complete shard under its final name, atomically, and return its manifest entry (without path)."""
    temporary = final.with_name(f".{final.name}.tmp")
    tally, size = Tally(), 0
    try:
        with disk(temporary), temporary.open("wb") as target:
            with format_of(final.name).writing(target, final.parent.name != SHARDS) as add:
                for number, line in enumerate(lines):
                    record = orjson.loads(line)
                    tally.add(record)
                    size += len(line)
                    add(record, line, number)
            target.flush()
            os.fsync(target.fileno())
    except BaseException:
        remove_draft(temporary)
        raise
    entry = tally.entry(file_facts(temporary), size)
    rename_durably(temporary, final)
    return entry


def describe_shard(path: Path) -> Sealed:
    """The manifest entry (without path) of a sealed file that no manifest lists yet."""
    tally, size = Tally(), 0
    for line in read_lines(path):
        tally.add(orjson.loads(line))
        size += len(line)
    return tally.entry(file_facts(path), size)


def file_facts(path: Path) -> FileFacts:
    """Hash and size of a file."""
    with disk(path), path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"sha256": digest, "bytes": file.seek(0, os.SEEK_END)}


def read_lines(source: Path | IO[bytes], name: str = "") -> Iterator[bytes]:
    """Lines of a sealed shard or of a journal, given as a path or as an open file with its name.

    Raises: StorageError where the compression is damaged or ends too early, or the file cannot be read. A journal may
    end within a frame: its worker is still writing, or has died.
    """
    name = name or (source.name if isinstance(source, Path) else "")
    form = None if name.endswith(PART) else format_of(name)
    read = form.reading if form and form.reading else _journal
    damage: tuple[type[Exception], ...] = (OSError, EOFError, zstandard.ZstdError, *(form.damaged if form else ()))
    opened: AbstractContextManager[IO[bytes]] = source.open("rb") if isinstance(source, Path) else nullcontext(source)
    try:
        with opened as file, _named(name):
            yield from read(file)
    except damage as error:
        raise StorageError(f"{name}: cannot be read to its end ({error}); restore this file from a copy") from error


def _journal(file: IO[bytes]) -> Iterable[bytes]:
    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True), 1 << 20)


def read_records(place: Place, path: str) -> Iterator[Any]:
    """What stands on each line, or in each row, of a file of the corpus, in order.

    Raises: StorageError where the file cannot be opened, the compression or a line is damaged, or nothing is in it.
    """
    where, number = place.path_of(path), 0
    with place.open_listed(path) as file:
        if (records := format_of(path).records) is not None:
            with _named(where):
                yield from records(file)
            return
        for number, line in enumerate(read_lines(file, where), 1):
            try:
                yield orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise StorageError(
                    f"{where}: line {number} is not JSON ({error}); restore the file from a copy"
                ) from None
    if not number:
        raise StorageError(f"{where}: has no record, as no sealed file is; restore the file from a copy")


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Says of what is raised in the block which file it is about."""
    try:
        yield
    except StorageError as error:
        raise StorageError(f"{where}: {error}") from error
