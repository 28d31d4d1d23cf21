"""A version of the corpus after its crawl: where it comes from, and what becomes of the files that it replaces.

`rewrite.py` makes versions out of changed records, `expire.py` by removing archives.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from crawler.storage.archive.cdxj import with_index
from crawler.storage.corpus.manifest import EXPIRY, REWRITER, Ledger, merge
from crawler.storage.corpus.recovery import lock_of
from crawler.storage.files.errors import AtWorkError
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import LEDGERS, MANIFEST, REPLACED, Place, index_path
from crawler.storage.types import Counts, JudgedBy, Lineage, Step
from crawler.times import rfc3339


@dataclass(frozen=True, slots=True)
class Cause:
    """Why there is a new version. by: the operation; reason: for people; now: seconds since the epoch.

    keeps_old: the replaced files stay in `replaced/`. replacing_runs: how many runs that may have replaced records were
    read for it; None where it is not about that. judged_by: the settings by which pages were judged again.
    """

    by: str
    reason: str
    now: float
    keeps_old: bool = True
    replacing_runs: int | None = None
    judged_by: JudgedBy | None = None


def new_version(
    place: Place,
    version: int,
    steps: list[Step],
    counts: Counts,
    cause: Cause,
) -> Lineage:
    """Keep the present manifest under its number, and say where version `version` comes from.

    steps: one for each file that is replaced (old, new or None, and counts). The caller saves the answer in the ledger
    of its own: that is the moment at which the version stands.
    """
    old = place.content(MANIFEST)
    name = f"manifest.{version - 1:04d}.json"
    place.put(name, old)
    step: Lineage = {
        "version": version,
        "operation": cause.by,
        "reason": cause.reason,
        "time": rfc3339(cause.now),
        "previous": {"path": name, "sha256": hashlib.sha256(old).hexdigest()},
        "kept_old": cause.keeps_old,
        "counts": counts,
        "files": steps,
    }
    if cause.replacing_runs is not None:
        step["replacing_runs"] = cause.replacing_runs
    if cause.judged_by is not None:
        step["judged_by"] = cause.judged_by
    return step


def set_old_aside(place: Place, lineage: Lineage) -> int:
    """Show the new version, then move the replaced files out of the way, or remove them with all earlier ones.

    What expired is removed alone. Safe to repeat. Returns how many were removed.
    """
    manifest = merge(place)
    _remove_indexes(place, lineage)
    if lineage["kept_old"]:
        for old in (name for step in lineage["files"] for name in with_index(step["old"])):
            place.move(old, f"{REPLACED}/{old}")
        return 0
    earlier = [version for version in manifest["lineage"] if version["version"] <= lineage["version"]]
    versions = [lineage] if lineage["operation"] == EXPIRY else earlier
    gone = [name for version in versions for step in version["files"] for name in with_index(step["old"])]
    return sum(place.remove(path) + place.remove(f"{REPLACED}/{path}") for path in gone)


def _remove_indexes(place: Place, lineage: Lineage) -> None:
    """The index of a file that is replaced goes with it: it has the titles of what was withdrawn."""
    if not place.remote:
        for step in lineage["files"]:
            place.remove(index_path(step["old"]))


def held(place: Place, writer: str) -> WriterLock:
    """The lock of a writer, taken. Raises: StorageError where a live process holds it."""
    lock = lock_of(place, writer)
    if not lock.acquire():
        raise AtWorkError(f"{place.url}: {writer!r} is at work; a rewrite needs a finished crawl, so try again later")
    return lock


def check_free(place: Place, writer: str) -> None:
    """Raises: StorageError where a version of this number has come to stand since the manifest was read."""
    if Ledger(place, writer).rewrite:
        raise AtWorkError(f"{place.url}: another operation changed the corpus first; run the same command again")


def rewriters(place: Place) -> set[str]:
    """Names of all rewrites that left a ledger or a file."""
    names = [name.removesuffix(".json") for name in place.listing(LEDGERS) if name.endswith(".json")]
    names += [_writer_of(name) for folder in place.folders() for name in _all_names(place, folder)]
    return {name for name in names if name.startswith(REWRITER)}


def remove_unlisted(place: Place, ledger: Ledger) -> int:
    """Remove files that a crashed rewrite left: they bear its name and stand in no ledger. Returns how many."""
    listed = {name for path in ledger.files for name in with_index(path)}
    stray = [
        f"{folder}/{name}"
        for folder in place.folders()
        for name in _all_names(place, folder)
        if _writer_of(name) == ledger.writer and f"{folder}/{name}" not in listed
    ]
    return sum(place.remove(path) for path in stray)


def _all_names(place: Place, folder: str) -> set[str]:
    local = place.root / folder
    return {*place.listing(folder), *(path.name for path in (local.iterdir() if local.is_dir() else ()))}


def _writer_of(name: str) -> str:
    return name.lstrip(".").partition(".")[0].rpartition("-")[0]
