"""An index file has every field of a shard's records but the text; it names the shard by its SHA-256.

The worker makes it when it seals a shard, `crawler/dataset/record_index.py` where one is missing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from crawler.storage.files.columns import arrow
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk
from crawler.storage.files.parquet import ParquetRows
from crawler.storage.files.place import REJECTED, Place
from crawler.storage.files.records import encode
from crawler.storage.files.shards import read_records

WITHOUT = ("text",)
_SOURCE = "crawler.source"
"""Metadata of an index file: the SHA-256 of the shard it was made of."""


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


def make(place: Place, shard: str, sha256: str, documents: int, path: Path) -> None:
    """Write the index of a sealed shard to `path`, in one step. Memory: one row group.

    Raises: StorageError where pyarrow is missing, the shard is damaged, or the disk fails.
    """
    arrow()
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        rejected, source = shard.startswith(f"{REJECTED}/"), {_SOURCE: sha256}
        with (
            disk(draft),
            draft.open("wb") as target,
            ParquetRows(target, rejected=rejected, without=WITHOUT, metadata=source) as rows,
        ):
            count = _fill(rows, place, shard)
        if count != documents:
            raise StorageError(
                f"{place.path_of(shard)}: {count} records instead of the {documents} that the "
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
