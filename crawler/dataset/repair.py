"""Repair writes `manifest.json` again where it is broken or gone: from the ledgers, and from the files themselves.

What a ledger said is taken from the ledger, else from the manifest where that can be read, else from the sealed file.
What no file says any more (a run's rules and counters, the lineage of a version) is named as lost, never made up.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, cast

from crawler.dataset.versions import held
from crawler.storage.archive.cdxj import index_of, is_archive
from crawler.storage.corpus.manifest import REWRITER, Ledger
from crawler.storage.corpus.missing import writer_of, writers_named
from crawler.storage.corpus.recovery import recover, writers_of_files
from crawler.storage.corpus.version import is_made_of_others, register
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE, FOLDERS, FORMAT, LEDGERS, MANIFEST, Place
from crawler.storage.types import Entry, LedgerEntry, LedgerFile, Manifest

BY = "dataset repair"
"""The operation of a version whose manifest was written again and is another one."""
BROKEN = ".broken"
"""Ends the name under which a ledger that cannot be read is kept for a person to look at."""


@dataclass(slots=True)
class Repaired:
    """What `repair` did and could not do. done, missing: sentences for people; files: listed in the manifest now."""

    done: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    files: int = 0


def repair(place: Place) -> Repaired:
    """Make manifest and ledgers whole again; safe to repeat, and changes no shard, archive or rejected file.

    Raises: StorageError where this is no corpus or one of another format, a worker is alive, or a version's lineage is
    lost with its ledger.
    """
    if place.remote:
        raise StorageError(f"{place.url}: repair reads every file, so it needs the corpus on a local disk")
    if not any((place.root / folder).is_dir() for folder in (LEDGERS, *FOLDERS)):
        raise StorageError(place.no_corpus(f"no {LEDGERS}/, no shards/"))
    place.check_finished()
    for folder in (LEDGERS, *FOLDERS):
        (place.root / folder).mkdir(parents=True, exist_ok=True)
    found, manifest = Repaired(), _manifest(place)
    with ExitStack() as stack:
        for writer in sorted(_writers(place, manifest)):
            stack.callback(held(place, writer).release)
        if manifest is None:
            found.done.append(f"{MANIFEST} was broken or missing: written again")
        for writer in sorted(_lost(place, manifest)):
            _restore(place, writer, manifest, found)
    recover(place)  # lists the sealed files that no ledger lists, and writes the manifest
    register(place, by=BY)
    _check_files(place, found)
    return found


def _manifest(place: Place) -> Manifest | None:
    try:
        content = place.load_json(MANIFEST)
    except StorageError:
        return None
    named = content.get("format") if isinstance(content, dict) else None
    if isinstance(named, str) and named != FORMAT and named.startswith(f"{FORMAT.partition('/')[0]}/"):
        place.manifest()  # it is another version's, and raises: not broken, and not ours to write again
    sound = isinstance(content, dict) and content.get("format") == FORMAT
    return cast("Manifest", content) if sound and _is_ledger(content) else None


def _is_ledger(content: Any) -> bool:
    """True where the parts that everything else rests on have their shape."""
    if not isinstance(content, dict):
        return False
    files, runs = content.get("files"), content.get("runs")
    names = {"path", "kind", "writer", "sha256", "bytes", "documents"}
    return (
        isinstance(files, list)
        and isinstance(runs, list)
        and all(isinstance(entry, dict) and names <= entry.keys() for entry in files)
        and all(isinstance(run, dict) and {"crawl_id", "worker_id", "started"} <= run.keys() for run in runs)
    )


def _writers(place: Place, manifest: Manifest | None) -> set[str]:
    ledgers = {path.stem for path in (place.root / LEDGERS).glob("[!.]*.json")}
    return ledgers | (writers_named(manifest) if manifest else set()) | writers_of_files(place)


def _lost(place: Place, manifest: Manifest | None) -> set[str]:
    """Writers whose ledger is not there or cannot be read."""
    lost = set()
    for writer in _writers(place, manifest):
        try:
            content = place.load_json(f"{LEDGERS}/{writer}.json")
        except StorageError:
            content = None
        if not _is_ledger(content):
            lost.add(writer)
    return lost


def _restore(place: Place, writer: str, manifest: Manifest | None, found: Repaired) -> None:
    path = place.root / LEDGERS / f"{writer}.json"
    if manifest is None and writer.startswith(REWRITER):
        raise StorageError(
            f"{LEDGERS}/{path.name} is lost, and with it what version {int(writer.removeprefix(REWRITER))} of the "
            f"corpus replaced; restore it, or {MANIFEST}, from a copy and run repair again"
        )
    if path.exists():
        path.replace(path.with_name(path.name + BROKEN))
    if manifest is not None:
        place.save_json(f"{LEDGERS}/{path.name}", _ledger_from(manifest, writer))
        found.done.append(f"{LEDGERS}/{path.name} was broken or missing: written again from {MANIFEST}")
        return
    ledger = Ledger(place, writer)
    ledger.save()
    found.done.append(f"{LEDGERS}/{path.name} was broken or missing: its files are listed again")
    found.missing.append(
        f"{LEDGERS}/{path.name} is lost: when {writer!r} ran, under which rules, and what it counted is no longer "
        "known; restore the ledger from a copy and run repair again, or accept the loss"
    )


def _ledger_from(manifest: Manifest, writer: str) -> LedgerFile:
    mine = [_without_hashes(entry) for entry in manifest["files"] if entry["writer"] == writer]
    retired = [entry for entry in manifest["retired"] if entry["path"].rpartition("/")[2].startswith(f"{writer}-")]
    subset = any(is_made_of_others(run) for run in manifest["runs"]) and not writer.startswith(REWRITER)
    runs = [run for run in manifest["runs"] if subset or writer_of(run) == writer]
    content: LedgerFile = {"writer": writer, "files": mine, "runs": runs, "retired": retired}
    for step in manifest.get("lineage", []):
        if writer == f"{REWRITER}{step['version']:04d}":
            content["rewrite"] = step
    return content


def _without_hashes(entry: Entry) -> LedgerEntry:
    listed = cast("LedgerEntry", {name: value for name, value in entry.items() if name != "archives"})
    if "archives" in entry:
        listed["archives"] = {path: source["documents"] for path, source in entry["archives"].items()}
    return listed


def _check_files(place: Place, found: Repaired) -> None:
    """Every listed file has to be there, as long as it was; whether its bytes are right, `verify` says."""
    present: dict[str, set[str]] = defaultdict(set)
    for folder in place.folders():
        present[folder] = set(place.listing(folder))
    files = place.manifest()["files"]
    found.files = len(files)
    for entry in files:
        folder, _, name = entry["path"].rpartition("/")
        if name not in present[folder]:
            found.missing.append(f"{entry['path']} is listed, but missing; restore the file from a copy")
        elif (size := (place.root / entry["path"]).stat().st_size) != entry["bytes"]:
            found.missing.append(f"{entry['path']} has {size} bytes instead of {entry['bytes']}; restore the file")
        elif folder == ARCHIVE and is_archive(name) and index_of(name) not in present[folder]:
            index = index_of(entry["path"])
            found.missing.append(f"{index} is missing; `gristmill dataset verify --fix` writes it again")
