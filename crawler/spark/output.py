"""The corpus that a job writes: tasks seal its files in folders of their own, the driver gives them their names.

A task that is lost, or runs twice, leaves a folder that nobody lists. What the driver holds is an entry for each file,
as the manifest has it.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from crawler.config import StorageConfig
from crawler.dataset.combined import after, runs_of
from crawler.dataset.select import COMMIT_EVERY, take_back
from crawler.dataset.withdrawals import inherit, log_hash
from crawler.spark.partition import Line
from crawler.storage.corpus.manifest import Ledger, merge
from crawler.storage.corpus.version import manifest_hash, register
from crawler.storage.files import record_index
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import MANIFEST, Place, index_path
from crawler.storage.files.shards import ShardWriter
from crawler.storage.types import Run, Sealed

DRAFTS = ".spark"
"""Folder of what is not listed yet; it goes at the end of the job."""
COMMAND = "python -m crawler.spark.job"


@dataclass(frozen=True, slots=True)
class Written:
    """A sealed file in a task's folder. folder: that, in the corpus; path: in it; has_index: its index lies there."""

    folder: str
    path: str
    sealed: Sealed
    has_index: bool


def write_parts(target: str, storage: StorageConfig, lines: Iterable[Line]) -> Iterator[Written]:
    """Inside an executor: write the records into files as SHARD_FORMAT, SHARD_MAX_BYTES and their like say.

    target: path or URL of the corpus. Of a remote one the files grow in a temporary folder. Raises: StorageError.
    """
    folder = f"{DRAFTS}/{uuid.uuid4().hex}"
    with TemporaryDirectory(prefix="spark-spool-") as spool:
        place = Place(f"{target}/{folder}", spool)
        written: list[Written] = []

        def sealed(path: Path, entry: Sealed) -> None:
            relative = str(path.relative_to(place.root))
            place.publish(relative)
            indexed = storage.index_at_seal and record_index.make_at_seal(place, relative, entry)
            place.forget_local(relative)
            written.append(Written(folder, relative, entry, indexed))

        writers: dict[str, ShardWriter] = {}
        for number, line in enumerate(lines, 1):
            if line.kind not in writers:
                (place.root / line.kind).mkdir(parents=True, exist_ok=True)
                writers[line.kind] = ShardWriter(
                    place.root / line.kind,
                    "part",
                    shard_format=storage.shard_format,
                    max_bytes=storage.shard_max_bytes,
                    max_documents=storage.shard_max_documents,
                    first_number=0,
                    on_seal=sealed,
                )
            writers[line.kind].add(line.json)
            if number % COMMIT_EVERY == 0:
                for writer in writers.values():
                    writer.commit()
        for writer in writers.values():
            writer.seal()
        yield from written


class Output:
    """The corpus of one job, between `with` and `stand`; whatever fails in between leaves nothing on this machine.

    refusing: folders whose withdrawals are its own from now on; sources: corpora whose archives are read; given: those
    whose documents are. Raises: StorageError where something is in the folder already, or it cannot be written.
    """

    def __init__(
        self, place: Place, refusing: Iterable[Place], sources: Iterable[Place], given: Iterable[Place]
    ) -> None:
        self.place, self._refusing = place, list(refusing)
        self._asked = [log_hash(each) for each in self._refusing]
        self._given = {manifest_hash(source): source for source in given}
        self._sources = {manifest_hash(source): source for source in sources} | self._given

    def __enter__(self) -> Output:
        self.place.check_finished()
        if self.place.listing(""):
            raise StorageError(f"{self.place.url}: expected an empty or new folder for the corpus of this job")
        with ExitStack() as stack:
            existed = self.place.root.exists()
            self.place.begin(COMMAND)
            stack.callback(take_back, self.place, existed=existed)
            inherit(((each, _hash(each)) for each in self._refusing), self.place)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._stack.close()

    def stand(self, writer: str, run: Run, parts: Iterable[Written]) -> None:
        """Give the files their names, in their order, and list them: from here on it is a corpus. Raises: StorageError
        also where a source has another version now.
        """
        changed = self._sources.keys() != {manifest_hash(source) for source in self._sources.values()}
        if changed or self._asked != [log_hash(each) for each in self._refusing]:
            raise StorageError("a corpus changed while it was read, or withdrew a page; run the same command again")
        if self._sources:
            run["judged_from"] = {
                "of": "documents" if self._given else "archives",
                "sources": [
                    {"name": each.url, "manifest_sha256": sha256, "version": each.manifest().get("version", 1)}
                    for sha256, each in self._sources.items()
                ],
            }
        runs = runs_of(each.manifest() for each in self._given.values())
        run["ended"] = after(runs, time.time())
        ledger, numbers = Ledger(self.place, writer), Counter[str]()
        ledger.runs = [*runs, run]
        for part in parts:
            folder, _, name = part.path.rpartition("/")
            final = f"{folder}/{writer}-{numbers[folder]:06d}.{name.partition('.')[2]}"
            numbers[folder] += 1
            self.place.move(f"{part.folder}/{part.path}", final)
            if part.has_index:
                self.place.move(f"{part.folder}/{index_path(part.path)}", index_path(final))
            ledger.add(final, part.sealed)
        self.place.remove_folder(DRAFTS)
        ledger.save()
        merge(self.place)
        self.place.finish()
        self._stack.pop_all()
        for source in self._sources.values():
            register(source, live=True)
        register(self.place, sources={sha256: source.url for sha256, source in self._sources.items()})


def _hash(place: Place) -> str:
    return "" if place.load_json(MANIFEST) is None else manifest_hash(place)


def counts_of(parts: Iterable[Written]) -> Counter[str]:
    """Records by folder."""
    found = Counter[str]()
    for part in parts:
        found[part.path.rpartition("/")[0]] += part.sealed["documents"]
    return found
