"""Recovery finishes what a dead writer left: cut to the last complete frame, sealed and listed.

Every start of any worker recovers the files of every dead writer. A live writer holds its lock, so it is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crawler.storage.archive.cdxj import ARCHIVE_SUFFIXES, index_of, is_archive, with_index
from crawler.storage.archive.writer import describe_archive
from crawler.storage.corpus.manifest import REWRITER, Ledger, merge
from crawler.storage.files.formats import suffixes
from crawler.storage.files.journal import PART, cut_to_last_frame, disk, rename_durably
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import ARCHIVE, FOLDERS, INDEX, LEDGERS, Place
from crawler.storage.files.record_index import drafts_of_the_dead
from crawler.storage.files.shards import describe_shard, seal_shard
from crawler.storage.types import Sealed
from crawler.times import rfc3339

_LEDGER = re.compile(r"\.(?P<writer>.+)\.json\.\d+\.tmp")
_INDEX = re.compile(r"\.?(?P<writer>.+)-\d{6,}\.cdxj(?:(?:\.\d+)?\.tmp)?")


def _named(name: str) -> re.Match[str] | None:
    """The name of a shard, an archive, or a journal; also of a journal in a format that is not installed here."""
    return _names(suffixes()).fullmatch(name)


@cache
def _names(ends: tuple[str, ...]) -> re.Pattern[str]:
    sealed = "|".join(re.escape(end) for end in (*ends, *ARCHIVE_SUFFIXES))
    return re.compile(rf"\.?(?P<writer>.+)-\d{{6,}}(?:(?:{sealed})(?:\.part|\.tmp)?|\.[a-z0-9.]+\.part)")


@dataclass(frozen=True, slots=True)
class Recovered:
    """One file that was finished for a dead writer: path relative to the corpus, records in it, bytes cut off."""

    path: str
    documents: int
    cut_bytes: int


def recover(place: Place, *, skip: Collection[str] = (), ended: list[str] | None = None) -> list[Recovered]:
    """Finish the files of every dead writer except those in `skip`, and bring the manifest up to date.

    `ended` takes the tokens of the processes that were killed as these writers, as far as they are known.
    Raises: StorageError on a failing disk or a damaged sealed file.
    """
    found: list[Recovered] = []
    writers = set(_leftovers(place)) | _unfinished_writers(place) | _writers_without_index(place) | _locked(place)
    for writer in sorted(writers):
        if writer in skip:
            continue
        lock = lock_of(place, writer)
        if not lock.acquire():
            continue
        if ended is not None and lock.predecessor:
            ended.append(lock.predecessor)
        try:
            if writer.startswith(REWRITER):  # a rewrite that did not get to its end never was
                _index_rewritten(place, Ledger(place, writer))
                continue
            found += recover_writer(place, Ledger(place, writer))
        finally:
            lock.release()
    for draft in drafts_of_the_dead(place.root / INDEX):
        draft.unlink(missing_ok=True)
    merge(place)
    return found


def lock_of(place: Place, writer: str, token: str = "") -> WriterLock:
    """The lock that the live process of this writer name holds. `token` names the process that asks for it."""
    return WriterLock(place.root / LEDGERS / f"{writer}.lock", token)


def recover_writer(place: Place, ledger: Ledger) -> list[Recovered]:
    """Finish the files of one writer, whose lock the caller holds, and save its ledger."""
    for draft in (place.root / LEDGERS).glob(f".{ledger.writer}.json.*.tmp"):
        draft.unlink()
    found = []
    retired = {entry["path"] for entry in ledger.retired}
    for path in _leftovers(place).get(ledger.writer, []):
        relative = str(path.relative_to(place.root)).removesuffix(PART)
        if relative in retired:
            path.unlink(missing_ok=True)
            continue
        result = _finish(path)
        if result is None:
            continue
        entry, cut = result
        for name in with_index(relative):
            place.publish(name)
        ledger.add(relative, entry)
        found.append(Recovered(relative, entry["documents"], cut))
    again = _rebuild_indexes(place, ledger)
    if _end_runs(ledger, place, found) or found or again:
        ledger.save()
    for name in (name for recovered in found for name in with_index(recovered.path)):
        place.forget_local(name)
    return found


def writers_of_files(place: Place) -> set[str]:
    """Names of all writers that a file in a local folder bears, sealed or in progress."""
    names = (name for folder in FOLDERS for name in local_names(place, folder))
    return {match["writer"] for name in names if (match := _named(name))}


def writer_of(path: str) -> str | None:
    """The worker whose file this is; None for an index, a stranger's file and one of a rewrite."""
    match = _named(path.rpartition("/")[2])
    return match["writer"] if match and not match["writer"].startswith(REWRITER) else None


def owner_of(name: str) -> str | None:
    """The worker or rewrite whose name a file bears, finished or not; None for a stranger's file and for an index."""
    match = _named(name) or (_INDEX.fullmatch(name) if name.endswith(".tmp") else None)
    return match["writer"] if match else None


def local_names(place: Place, folder: str) -> list[str]:
    """Names of files in a local folder, in progress or sealed."""
    path = place.root / folder
    with disk(path):
        return sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []


def _leftovers(place: Place) -> dict[str, list[Path]]:
    """Files that are in progress, temporary, or sealed but in no ledger, by writer."""
    found: dict[str, list[Path]] = {}
    for folder in FOLDERS:
        for name in local_names(place, folder):
            if match := _named(name):
                found.setdefault(match["writer"], []).append(place.root / folder / name)
    for writer in list(found):
        listed = Ledger(place, writer).files
        found[writer] = [
            path for path in found[writer] if str(path.relative_to(place.root)) not in listed or place.remote
        ]
    return {writer: paths for writer, paths in found.items() if paths}


def _unfinished_writers(place: Place) -> set[str]:
    """Writers whose last run has no end although they may have left no file, or who died while they saved it."""
    drafts = {match["writer"] for name in local_names(place, LEDGERS) if (match := _LEDGER.fullmatch(name))}
    names = [name.removesuffix(".json") for name in local_names(place, LEDGERS) if name.endswith(".json")]
    return drafts | {name for name in names if any(run["ended"] is None for run in Ledger(place, name).runs)}


def _locked(place: Place) -> set[str]:
    """Writers with a lock file: one that was killed before it wrote anything has left nothing else."""
    return {name.removesuffix(".lock") for name in local_names(place, LEDGERS)
            if name.endswith(".lock") and not name.startswith(".")}  # fmt: skip


def _writers_without_index(place: Place) -> set[str]:
    """Writers with a local archive whose index is gone, or with an index that nobody finished."""
    names = local_names(place, ARCHIVE)
    bare = [_named(name) for name in names if is_archive(name) and index_of(name) not in names]
    drafts = [_INDEX.fullmatch(name) for name in names if name.endswith(".tmp")]
    return {match["writer"] for match in (*bare, *drafts) if match}


def _rebuild_indexes(place: Place, ledger: Ledger) -> bool:
    """Remove what was not finished, and write the missing indexes of listed local archives. True where there were."""
    for name in local_names(place, ARCHIVE):
        if name.endswith(".tmp") and (match := _INDEX.fullmatch(name)) and match["writer"] == ledger.writer:
            (place.root / ARCHIVE / name).unlink()
    archives = [path for path in ledger.files if is_archive(path) and (place.root / path).exists()]
    missing = [path for path in archives if not (place.root / index_of(path)).exists()]
    for path in missing:
        ledger.files[path] = {**ledger.files[path], **describe_archive(place.root / path)}
    return bool(missing)


def _index_rewritten(place: Place, ledger: Ledger) -> None:
    if ledger.rewrite and _rebuild_indexes(place, ledger):
        ledger.save()


def _end_runs(ledger: Ledger, place: Place, found: list[Recovered]) -> bool:
    """Give runs that never ended the time of the last sign of life. True where one was changed."""
    open_runs = [run for run in ledger.runs if run["ended"] is None]
    for run in open_runs:
        path = place.root / LEDGERS / f"{ledger.writer}.json"
        last = rfc3339(path.stat().st_mtime) if path.exists() else run["started"]
        crawled = [ledger.files[r.path].get("last_crawled_at") or "" for r in found]
        run["ended"] = max([run["started"], last, *crawled])
        run["recovered"] = [{"path": r.path, "documents": r.documents, "cut_bytes": r.cut_bytes} for r in found]
    return bool(open_runs)


def _finish(path: Path) -> tuple[Sealed, int] | None:
    """Seal one leftover file. None where it holds no record of its own (it is removed then)."""
    final = path.with_name(path.name.removesuffix(PART))
    if path == final and not path.name.endswith(".tmp"):
        return _describe(path), 0
    if path.name.endswith(".tmp") or final.exists():  # half a final file, or a journal that has become one
        with disk(path):
            path.unlink()
        return None
    cut = cut_to_last_frame(path)
    entry = _seal(path, final)
    return (entry, cut) if entry else None


def _seal(part: Path, final: Path) -> Sealed | None:
    if part.parent.name != ARCHIVE and part.stat().st_size:
        return seal_shard(part)
    entry = _describe(part) if part.stat().st_size else None
    with disk(part):
        if entry and (entry["documents"] or entry["revisits"]):
            rename_durably(part, final)
            return entry
        part.unlink()
        part.with_name(index_of(final.name)).unlink(missing_ok=True)
    return None


def _describe(path: Path) -> Sealed:
    if path.parent.name != ARCHIVE:
        return describe_shard(path)
    return describe_archive(path, path.with_name(path.name.removesuffix(PART)))
