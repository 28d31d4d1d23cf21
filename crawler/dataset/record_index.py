"""The index has every field of every record but the text: one small Parquet file beside each shard, made of it.

The worker writes it when it seals a shard; `refresh` makes what is missing and brings `index/` up to date with the
manifest: it names the shard by its SHA-256, so a file of another version
is never taken for it. A file whose shard is replaced or withdrawn goes with it (`versions.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from crawler.dataset.rewrite import read_files
from crawler.storage.files.journal import disk
from crawler.storage.files.parquet import ParquetRows
from crawler.storage.files.place import INDEX, REJECTED, SHARDS, Place, index_path
from crawler.storage.files.record_index import WITHOUT, make, source_of


def refresh(place: Place, folder: Path, *, progress: Callable[[str], object] = lambda _: None) -> dict[str, list[Path]]:
    """Make `folder` (of a local corpus its own) hold the index of every listed shard and no other; its files by kind.

    progress: called with the path of each shard that is read. Memory: one row group.
    Raises: StorageError where a shard is damaged, or the folder cannot be written.
    """
    found: dict[str, list[Path]] = {SHARDS: [], REJECTED: []}
    for entry in read_files(place, (SHARDS, REJECTED)):
        path = folder / Path(index_path(entry["path"])).relative_to(INDEX)
        if source_of(path) != entry["sha256"]:
            progress(entry["path"])
            make(place, entry["path"], entry["sha256"], entry["documents"], path)
        found[entry["kind"]].append(path)
    for stray in _strays(folder, {path for paths in found.values() for path in paths}):
        stray.unlink(missing_ok=True)
    return found


def empty(path: Path, *, rejected: bool) -> Path:
    """An index file without records, for a corpus that has none of this kind."""
    with disk(path), path.open("wb") as target, ParquetRows(target, rejected=rejected, without=WITHOUT):
        return path


def _strays(folder: Path, wanted: set[Path]) -> Iterator[Path]:
    for path in folder.rglob("*.parquet"):
        if path not in wanted and not path.name.startswith("."):
            yield path
    for draft in folder.rglob(".*.tmp"):  # .NAME.PROCESS.tmp, of a worker or a query that was killed
        writer = draft.name.split(".")[-2]
        if writer.isdigit() and not psutil.pid_exists(int(writer)):
            yield draft
