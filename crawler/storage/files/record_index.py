"""The index has every field of every record but the text: one small Parquet file beside each shard, made of it.

The worker writes it when it seals a shard; `refresh` makes what is missing and brings `index/` up to date with the
manifest. A file names its shard by the SHA-256, so one of another version is never taken for it, and one whose shard
is replaced or withdrawn goes with it (`crawler/dataset/versions.py`).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from crawler.storage.files.columns import arrow
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk
from crawler.storage.files.parquet import ParquetRows
from crawler.storage.files.place import INDEX, PAGES, SHARDS, Place, index_path
from crawler.storage.files.records import encode
from crawler.storage.files.shards import read_records
from crawler.storage.types import Entry, Sealed

logger = logging.getLogger(__name__)

WITHOUT = ("text",)
"""Fields that no index file has."""
_SOURCE = "crawler.source"
"""Metadata of an index file: the SHA-256 of the shard it was made of."""


def refresh(place: Place, folder: Path, *, progress: Callable[[str], object] = lambda _: None) -> list[Entry]:
    """Make `folder` (of a local corpus its own) hold the index of every listed shard and no other; what is listed.

    progress: called with the path of each shard that is read. Memory: one row group.
    Raises: StorageError where a shard is damaged, or the folder cannot be written.
    """
    wanted, listed = set(), place.manifest()["files"]
    for entry in listed:
        if entry["kind"] in PAGES:
            path = index_file(folder, entry["path"])
            if source_of(path) != entry["sha256"]:
                progress(entry["path"])
                make(place, entry["path"], entry["sha256"], entry["documents"], path)
            wanted.add(path)
    for stray in _strays(folder, wanted):
        stray.unlink(missing_ok=True)
    return listed


def index_file(folder: Path, shard: str) -> Path:
    """The index file of a listed shard in a folder of index files."""
    return folder / Path(index_path(shard)).relative_to(INDEX)


def _strays(folder: Path, wanted: set[Path]) -> Iterator[Path]:
    for path in folder.rglob("*.parquet"):
        if path not in wanted and not path.name.startswith("."):
            yield path
    yield from drafts_of_the_dead(folder)


def drafts_of_the_dead(folder: Path) -> Iterator[Path]:
    """Half-written index files, named `.NAME.PROCESS.tmp`, of workers and queries that were killed on this machine."""
    for draft in folder.rglob(".*.tmp"):
        process = draft.name.split(".")[-2]
        if process.isdigit() and not psutil.pid_exists(int(process)):
            yield draft


def source_of(path: Path) -> str | None:
    """The SHA-256 of the shard; None where there is no index file, or none that can be read."""
    if not path.exists():
        return None
    pa = arrow()
    try:
        metadata: dict[bytes, bytes] = pa.parquet.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError):
        return None
    return metadata.get(_SOURCE.encode(), b"").decode()


def make_at_seal(place: Place, shard: str, sealed: Sealed) -> bool:
    """Write the index of a local shard that has just been sealed, where pyarrow is installed; True where it is there.

    A failure costs no page: the next query makes it.
    """
    if place.remote or find_spec("pyarrow") is None:
        return False
    try:
        make(place, shard, sealed["sha256"], sealed["documents"], place.root / index_path(shard))
    except Exception as error:  # pyarrow raises errors of its own, and the shard is safe
        logger.warning("%s: its index was not written (%s); the next query makes it", shard, error)
        return False
    return True


def make(place: Place, shard: str, sha256: str, documents: int, path: Path) -> None:
    """Write the index of a sealed shard to `path`, in one step. Memory: one row group.

    Raises: StorageError where pyarrow is missing, the shard is damaged, or the disk fails.
    """
    arrow()
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        rejected, source = not shard.startswith(f"{SHARDS}/"), {_SOURCE: sha256}
        with (
            disk(draft),
            draft.open("wb") as target,
            ParquetRows(target, rejected=rejected, without=WITHOUT, metadata=source) as rows,
        ):
            count = _fill(rows, place, shard)
        if count != documents:
            raise StorageError(
                f"{place.path_of(shard)}: {count} records instead of the {documents} that the "
                f"manifest lists; `gristmill dataset verify {place.url}` says more"
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
