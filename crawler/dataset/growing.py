"""Files that workers are still writing, counted as if they were sealed now: so the first minutes have figures, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson

from crawler.number import number_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import PART
from crawler.storage.files.place import ARCHIVE, FOLDERS, Place
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_lines
from crawler.storage.files.tally import Tally
from crawler.storage.types import Entry, Manifest

_TRIES = 5


def with_growing(place: Place) -> tuple[Manifest, int]:
    """The manifest with an entry for each file in progress, which its path tells (`.part`); and how many those are.

    Looks at a local corpus; the files of a remote one grow in the spools of its workers. A file that is sealed
    meanwhile makes it look again. Raises: StorageError where there is no corpus.
    """
    manifest = place.manifest()
    if place.remote:
        return manifest, 0
    for _ in range(_TRIES):
        found = list(_entries(place, manifest))
        again = place.manifest()
        if again["files"] == manifest["files"]:
            return {**manifest, "files": [*manifest["files"], *found]}, len(found)
        manifest = again
    return manifest, 0


def unsealed_note(place: Place) -> str:
    """That records are in files that workers have not sealed yet, for whoever reads sealed ones alone; else empty.

    Of a local corpus: the files of a remote one grow elsewhere.
    """
    growing = 0 if place.remote else sum(1 for name in FOLDERS if name != ARCHIVE
                                         for _ in (place.root / name).glob(f"*{PART}"))  # fmt: skip
    if not growing:
        return ""
    they = "it is" if growing == 1 else "they are"
    return f"{number_of(growing, 'file')} in progress not counted: {they} sealed when the crawl ends, or when full"


def records_in_progress(path: Path) -> Iterator[Record]:
    """The records of a journal so far; nothing of what its worker has written in part."""
    try:
        for line in read_lines(path):
            if line.endswith(b"\n"):
                yield orjson.loads(line)
    except (StorageError, orjson.JSONDecodeError):  # a frame of which the disk has not all yet
        return


def _entries(place: Place, manifest: Manifest) -> Iterator[Entry]:
    sealed = {entry["path"] for entry in (*manifest["files"], *manifest["retired"])}
    for folder in FOLDERS:
        if folder == ARCHIVE:
            continue
        for path in sorted((place.root / folder).glob(f"*{PART}")):
            relative = f"{folder}/{path.name}"
            if relative.removesuffix(PART) in sealed:
                continue
            tally = Tally()
            for record in records_in_progress(path):
                tally.add(record)
            if tally.documents:
                entry = tally.entry({"sha256": "", "bytes": 0}, 0)
                entry.pop("archives", None)
                kind, writer = folder.partition("/")[0], path.name.rpartition("-")[0]
                yield {**entry, "path": relative, "kind": kind, "writer": writer}  # type: ignore[typeddict-item]
