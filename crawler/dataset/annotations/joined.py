"""Annotations join the records: as a struct of their name in the tables of DuckDB, and in records as they are read."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from crawler.dataset.annotations.tables import KEYS, annotation_files, key_of, name_of, read_table, write_table
from crawler.dataset.records.fields import Field, stored
from crawler.dataset.records.filters import Condition, Joined
from crawler.dataset.records.view import KeyedTable
from crawler.storage.corpus.manifest import Ledger
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record
from crawler.storage.types import Entry


def tables_of(place: Place, entries: Iterable[Entry], scratch: Path) -> list[KeyedTable]:
    """The annotations among these files of a manifest, for `records.view.open_view`; a remote one is copied first.

    Raises: StorageError where a file is not there.
    """
    found: dict[str, list[Path]] = {}
    for entry in annotation_files(entries):
        path = scratch / entry["path"] if place.remote else place.root / entry["path"]
        if place.remote:
            path.parent.mkdir(parents=True, exist_ok=True)
            with place.open_listed(entry["path"]) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
        found.setdefault(name_of(entry["path"]), []).append(path.resolve())
    return [KeyedTable(name, tuple(paths), KEYS) for name, paths in found.items()]


def fields_of(place: Place) -> dict[str, Field]:
    """What a condition on a record may name beside its own fields: `NAME.COLUMN`. Raises: StorageError."""
    found: dict[str, Field] = {}
    for entry in annotation_files(place.manifest()["files"]):
        name = name_of(entry["path"])
        for column, each in entry["job"]["columns"].items():
            kind = {"float": "double"}.get(each["type"], each["type"])
            found[f"{name}.{column}"] = stored(column, kind, name)
    return found


def reader_of(place: Place, conditions: Iterable[Condition]) -> Callable[[Record], Record]:
    """Gives a record the annotations that the conditions name, as objects.

    Needs about 0.5 kB of memory a row of these annotations. Raises: StorageError where a file is damaged.
    """
    wanted: dict[str, list[str]] = {}
    known = fields_of(place)
    for name in dict.fromkeys(name for condition in conditions for name in _named(condition) if name in known):
        annotation, _, column = name.partition(".")
        wanted.setdefault(annotation, []).append(column)
    rows = {name: _rows(place, name, columns) for name, columns in wanted.items()}

    def annotated(record: Record) -> Record:
        document = key_of(record)
        return record | {name: found[document] for name, found in rows.items() if document in found}

    return annotated if rows else lambda record: record


def _named(condition: Condition) -> list[str]:
    """The fields that a condition names."""
    if isinstance(condition, Joined):
        return [name for part in condition.parts for name in _named(part)]
    return [condition.field.name]


def _rows(place: Place, name: str, columns: list[str]) -> dict[bytes, dict[str, Any]]:
    files = [entry for entry in annotation_files(place.manifest()["files"]) if name_of(entry["path"]) == name]
    rows = (row for entry in files for row in read_table(place, entry["path"], [*KEYS, *columns]))
    return {key_of(row): {column: row[column] for column in columns} for row in rows}


def carry(source: Place, target: Place, ledger: Ledger, documents: set[bytes], *, first: int = 0) -> None:
    """Write the annotations of these documents of `source` into a corpus that is made of it.

    first: number of the first file. Raises: StorageError where a file is damaged, or the disk or the store fails.
    """
    for number, entry in enumerate(annotation_files(source.manifest()["files"]), first):
        rows = (row for row in read_table(source, entry["path"]) if key_of(row) in documents)
        path = f"{entry['path'].rpartition('/')[0]}/{ledger.writer}-{number:06d}.parquet"
        written = write_table(target.root / path, entry["job"], rows)
        if written["documents"]:
            target.publish(path)
            ledger.add(path, written)
            target.forget_local(path)
        else:
            target.discard_local(path)
