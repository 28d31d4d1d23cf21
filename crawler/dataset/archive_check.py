"""Part of `dataset verify`: does each archive hold what its index says, and each shard what its sources say?"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import IO

from crawler.storage.archive.cdxj import index_of, scan
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE, Place
from crawler.storage.types import Entry, Manifest


def check_archive(place: Place, entry: Entry) -> None:
    """Read every record of an archive and compare it with the manifest and the index beside it.

    Archives of versions before the index have none, and none is asked for. Raises: StorageError; OSError.
    """
    with place.open_listed(entry["path"]) as file:
        pages = list(_lines(file, entry))
    found = sum(not revisit for revisit, _ in pages)
    if found != entry["documents"]:
        raise StorageError(f"{found} pages instead of {entry['documents']}; restore the file from a copy")
    if "index" in entry:
        _check_index(place, entry, b"".join(sorted(line for _, line in pages)))


def check_sources(entry: Entry, seen: Counter[str], known: Manifest) -> None:
    """Compare the archives that the records of a shard name with those of its manifest entry.

    known: the manifest. Raises: StorageError.
    """
    listed = entry.get("archives")
    if listed is None:
        return
    if {path: source["documents"] for path, source in listed.items()} != dict(seen):
        raise StorageError("its records name other archives than the manifest; restore the file from a copy")
    if any(run["ended"] is None for run in known["runs"]):
        return  # an archive may still be growing
    lost = [path for path, source in listed.items() if path.startswith(f"{ARCHIVE}/") and source["sha256"] is None]
    if lost:
        raise StorageError(f"its records come from {', '.join(lost)}, which the manifest does not know")


def expired_sources(manifest: Manifest) -> tuple[int, int]:
    """How many archives have expired that records still name, and how many records those are."""
    sources = [item for entry in manifest["files"] for item in (entry.get("archives") or {}).items()]
    gone = [(path, source["documents"]) for path, source in sources if "expired" in source]
    return len({path for path, _ in gone}), sum(documents for _, documents in gone)


def _lines(file: IO[bytes], entry: Entry) -> Iterator[tuple[bool, bytes]]:
    """(is it a revisit, its index line) of each record."""
    name = entry["path"].rpartition("/")[2]
    for page in scan(file):
        yield page.revisit, page.line(name)


def _check_index(place: Place, entry: Entry, expected: bytes) -> None:
    path = index_of(entry["path"])
    again = "`gristmill dataset verify --fix` writes it again"
    try:
        with place.open(path) as file:
            content = file.read()
    except FileNotFoundError:
        raise StorageError(f"its index {path} is missing; {again}") from None
    if hashlib.sha256(content).hexdigest() != entry["index"]["sha256"]:
        raise StorageError(f"the index {path} is not the one in the manifest; remove it, and {again}")
    if content != expected:
        raise StorageError(f"the index {path} does not say what is in the archive; remove it, and {again}")
