"""A rewrite makes a new version of a finished corpus, in which records were changed, rejected or withdrawn.

No listed file ever changes. Changed files get new names, a ledger of their own says which files they stand for, and the
manifest counts one version up with the lineage. That ledger is saved in one step, so a crash leaves the old version or
the new one; what it leaves beside them, `tidy` removes (`gristmill dataset verify --fix`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from crawler.dataset.annotations.tables import (
    KEYS,
    Row,
    annotation_files,
    document_of,
    key_of,
    read_table,
    write_table,
)
from crawler.dataset.versions import Cause, check_free, held, new_version, remove_unlisted, rewriters, set_old_aside
from crawler.storage.archive.cdxj import with_index
from crawler.storage.corpus.manifest import REWRITER, Ledger, makers_of, merge
from crawler.storage.corpus.recovery import lock_of, recover
from crawler.storage.corpus.version import register
from crawler.storage.files.errors import AtWorkError
from crawler.storage.files.formats import format_of
from crawler.storage.files.place import ANNOTATIONS, ARCHIVE, FOLDERS, HELD, LEDGERS, PAGES, REJECTED, SHARDS, Place
from crawler.storage.files.records import Record, encode, held_kind
from crawler.storage.files.shards import ShardWriter, read_records, write_sealed
from crawler.storage.types import Entry, JobRecord, Lineage, Made, Manifest, Sealed, Step

MOVED_FILE_BYTES = 512 * 2**20
COMMIT_EVERY = 1_000
"""Records that leave their file, held in memory before they go to the disk."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Answer of a decision: the document leaves the shards, and this record of it goes to `rejected/`."""

    record: Record


@dataclass(frozen=True, slots=True)
class Release:
    """Answer of a decision: the document leaves its folder, and this record of it goes to the kept ones."""

    record: Record


@dataclass(frozen=True, slots=True)
class Holding:
    """Answer of a decision: the document leaves its folder, and this record of it waits for a person in `held/`."""

    record: Record


Decision = Record | Rejection | Release | Holding | None
Decide = Callable[[Record], Decision]
"""Receives a record and answers it (kept as it is), another one (changed), a `Rejection`, a `Release`, a `Holding`, or
None (dropped without a trace). Called once for each record, in the order of `read_files` and of their lines."""


Annotate = Callable[["RewriteJob"], None]
"""Adds annotations to the version that is made, or takes some out of it."""
RewriteArchive = Callable[[Place, str, Path], tuple[Sealed, int] | None]
"""Writes a changed archive: the corpus, the old path, where the new file belongs. Answers its manifest entry and the
response records that went, or None where nothing changes and no file was written."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What a rewrite did. version: that of the manifest now; counts are records; files: new files written.

    `erased` are response records that left the archive, `annotated` are rows of annotations that were added.
    """

    version: int
    seen: int
    changed: int
    rejected: int
    dropped: int
    files: int
    erased: int = 0
    annotated: int = 0
    released: int = 0
    held: int = 0


@contextmanager
def corpus_place(corpus_dir: str, spool_dir: str | None = None) -> Iterator[Place]:
    """The corpus for a batch job: files for a remote one grow in `spool_dir`, else in a temporary folder.

    Raises: StorageError where there is no corpus.
    """
    with ExitStack() as stack:
        if "://" in corpus_dir and spool_dir is None:
            spool_dir = stack.enter_context(TemporaryDirectory(prefix="corpus-spool-"))
        place = Place(corpus_dir, spool_dir)
        place.manifest()
        for folder in (*FOLDERS, LEDGERS) if place.remote else ():
            (place.root / folder).mkdir(parents=True, exist_ok=True)
        yield place


def read_files(place: Place, folders: Sequence[str] = (SHARDS,)) -> list[Entry]:
    """The manifest's entries of the sealed files in these folders, in the order of their paths."""
    return [entry for entry in place.manifest()["files"] if entry["kind"] in folders]


def records_in(place: Place, folders: Sequence[str] = (SHARDS,)) -> Iterator[Record]:
    """Every record of these files, in their order. Raises: StorageError where a file is damaged."""
    for entry in read_files(place, folders):
        yield from read_records(place, entry["path"])


def rewrite(
    place: Place,
    decide: Decide,
    cause: Cause,
    *,
    folders: Sequence[str] = (SHARDS,),
    archive: RewriteArchive | None = None,
    annotate: Annotate | None = None,
    mixed: bool = False,
    even_unchanged: bool = False,
) -> Rewritten:
    """Make a new version of the corpus with `decide` applied to every record of `folders`, streaming.

    `archive` is asked about every archive, `annotate` is called last. The annotations of a document go with it. Files
    without a change stay as they are; where nothing changes at all there is no new version, unless `even_unchanged`
    asks for one, for what its lineage says. mixed: an answer may be a record of another file, so every file of
    `folders` counts as a source of the new ones. Replaced files move to `replaced/`, where the old manifest,
    `manifest.NNNN.json`, finds them; where the cause keeps no old ones (a withdrawal) they are removed, and so are the
    replaced files of every earlier version.

    Raises: StorageError while a worker or another rewrite is at work, on a damaged file or a failing disk.
    """
    with ExitStack() as stack:
        job = _begin(place, decide, stack)
        try:
            job.apply(folders, archive, mixed=mixed)
            if annotate is not None:
                annotate(job)
            lineage = job.stand(cause, even_unchanged=even_unchanged)
        except BaseException:
            job.abandon()
            raise
        if lineage:
            set_old_aside(place, lineage)
            register(place)
        return job.result()


def check_alone(place: Place) -> None:
    """Raises: StorageError where a rewrite could not begin now, because a worker or another rewrite is at work."""
    with ExitStack() as stack:
        _alone(place, stack)


def _begin(place: Place, decide: Decide, stack: ExitStack) -> RewriteJob:
    """Take every lock that a rewrite needs, until `stack` closes, and remove what crashed ones left."""
    _alone(place, stack)
    job = RewriteJob(place, merge(place), decide)
    stack.callback(held(place, job.writer).release)
    check_free(place, job.writer)
    tidy(place, skip=job.writer)
    return job


def tidy(place: Place, *, skip: str = "") -> int:
    """Remove what crashed rewrites left: files of no version, and replaced files that were to go. Returns how many."""
    removed = 0
    for folder in (*FOLDERS, LEDGERS):
        (place.root / folder).mkdir(parents=True, exist_ok=True)
    for writer in sorted(rewriters(place) - {skip}):
        lock = lock_of(place, writer)
        if not lock.acquire():
            continue
        try:
            ledger = Ledger(place, writer)
            removed += remove_unlisted(place, ledger)
            if ledger.rewrite:
                removed += set_old_aside(place, ledger.rewrite)
        finally:
            lock.release()
    return removed


class RewriteJob:
    """One rewrite while it runs: what it has seen, the files it wrote, and the ledger that will list them.

    files: of the version before.
    """

    def __init__(self, place: Place, manifest: Manifest, decide: Decide) -> None:
        self.place, self.files, self._decide = place, manifest["files"], decide
        self._version = manifest.get("version", 1) + 1
        self.writer = f"{REWRITER}{self._version:04d}"
        self._ledger = Ledger(place, self.writer)
        self._steps: list[Step] = []
        self._seen = 0
        self._moved: dict[str, ShardWriter] = {}  # by folder: records that left their file for another one
        self._moves = 0
        self._sources: list[Entry] = []  # files that they came from
        self._annotates = bool(annotation_files(self.files))
        self._stay: set[bytes] = set()  # documents of the files that were read, where rows may be about them
        self._gone: set[bytes] = set()  # those that one of their records is no more about
        self._annotated = 0

    def apply(self, folders: Sequence[str], archive: RewriteArchive | None, *, mixed: bool = False) -> None:
        """Write what takes the place of each file that changes, and the file of rejections."""
        together = [entry for entry in self.files if entry["kind"] in folders] if mixed else []
        for number, entry in enumerate(self.files):
            if entry["kind"] in folders:
                self._file(number, entry, together or [entry])
            elif entry["kind"] == ARCHIVE and archive is not None:
                self._archive(number, entry, archive)
        for writer in self._moved.values():
            writer.seal()
        if gone := self._gone - self._stay:
            self.filter_annotations(lambda _, document: document not in gone)

    def stand(self, cause: Cause, *, even_unchanged: bool) -> Lineage | None:
        """Save the ledger: from here on the new version stands. None where nothing has changed."""
        if not (self._steps or self._ledger.files or even_unchanged):
            return None
        done = self.result()
        counts = {"changed": done.changed, "rejected": done.rejected, "dropped": done.dropped}
        counts |= {"erased": done.erased} if done.erased else {}
        counts |= {"annotated": self._annotated} if self._annotated else {}
        counts |= {"released": done.released} if done.released else {}
        counts |= {"held": done.held} if done.held else {}
        self._ledger.rewrite = new_version(self.place, self._version, self._steps, counts, cause)
        self._ledger.save()
        return self._ledger.rewrite

    def result(self) -> Rewritten:
        """The counts so far, and the version that stands."""
        pages = [step for step in self._steps if step["old"].partition("/")[0] in PAGES]
        archives = [step for step in self._steps if step["old"].startswith(f"{ARCHIVE}/")]
        return Rewritten(
            version=self._version if self._ledger.rewrite else self._version - 1,
            seen=self._seen,
            changed=sum(step["changed"] for step in pages),
            rejected=sum(step["rejected"] for step in pages),
            dropped=sum(step["dropped"] for step in pages),
            files=len(self._ledger.files),
            erased=sum(step["dropped"] for step in archives),
            annotated=self._annotated,
            released=sum(step.get("released", 0) for step in pages),
            held=sum(step.get("held", 0) for step in pages),
        )

    def annotate(self, name: str, job: JobRecord, rows: Iterable[Row]) -> int:
        """Write a file of an annotation; how many rows it has. Raises: InputError, StorageError."""
        new = f"{ANNOTATIONS}/{name}/{self.writer}-{len(self.files):06d}.parquet"
        written = write_table(self.place.root / new, job, rows)
        if written["documents"]:
            self._publish(new, written)
        else:
            self.place.discard_local(new)
        self._annotated += written["documents"]
        return written["documents"]

    def filter_annotations(self, keeps: Callable[[str, bytes], bool]) -> int:
        """Take rows out of annotations: those that `keeps`, asked with the path of the file and the key of the
        document, does not hold for. How many went.
        """
        steps = [step for n, e in enumerate(self.files) if "job" in e and (step := self._filter(n, e, e["job"], keeps))]
        self._steps += steps
        return sum(step["dropped"] for step in steps)

    def _filter(self, number: int, entry: Entry, job: JobRecord, keeps: Callable[[str, bytes], bool]) -> Step | None:
        old = entry["path"]
        stay = sum(keeps(old, key_of(row)) for row in read_table(self.place, old, KEYS))
        if stay == entry["documents"]:
            return None
        new = f"{old.rpartition('/')[0]}/{self.writer}-{number:06d}.parquet" if stay else None
        if new is not None:
            rows = (row for row in read_table(self.place, old) if keeps(old, key_of(row)))
            self._publish(new, write_table(self.place.root / new, job, rows))
        gone = entry["documents"] - stay
        return {"old": old, "new": new, "documents": stay, "changed": 0, "rejected": 0, "dropped": gone}

    def abandon(self) -> None:
        """Take back what was written; the old version is untouched."""
        for writer in self._moved.values():
            writer.abandon()
        self._ledger.files.clear()
        remove_unlisted(self.place, Ledger(self.place, self.writer))

    def _file(self, number: int, entry: Entry, sources: list[Entry]) -> None:
        """Apply the decision to one file; a new one is written only where something changes."""
        path = entry["path"]
        self._sources.append(entry)
        folder, _, name = path.rpartition("/")
        new = f"{folder}/{self.writer}-{number:06d}.{format_of(name).suffix}"
        step: Step = {"old": path, "new": new, "documents": 0, "changed": 0, "rejected": 0, "dropped": 0}
        written = write_sealed(self.place.root / new, self._lines(path, step))
        moved = step["rejected"] + step["dropped"] + step.get("released", 0) + step.get("held", 0)
        if not (step["changed"] or moved):
            self.place.discard_local(new)
            return
        if step["documents"]:
            self._publish(new, written, makers_of(sources))
        else:
            self.place.discard_local(new)
            step["new"] = None
        self._steps.append(step)

    def _archive(self, number: int, entry: Entry, change: RewriteArchive) -> None:
        """Let `change` write another archive in place of this one; one without a page left is not replaced."""
        path = entry["path"]
        new: str | None = f"{ARCHIVE}/{self.writer}-{number:06d}.{path.rpartition('/')[2].partition('.')[2]}"
        found = change(self.place, path, self.place.root / str(new))
        if found is None:
            return
        written, erased = found
        if written["documents"] or written.get("revisits"):
            self._publish(str(new), written, makers_of([entry]))
        else:
            for name in with_index(str(new)):
                self.place.discard_local(name)
            new = None
        self._steps.append(
            {
                "old": path,
                "new": new,
                "documents": written["documents"],
                "changed": 0,
                "rejected": 0,
                "dropped": erased,
            }
        )

    def _lines(self, path: str, step: Step) -> Iterator[bytes]:
        for record in read_records(self.place, path):
            self._seen += 1
            before = encode(record)
            document = document_of(record) if self._annotates else None
            decision = self._decide(record)
            self._note(document, decision)
            if decision is None:
                step["dropped"] += 1
            elif isinstance(decision, Rejection):
                step["rejected"] += 1
                self._move(decision.record, REJECTED, path)
            elif isinstance(decision, Holding):
                step["held"] = step.get("held", 0) + 1
                self._move(decision.record, f"{HELD}/{held_kind(decision.record['reason'])}", path)
            elif isinstance(decision, Release):
                step["released"] = step.get("released", 0) + 1
                self._move(decision.record, SHARDS, path)
            else:
                line = encode(decision)
                step["changed"] += line != before
                step["documents"] += 1
                yield line

    def _note(self, before: bytes | None, decision: Decision) -> None:
        """Whether the rows of a document stay: where some record is still about it."""
        if not self._annotates:
            return
        record = decision.record if isinstance(decision, Rejection | Release | Holding) else decision
        after = document_of(record) if record is not None else None
        if after is not None:
            self._stay.add(after)
        if before is not None and before != after:
            self._gone.add(before)

    def _move(self, record: Record, folder: str, path: str) -> None:
        """Put a record into a new file of another folder; path: that it comes from."""
        writer = self._moved.get(folder)
        if writer is None:
            writer = self._moved[folder] = ShardWriter(
                self.place.root / folder,
                self.writer,
                shard_format=format_of(path).name,
                max_bytes=MOVED_FILE_BYTES,
                first_number=len(self.files),
                on_seal=lambda final, entry: self._publish(f"{folder}/{final.name}", entry, makers_of(self._sources)),
            )
        writer.add(encode(record))
        self._moves += 1
        if self._moves % COMMIT_EVERY == 0:
            writer.commit()

    def _publish(self, relative: str, entry: Sealed, made_by: list[Made] | None = None) -> None:
        for name in with_index(relative):
            self.place.publish(name)
        self._ledger.add(relative, entry, made_by)
        for name in with_index(relative):
            self.place.forget_local(name)


def _alone(place: Place, stack: ExitStack) -> None:
    """Finish what dead workers left, and keep every known writer from starting while the rewrite runs."""
    for folder in (*FOLDERS, LEDGERS):
        (place.root / folder).mkdir(parents=True, exist_ok=True)
    if not place.remote:
        recover(place)
    manifest = place.manifest()
    open_runs = [run["worker_id"] for run in manifest["runs"] if run["ended"] is None]
    if open_runs:
        raise AtWorkError(
            f"{place.url}: the worker {open_runs[0]!r} is at work, or died without a trace; a rewrite needs a finished "
            "crawl. End it, or run the same crawl command again to its end"
            + (f"; `gristmill dataset verify --fix --close-runs {place.url}` closes lost runs" * place.remote)
        )
    writers = {entry["writer"] for entry in manifest["files"]} | set(_locked_names(place))
    for writer in sorted(writers):
        stack.callback(held(place, writer).release)


def _locked_names(place: Place) -> list[str]:
    return [path.stem for path in (place.root / LEDGERS).glob("*.lock") if not path.name.startswith(".")]
