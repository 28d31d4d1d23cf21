"""After a crash: what a dead writer left behind is cut to its last complete frame, sealed and listed.

Every start of any worker recovers the files of every dead writer. A live writer holds its lock, so it is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType

from crawler.storage.journal import PART, cut_to_last_frame, disk, rename_durably
from crawler.storage.locks import WriterLock
from crawler.storage.manifest import REWRITER, Ledger, merge, moment
from crawler.storage.place import ARCHIVE, FOLDERS, LEDGERS, Place
from crawler.storage.shards import Entry, describe_shard, seal_shard
from crawler.storage.warc import archive_entry

_NAME = re.compile(r"\.?(?P<writer>.+)-\d{6,}\.(?:jsonl|jsonl\.zst|jsonl\.gz|warc\.gz)(?:\.part|\.tmp)?")


@dataclass(frozen=True, slots=True)
class Recovered:
    """One file that was finished for a dead writer: path relative to the corpus, records in it, bytes cut off."""

    path: str
    documents: int
    cut_bytes: int


def recover(place: Place, *, skip: Collection[str] = ()) -> list[Recovered]:
    """Finish the files of every dead writer except those in `skip`, and bring the manifest up to date.

    Raises: StorageError on a failing disk or a damaged sealed file.
    """
    found: list[Recovered] = []
    for writer in sorted(set(_leftovers(place)) | _unfinished_writers(place)):
        if writer in skip or writer.startswith(REWRITER):  # a rewrite that did not get to its end never was
            continue
        lock = lock_of(place, writer)
        if not lock.acquire():
            continue
        try:
            found += recover_writer(place, Ledger(place, writer))
        finally:
            lock.release()
    merge(place)
    return found


def lock_of(place: Place, writer: str) -> WriterLock:
    """The lock that the live process of this writer name holds."""
    return WriterLock(place.root / LEDGERS / f"{writer}.lock")


def recover_writer(place: Place, ledger: Ledger) -> list[Recovered]:
    """Finish the files of one writer, whose lock the caller holds, and save its ledger."""
    found = []
    retired = {entry["path"] for entry in ledger.retired}
    for path in _leftovers(place).get(ledger.writer, []):
        relative = f"{path.parent.name}/{path.name.removesuffix(PART)}"
        if relative in retired:
            path.unlink(missing_ok=True)
            continue
        result = _finish(path)
        if result is None:
            continue
        entry, cut = result
        place.publish(relative)
        ledger.add(relative, entry)
        found.append(Recovered(relative, entry["documents"], cut))
    if _end_runs(ledger, place, found) or found:
        ledger.save()
    for recovered in found:
        place.forget_local(recovered.path)
    return found


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
            if match := _NAME.fullmatch(name):
                found.setdefault(match["writer"], []).append(place.root / folder / name)
    for writer in list(found):
        listed = Ledger(place, writer).files
        found[writer] = [
            path for path in found[writer] if f"{path.parent.name}/{path.name}" not in listed or place.remote
        ]
    return {writer: paths for writer, paths in found.items() if paths}


def _unfinished_writers(place: Place) -> set[str]:
    """Writers whose last run has no end although they may have left no file."""
    names = [name.removesuffix(".json") for name in local_names(place, LEDGERS) if name.endswith(".json")]
    return {name for name in names if any(run["ended"] is None for run in Ledger(place, name).runs)}


def _end_runs(ledger: Ledger, place: Place, found: list[Recovered]) -> bool:
    """Give runs that never ended the time of the last sign of life. True where one was changed."""
    open_runs = [run for run in ledger.runs if run["ended"] is None]
    for run in open_runs:
        path = place.root / LEDGERS / f"{ledger.writer}.json"
        last = moment(path.stat().st_mtime) if path.exists() else run["started"]
        crawled = [ledger.files[r.path].get("last_crawled_at") or "" for r in found]
        run["ended"] = max([run["started"], last, *crawled])
        run["recovered"] = [{"path": r.path, "documents": r.documents, "cut_bytes": r.cut_bytes} for r in found]
    return bool(open_runs)


def _finish(path: Path) -> tuple[Entry, int] | None:
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


def _seal(part: Path, final: Path) -> Entry | None:
    if part.parent.name != ARCHIVE and part.stat().st_size:
        return seal_shard(part)
    entry = _describe(part) if part.stat().st_size else None
    with disk(part):
        if entry and entry["documents"]:
            rename_durably(part, final)
            return entry
        part.unlink()
    return None


def _describe(path: Path) -> Entry:
    if path.parent.name != ARCHIVE:
        return describe_shard(path)
    with disk(path), path.open("rb") as file:
        records = ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=False)
        times = [record.headers.get("WARC-Date") or "" for record in records]
    return archive_entry(path, len(times), times)
