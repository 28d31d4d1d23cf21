"""Reads what a corpus holds now, also while workers write it: sealed files, and journals up to their last whole frame.

`everything` answers what `gristmill dataset export` would write if all journals were sealed now; `news` answers what
came since, and None where something else has changed and everything has to be read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import orjson

from crawler.dataset.pages import identity
from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import corpora_behind
from crawler.dataset.supersede import is_failure, is_pending, is_shared, standing_of
from crawler.dataset.verify import is_final
from crawler.dataset.withdrawals import WITHDRAWALS
from crawler.storage.corpus.manifest import merged_now
from crawler.storage.corpus.recovery import writer_of
from crawler.storage.files.journal import PART, zstd_frames
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import ARCHIVE, FOLDERS, LEDGERS, MANIFEST, PAGES, SHARDS, Place
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_records
from crawler.storage.types import Manifest

MOST = 2**19
"""Compressed bytes of one journal that one look reads; a larger frame is read whole."""


@dataclass(frozen=True, slots=True)
class Found:
    """A record, and where it lies: path in the corpus under the name that its file is sealed with, line from 0."""

    record: Record
    path: str
    line: int

    @property
    def is_kept(self) -> bool:
        """True for a kept document."""
        return "reason" not in self.record


@dataclass(slots=True)
class _Growing:
    """How far an open journal is read."""

    offset: int = 0
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """A version: what made it, and how many held pages it released."""

    version: int
    operation: str
    released: int


@dataclass(frozen=True, slots=True)
class Standing:
    """What decides which records count: where it is another one, everything is read again.

    replacing: later visits may have replaced records. digest: of the version, of all that is withdrawn, of runs.
    steps: how the version came to be.
    """

    version: int
    replacing: bool
    digest: str
    steps: tuple[Step, ...]


@dataclass(slots=True)
class Reader:
    """The reader of one corpus; of a remote one it sees what its workers have uploaded.

    refusals: those in force since the last `everything`.
    """

    place: Place
    refusals: Refusals = field(default_factory=Refusals)
    _journals: dict[str, _Growing] = field(default_factory=dict)
    _sealed: dict[str, int] = field(default_factory=dict)  # by path: lines that were read
    _replacing: bool = False
    _listed: frozenset[str] = frozenset()

    def standing(self) -> Standing:
        """Where the corpus stands. Raises: StorageError where there is none, or a list of withdrawals is unreadable."""
        manifest = self._manifest()
        replacing = is_pending(manifest) or is_shared(manifest)
        digest = hashlib.sha256(orjson.dumps([manifest.get("version", 1), replacing, len(manifest["retired"])]))
        if replacing:  # what a run left is settled by reading all of it once more
            digest.update(orjson.dumps([run["ended"] for run in manifest["runs"]]))
        for place in (self.place, *corpora_behind([self.place])):
            try:
                content = place.content(WITHDRAWALS)
            except (FileNotFoundError, NotADirectoryError):
                content = b""
            digest.update(hashlib.sha256(content).digest())
        lineage = manifest.get("lineage", [])
        steps = tuple(Step(one["version"], one["operation"], one["counts"].get("released", 0)) for one in lineage)
        return Standing(manifest.get("version", 1), replacing, digest.hexdigest(), steps)

    def _manifest(self) -> Manifest:
        """The manifest; of a crawl that has just begun what it would be, for none is written before the first seal."""
        if not self.place.remote and self.place.load_json(MANIFEST) is None:
            at_work = any(WriterLock(path).is_held() for path in (self.place.root / LEDGERS).glob("*.lock"))
            if at_work and (begun := merged_now(self.place)) is not None:
                return begun
        return self.place.manifest()

    def everything(self) -> Iterator[Found]:
        """Every kept record that counts. Raises: StorageError where a file is damaged or goes meanwhile."""
        with ExitStack() as stack:
            journals = open_journals(self.place, stack)  # before the manifest: what is sealed meanwhile is in hand
            manifest = self._manifest()
            self.refusals = Refusals.of([self.place, *corpora_behind([self.place])])
            files = [entry["path"] for entry in manifest["files"] if entry["kind"] in PAGES]
            self._listed = frozenset(files)
            journals = {path: file for path, file in journals.items() if path not in self._listed}
            files += [path for path in self._unlisted(manifest) if path not in journals]
            self._replacing = is_pending(manifest) or is_shared(manifest)
            self._journals, self._sealed = {}, dict.fromkeys(files, 0)
            lengths = {path: file.seek(0, 2) for path, file in journals.items()}
            stale = frozenset[bytes]()
            if self._replacing:
                every = (found.record for found in self._all(files, journals, lengths))
                stale = frozenset(standing_of(every).stale)
            for found in self._all(files, journals, lengths, count=True):
                if found.is_kept and not (stale and identity(found.record) in stale) and not self._refuses(found):
                    yield found

    def _all(
        self, files: Iterable[str], journals: dict[str, IO[bytes]], lengths: dict[str, int], *, count: bool = False
    ) -> Iterator[Found]:
        """Every record of these files; without `count` of all kinds, else of kept ones, and how far they were read."""
        for path in files:
            line = -1
            if not count or _is_kept(path):
                for line, record in enumerate(read_records(self.place, path)):
                    yield Found(record, path, line)
            if count:
                self._sealed[path] = line + 1
        for path, file in journals.items():
            growing = _Growing()
            while growing.offset < lengths[path] and (data := _read(file, growing.offset, lengths[path])):
                taken = growing.offset
                yield from (one for one in _taken(growing, path, data) if not count or one.is_kept)
                if growing.offset == taken:
                    break
            if count:
                self._journals[path] = growing

    def news(self) -> Iterator[Found] | None:
        """Records that came since, kept ones that count and, where later visits replace, final verdicts of any kind.

        None where something has gone, or a file is not what it was: everything has to be read.
        """
        with ExitStack() as stack:
            journals = open_journals(self.place, stack)
            manifest = self._manifest()
            listed = {entry["path"] for entry in manifest["files"] if entry["kind"] in PAGES}
            sealed = [*sorted(listed), *(path for path in self._unlisted(manifest) if path not in journals)]
            present = {*listed, *sealed, *journals}
            if not self._listed <= listed or not (self._journals.keys() | self._sealed.keys()) <= present:
                return None
            self._listed = frozenset(listed)
            grown = list[Found]()
            for path, file in journals.items():
                if path in listed:
                    continue
                growing = self._journals.setdefault(path, _Growing())
                if file.seek(0, 2) < growing.offset:
                    return None
                grown += _taken(growing, path, _read(file, growing.offset, growing.offset + MOST))
        return self._news(grown, [path for path in sealed if path not in self._sealed])

    def _news(self, grown: list[Found], sealed: list[str]) -> Iterator[Found]:
        yield from filter(self._counts, grown)
        for path in sealed:
            before = self._journals.pop(path, _Growing()).lines
            line = before - 1
            if _is_kept(path) or self._replacing:
                for line, record in enumerate(read_records(self.place, path)):
                    if line >= before and self._counts(found := Found(record, path, line)):
                        yield found
            self._sealed[path] = line + 1

    def _counts(self, found: Found) -> bool:
        reason = found.record.get("reason")
        if reason is not None:
            return self._replacing and is_final(reason) and not is_failure(reason)
        return not self._refuses(found)

    def _refuses(self, found: Found) -> bool:
        return self.refusals.of_record(found.record) is not None

    def _unlisted(self, manifest: Manifest) -> list[str]:
        """Files that a worker has sealed and no manifest lists yet: between the two steps it may have died."""
        if self.place.remote:
            return []
        known = {entry["path"] for entry in (*manifest["files"], *manifest["retired"])}
        folders = [folder for folder in FOLDERS if folder != ARCHIVE]
        paths = [f"{folder}/{path.name}" for folder in folders for path in _visible(self.place.root / folder)]
        return [path for path in paths if path not in known and writer_of(path) is not None]


def open_journals(place: Place, stack: ExitStack) -> dict[str, IO[bytes]]:
    """Open journals of records by the names that they are sealed with; none of a remote corpus."""
    found: dict[str, IO[bytes]] = {}
    for folder in (folder for folder in FOLDERS if folder != ARCHIVE and not place.remote):
        for path in sorted((place.root / folder).glob(f"*{PART}")):
            try:
                found[f"{folder}/{path.name.removesuffix(PART)}"] = stack.enter_context(path.open("rb"))
            except FileNotFoundError:  # sealed this moment: it is listed, or lies there unlisted
                continue
    return found


def _visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("[!.]*") if path.suffix != PART and path.is_file())


def _is_kept(path: str) -> bool:
    return path.startswith(f"{SHARDS}/")


def _read(file: IO[bytes], start: int, end: int) -> bytes:
    """Bytes that hold at least one whole frame, where there is one before `end` or the end of the file."""
    file.seek(start)
    data = file.read(min(MOST, end - start))
    while next(zstd_frames(data), None) is None and (more := file.read(len(data) or 1)):
        data += more
    return data


def _taken(growing: _Growing, path: str, data: bytes) -> Iterator[Found]:
    """The records of the whole frames at the beginning of `data`, and `growing` moves behind them."""
    start = growing.offset
    for end, content in zstd_frames(data):
        for line in content.splitlines():
            yield Found(orjson.loads(line), path, growing.lines)
            growing.lines += 1
        growing.offset = start + end
