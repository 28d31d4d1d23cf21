"""`fit/00000.parquet`: how well captions fit their images, as a language model says; `key` names the sample.

A row goes with its sample, in the same version of the manifest, and so does the answer that it was made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from crawler.images.folder import FIT, Folder, entry_of
from crawler.images.rows import Row, read_rows, write_rows
from crawler.llm.caption import COLUMNS as SAID
from crawler.llm.tool import MONEY_COLUMNS, Column
from crawler.storage.corpus.answers import LEDGER, forgetting
from crawler.storage.files.columns import arrow
from crawler.storage.files.journal import PART, disk
from crawler.storage.files.place import Place

COLUMNS: Mapping[str, Column] = {
    "key": Column("string", "of the sample"),
    "url": Column("string", "of the image"),
    "sha256": Column("string", "of its file in the tar"),
    **SAID,
    **MONEY_COLUMNS,
}
"""Columns of the table."""


def fit_rows(folder: Folder, manifest: dict[str, Any]) -> Iterator[Row]:
    """Every row, in the order of the keys. Raises: StorageError where the table is damaged."""
    for entry in _entries(manifest):
        yield from read_rows(folder.root / entry["path"])


def write_fit(folder: Folder, rows: Iterator[Row]) -> list[dict[str, Any]]:
    """The table as `.part`; its entry for the manifest, none where it has no row. Raises: StorageError."""
    pa = arrow()
    kinds = {"string": pa.string(), "int64": pa.int64(), "double": pa.float64()}
    schema = pa.schema([(name, kinds[column.kind]) for name, column in COLUMNS.items()])
    name = f"{FIT}/00000.parquet"
    part = folder.root / f"{name}{PART}"
    with disk(part):
        part.parent.mkdir(exist_ok=True)
        count = write_rows(part, rows, schema)
        if not count:
            part.unlink()
    return [entry_of(name, part, 0) | {"rows": count}] if count else []


def fit_without(folder: Folder, manifest: dict[str, Any], stays: Callable[[str], bool]) -> list[dict[str, Any]]:
    """The entries of the table once samples have left; nothing is written where no row goes. stays: by the key."""
    if all(stays(row["key"]) for row in fit_rows(folder, manifest)):
        return _entries(manifest)
    return write_fit(folder, (row for row in fit_rows(folder, manifest) if stays(row["key"])))


def forget_answers(folder: Folder, urls: Iterable[str]) -> None:
    """Take out of the ledger of `gristmill llm caption` what was answered about images. Raises: StorageError."""
    if (gone := set(urls)) and (folder.root / LEDGER).is_file():
        with forgetting(Place(str(folder.root))) as forget:
            forget(gone)


def _entries(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in manifest["files"] if entry["path"].startswith(f"{FIT}/")]
