"""The index has every field of every record but the text: one small Parquet file beside each shard, made of it.

`refresh` brings `index/` up to date with the manifest: it names the shard by its SHA-256, so a file of another version
is never taken for it. A file whose shard is replaced or withdrawn goes with it (`versions.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from crawler.dataset.rewrite import read_files
from crawler.storage.files.columns import arrow
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk
from crawler.storage.files.parquet import ParquetRows
from crawler.storage.files.place import INDEX, REJECTED, SHARDS, Place, index_path
from crawler.storage.files.records import encode
from crawler.storage.files.shards import read_records
from crawler.storage.types import Entry

WITHOUT = ("text",)
_SOURCE = "crawler.source"
"""Metadata of an index file: the SHA-256 of the shard it was made of."""


def refresh(place: Place, folder: Path, *, progress: Callable[[str], object] = lambda _: None) -> dict[str, list[Path]]:
    """Make `folder` (of a local corpus its own) hold the index of every listed shard and no other; its files by kind.

    progress: called with the path of each shard that is read. Memory: one row group.
    Raises: StorageError where a shard is damaged, or the folder cannot be written.
    """
    found: dict[str, list[Path]] = {SHARDS: [], REJECTED: []}
    for entry in read_files(place, (SHARDS, REJECTED)):
        path = folder / Path(index_path(entry["path"])).relative_to(INDEX)
        if _source_of(path) != entry["sha256"]:
            progress(entry["path"])
            _make(place, entry, path)
        found[entry["kind"]].append(path)
    for stray in _strays(folder, {path for paths in found.values() for path in paths}):
        stray.unlink(missing_ok=True)
    return found


def empty(path: Path, *, rejected: bool) -> Path:
    """An index file without records, for a corpus that has none of this kind."""
    with disk(path), path.open("wb") as target, ParquetRows(target, rejected=rejected, without=WITHOUT):
        return path


def _source_of(path: Path) -> str | None:
    """The SHA-256 of the shard; None where there is no index file, or none that can be read."""
    if not path.exists():
        return None
    pa = arrow()
    try:
        metadata: dict[bytes, bytes] = pa.parquet.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError):
        return None
    return metadata.get(_SOURCE.encode(), b"").decode()


def _make(place: Place, entry: Entry, path: Path) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        rejected, source = entry["kind"] == REJECTED, {_SOURCE: entry["sha256"]}
        with (
            disk(draft),
            draft.open("wb") as target,
            ParquetRows(target, rejected=rejected, without=WITHOUT, metadata=source) as rows,
        ):
            count = _fill(rows, place, entry["path"])
        if count != entry["documents"]:
            raise StorageError(
                f"{place.path_of(entry['path'])}: {count} records instead of the {entry['documents']} that the "
                f"manifest lists; `scrapy dataset verify {place.url}` says more"
            )
        with disk(path):
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _fill(rows: ParquetRows, place: Place, path: str) -> int:
    count = 0
    for record in read_records(place, path):
        rest: dict[str, Any] = {name: value for name, value in record.items() if name not in WITHOUT}
        rows.add(rest, len(encode(rest)))
        count += 1
    return count


def _strays(folder: Path, wanted: set[Path]) -> Iterator[Path]:
    for path in folder.rglob("*.parquet"):
        if path not in wanted and not path.name.startswith("."):
            yield path
