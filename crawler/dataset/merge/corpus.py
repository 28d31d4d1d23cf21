"""The merged corpus is written: one record of each page, the archives beside them, what each source refuses.

Nothing is fetched or judged again, and no source is changed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from crawler.config import Config
from crawler.dataset.annotations.joined import carry
from crawler.dataset.annotations.tables import annotation_files, document_of
from crawler.dataset.combined import Archives, after, runs_of
from crawler.dataset.concerned import Wish
from crawler.dataset.exclude import without_text
from crawler.dataset.merge.sources import RULE, Choice, Source, choose, records_of, sources_of
from crawler.dataset.outside import check_apart
from crawler.dataset.refused import Refusals, address_of
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.select import COMMIT_EVERY, take_back
from crawler.dataset.withdrawals import OPTED_OUT, inherit, log_lines, write_log
from crawler.document import DropReason
from crawler.number import number_of
from crawler.storage.archive.cdxj import with_index
from crawler.storage.archive.erasure import erase_pages
from crawler.storage.archive.writer import describe_archive
from crawler.storage.corpus.manifest import Ledger, makers_of, merge
from crawler.storage.corpus.software import versions
from crawler.storage.corpus.version import manifest_hash, register
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk
from crawler.storage.files.place import ARCHIVE, FOLDERS, HELD, PAGES, REJECTED, SHARDS, Place
from crawler.storage.files.records import Record, encode, held_kind, is_held
from crawler.storage.files.shards import ShardWriter
from crawler.storage.types import Entry, Manifest, MergedFrom, Run, Sealed
from crawler.times import rfc3339

WRITER = "merge"


def merge_corpora(
    places: Sequence[Place],
    target: Place,
    config: Config,
    *,
    now: float,
    leave_archives: bool = False,
    progress: Callable[[str], object] = lambda _: None,
) -> Run:
    """Write one corpus of several; answers its run, as the manifest of the new corpus lists it.

    leave_archives: they stay where they are, and the manifest names them by path and hash.
    Raises: StorageError where the target is in use or lies in a corpus, a source cannot be merged, is damaged or
    changes meanwhile: then nothing is written.
    """
    target.check_finished()
    if target.listing(""):
        raise StorageError(f"{target.url}: expected an empty or new folder for the merged corpus")
    for place in places:
        check_apart(target, place)
    sources = sources_of(places)
    with ExitStack() as stack:
        existed = target.root.exists()
        target.begin("gristmill dataset merge")
        stack.callback(take_back, target, existed=existed)
        work = _Merge(sources, target, config, progress)
        work.choose(now)
        work.bring_archives(leave=leave_archives)
        work.write_records()
        if [manifest_hash(source.place) for source in sources] != [source.sha256 for source in sources]:
            raise StorageError("a corpus changed while it was merged; run the same command again")
        run = work.stand(now)
        target.finish()
        stack.pop_all()
    for source in sources:
        register(source.place, live=True)
    register(target, sources={source.sha256: source.place.url for source in sources})
    return run


@dataclass(slots=True)
class _Merge:
    sources: Sequence[Source]
    target: Place
    config: Config
    progress: Callable[[str], object]
    ledger: Ledger = field(init=False)
    choice: Choice = field(init=False)
    archives: Archives = field(default_factory=Archives)
    named: list[dict[str, str]] = field(default_factory=list)  # of each source: new names of archives
    brought: int = 0
    elsewhere: int = 0
    unsaid: int = 0
    _refused: Refusals = field(default_factory=Refusals)
    _makers: dict[str, list[Entry]] = field(default_factory=dict)  # by kind: files of the source that is written

    def choose(self, now: float) -> None:
        """Take over what the sources refuse, and decide which records stay."""
        self.ledger = Ledger(self.target, WRITER)
        inherit([(source.place, source.sha256) for source in self.sources], self.target)
        own, behind = Refusals.of([self.target]), refusals_of([source.place for source in self.sources])
        self.choice = choose(
            self.sources, own, behind, lambda count: self.progress(f"{number_of(count, 'record')} read")
        )
        lines = [*log_lines(self.target), *self.choice.pages]
        if self.choice.optouts:
            number = max((line["number"] for line in lines), default=0) + 1
            rule = f"{OPTED_OUT}, {rfc3339(now)}"
            lines.append(Wish("opted out", rule=rule, by=f"dataset {WRITER}", reach="nothing").line(number, now))
            lines += [{**line, "number": number} for line in self.choice.optouts]
        if lines:
            write_log(self.target, lines)
        self._refused = behind  # the sources' own are among these

    def bring_archives(self, *, leave: bool) -> None:
        """Bring each archive along, without pages that are refused."""
        for source in self.sources:
            names = self.archives.renamed(source.manifest, source.place)
            for entry in source.manifest["files"]:
                if entry["kind"] != ARCHIVE:
                    continue
                old = entry["path"]
                if leave or old.rpartition("/")[2] not in source.place.listing(ARCHIVE):
                    self.elsewhere += 1
                    continue
                new = f"{ARCHIVE}/{WRITER}-{self.brought:06d}.{old.rpartition('/')[2].partition('.')[2]}"
                self.progress(f"archive {old}")
                self._bring(source, entry, new)
                names[old] = new
                self.brought += 1
            self.named.append(names)

    def _bring(self, source: Source, entry: Entry, new: str) -> None:
        old, path = entry["path"], self.target.root / new
        may_go = bool(self._refused or self.choice.gone)
        erased = erase_pages(source.place, old, path, self._goes, sha256=entry["sha256"]) if may_go else None
        if erased is not None:
            sealed = erased[0]
        else:
            _copy(source.place, old, path)
            sealed = describe_archive(path)
            if sealed["sha256"] != entry["sha256"]:
                raise StorageError(
                    f"{source.place.path_of(old)}: is not what its manifest says; restore it from a copy"
                )
        for name in with_index(new):
            self.target.publish(name)
        self.ledger.add(new, sealed, makers_of([entry]))
        for name in with_index(new):
            self.target.forget_local(name)

    def _goes(self, url: str) -> bool:
        return address_of(url) in self.choice.gone or self._refused.refusal(url) is not None

    def write_records(self) -> None:
        """The record of each page that stays, each source's in files of its own, so that they name its runs."""
        writers = {folder: self._writer(folder) for folder in FOLDERS if folder != ARCHIVE}
        written = number = annotated = 0
        at = -1
        documents: set[bytes] = set()
        for of, _, record in records_of(self.sources):
            if of != at:
                annotated = self._end_of(at, writers, documents, annotated)
                at, documents, files = of, set(), self.sources[of].files()
                self._makers = {kind: [each for each in files if each["kind"] == kind] for kind in PAGES}
            kept = self._placed(record, of) if self.choice.stays(number, record) else None
            number += 1
            if kept is None:
                continue
            self.unsaid += kept.get("reason") == DropReason.UNCHANGED
            folder = _folder_of(kept)
            writers[folder].add(encode(kept))
            written += 1
            if (document := document_of(kept)) is not None:
                documents.add(document)
            if written % COMMIT_EVERY == 0:
                self.progress(f"{number_of(written, 'record')} written")
                for writer in writers.values():
                    writer.commit()
        self._end_of(at, writers, documents, annotated)

    def _end_of(self, source: int, writers: dict[str, ShardWriter], documents: set[bytes], annotated: int) -> int:
        """Seal what there is of a source; answers how many files of annotations there are by then."""
        for writer in writers.values():
            writer.seal()
        if source < 0:
            return annotated
        of = self.sources[source]
        carry(of.place, self.target, self.ledger, documents, first=annotated)
        return annotated + len(annotation_files(of.manifest["files"]))

    def _placed(self, record: Record, source: int) -> Record | None:
        """The record with the name of its archive here; of a refused page nothing, or a verdict without text."""
        if self.choice.is_gone(record):
            return None if "reason" not in record or is_held(record) else without_text(record)
        archive = record.get("warc_file") or ""
        return record | {"warc_file": self.named[source][archive]} if archive in self.named[source] else record

    def _writer(self, folder: str) -> ShardWriter:
        def sealed(path: Path, entry: Sealed) -> None:
            name = f"{folder}/{path.name}"
            self.target.publish(name)
            self.ledger.add(name, entry, makers_of(self._makers[folder.partition("/")[0]]))
            self.target.forget_local(name)

        storage = self.config.storage
        return ShardWriter(
            self.target.root / folder,
            WRITER,
            shard_format=storage.shard_format,
            max_bytes=storage.shard_max_bytes,
            max_documents=storage.shard_max_documents,
            first_number=0,
            on_seal=sealed,
        )

    def stand(self, now: float) -> Run:
        """List everything: from here on there is a corpus."""
        runs = runs_of(_with_source(source) for source in self.sources)
        when = after(runs, now)
        run: Run = {
            "kind": "merge",
            "crawl_id": WRITER,
            "worker_id": WRITER,
            "started": when,
            "ended": when,
            "config_digest": self.config.digest,
            "versions": versions(),
            "counters": {},
            "archives": self.archives.known,
            "merged_from": self._origin(),
        }
        self.ledger.runs = [*runs, run]
        self.ledger.save()
        merge(self.target)
        return run

    def _origin(self) -> MergedFrom:
        return {
            "sources": [source.lineage() for source in self.sources],
            "rule": RULE,
            "read": self.choice.read,
            "replaced": self.choice.replaced,
            "several": self.choice.several,
            "withdrawn": self.choice.withdrawn,
            "archives": self.brought,
            "elsewhere": self.elsewhere,
            "unsaid": self.unsaid,
        }


def _with_source(source: Source) -> Manifest:
    """Its manifest, in which each run says whose it is."""
    runs = [{"source": source.sha256, **run} for run in source.manifest["runs"]]
    return cast("Manifest", {**source.manifest, "runs": runs})


def _folder_of(record: Record) -> str:
    if "reason" not in record:
        return SHARDS
    return f"{HELD}/{held_kind(record['reason'])}" if is_held(record) else REJECTED


def _copy(source: Place, old: str, new: Path) -> None:
    """A sealed file never changes, so on one disk both names may lead to the same bytes."""
    if not source.remote:
        try:
            os.link(source.root / old, new)
        except OSError:  # another disk, or one without links
            pass
        else:
            return
    with disk(new), source.open_listed(old) as file, new.open("wb") as target:
        shutil.copyfileobj(file, target, 1 << 20)
        target.flush()
        os.fsync(target.fileno())
