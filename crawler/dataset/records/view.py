"""The records of a corpus as tables of DuckDB, under the same names wherever they are asked.

`documents`, `held` and `rejected` have the columns of the index files, `files` what the manifest lists, and `records`
has all kinds of records: every column, and `id`, `file` (its number among the files), `line` (from 0), `state`,
`profile`, and each number of `quality_signals` as `signal_NAME`. A `KeyedTable` is joined to each of the three.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.dataset.records.database import MEMORY, connect, list_of
from crawler.dataset.records.fields import MEASURED, SIGNAL, SIGNALS
from crawler.dataset.records.hidden import CARRIED, DOCUMENTS, NEEDED, ROWS, hide
from crawler.document import DropReason
from crawler.storage.files.columns import EXTRA, STRUCTS, kind_of, rejected_fields
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import HELD, REJECTED, SHARDS
from crawler.storage.files.record_index import WITHOUT, index_file
from crawler.storage.files.records import VERDICT, record_fields
from crawler.storage.types import Entry

if TYPE_CHECKING:
    import duckdb

    from crawler.dataset.refused import Refusals

TABLES = {SHARDS: "documents", REJECTED: "rejected", HELD: "held"}
FILES = {
    "path": "VARCHAR",
    "kind": "VARCHAR",
    "writer": "VARCHAR",
    "sha256": "VARCHAR",
    "bytes": "BIGINT",
    "documents": "BIGINT",
    "uncompressed_bytes": "BIGINT",
    "words": "BIGINT",
    "tokens": "BIGINT",
    "first_crawled_at": "VARCHAR",
    "last_crawled_at": "VARCHAR",
}
"""Columns of the table `files`: sealed files as the manifest lists them."""
LINE_BITS = 28
"""A file has at most 2^28 records; the bits of an `id` above name the file."""
_PLACED = ", filename = true, file_row_number = true"
_TYPES = {"string": "VARCHAR", "json": "VARCHAR", "int64": "BIGINT", "double": "DOUBLE", "bool": "BOOLEAN"}


@dataclass(frozen=True, slots=True)
class KeyedTable:
    """A table that lies beside the records: one row for each value of its keys, which are columns of the records.

    It is a view of its name, and a struct of that name in every record: `SELECT topic.score FROM documents`. For its
    `doc_id` a rejected record has the hash of its file.
    """

    name: str
    files: tuple[Path, ...]
    keys: tuple[str, ...] = ("canonical_url", "doc_id")


def open_view(
    entries: Sequence[Entry],
    folder: Path,
    spill: Path,
    tables: Sequence[KeyedTable] = (),
    *,
    memory: str = MEMORY,
    threads: int | None = None,
    ordered: bool = False,
    refused: Refusals | None = None,
) -> duckdb.DuckDBPyConnection:
    """A connection with the tables of these files of a manifest, whose index files are in `folder`.

    refused: what no table shows although it is there.
    Raises: StorageError where an index file has not as many records as is listed, or duckdb is not installed.
    """
    folder = folder.resolve()
    read = [entry for entry in entries if entry["kind"] in TABLES]
    files = [index_file(folder, entry["path"]) for entry in read]
    readable = [*files, *(path for table in tables for path in table.files)]
    connection = connect(None, spill, readable, memory=memory, threads=threads, ordered=ordered)
    try:
        _check_counts(connection, {str(path): entry["documents"] for path, entry in zip(files, read, strict=True)})
        hides = refused is not None and _hides(connection, files, refused)
        for table in tables:
            rows = f"SELECT * FROM {_parquet(table.files)}"  # noqa: S608
            rows += f" ANTI JOIN {DOCUMENTS} USING (canonical_url, doc_id)" if hides else ""
            connection.execute(f"CREATE VIEW {_name(table.name)} AS {rows}")
        for kind, name in TABLES.items():
            of_kind = [path for path, entry in zip(files, read, strict=True) if entry["kind"] == kind]
            source = _of_files(of_kind, hides) if of_kind else _nothing(kind)
            connection.execute(f"CREATE VIEW {name} AS {_joined(source, tables, kept=kind == SHARDS)}")
        _make_files(connection, entries)
        _make_records(connection, files, keys_of([entry["path"] for entry in read]), tables, hides)
    except BaseException:
        connection.close()
        raise
    return connection


def keys_of(paths: Iterable[str]) -> list[int]:
    """A number for each file that stays when files are added: what stands in a link of a document."""
    keys: list[int] = []
    for path in paths:
        key = int.from_bytes(hashlib.blake2b(path.encode(), digest_size=4).digest()) >> 1
        while key in keys:
            key += 1
        keys.append(key)
    return keys


def _check_counts(connection: duckdb.DuckDBPyConnection, listed: dict[str, int]) -> None:
    """Raises: StorageError where an index file has not as many records as the manifest lists (path -> count)."""
    sql = f"SELECT file_name, num_rows FROM parquet_file_metadata({list_of(map(Path, listed))})"  # noqa: S608  # quoted
    for path, count in connection.execute(sql).fetchall() if listed else ():
        if count != listed[str(path)]:
            raise StorageError(
                f"{path}: {count} records instead of the {listed[str(path)]} that the manifest lists; delete it: "
                "the next query makes it again"
            )


def _of_files(files: Sequence[Path], hides: bool) -> str:
    """A SELECT of what these index files have, without what is hidden."""
    if not hides:
        return f"SELECT * FROM {_parquet(files)}"  # noqa: S608
    source = f"{_parquet(files, _PLACED)} ANTI JOIN {ROWS} USING (filename, file_row_number)"
    return f"SELECT * EXCLUDE (filename, file_row_number) FROM {source}"  # noqa: S608


def _hides(connection: duckdb.DuckDBPyConnection, files: Sequence[Path], refused: Refusals) -> bool:
    """True where something had to be hidden (`hide`)."""
    if not (files and refused):
        return False
    source = _parquet(files, _PLACED)
    there = _columns_of(connection, source)
    named = ", ".join(f"{_value(name, there)} AS {_name(name)}" for name in NEEDED)
    carries = " OR ".join(f"{_name(name)} IS NOT NULL" for name in CARRIED if name in there) or "false"
    chosen = f"SELECT filename, file_row_number, {named}, ({carries}) AS carries FROM {source}"  # noqa: S608
    return hide(connection, chosen, refused)


def _columns_of(connection: duckdb.DuckDBPyConnection, source: str) -> set[str]:
    return {str(column[0]) for column in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}  # noqa: S608


def _value(name: str, there: set[str]) -> str:
    """A column of an index file that has the columns `there`; others are NULL."""
    return _name(name) if name in there else f"NULL::{_type_of(kind_of(name))}"


def _make_files(connection: duckdb.DuckDBPyConnection, entries: Sequence[Entry]) -> None:
    _make_table(connection, "files", FILES, [[entry.get(name) for name in FILES] for entry in entries])


def _make_records(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    keys: Sequence[int],
    tables: Sequence[KeyedTable],
    hides: bool,
) -> None:
    rows = [[str(path), number, key << LINE_BITS] for number, (path, key) in enumerate(zip(files, keys, strict=True))]
    columns = {"filename": "VARCHAR", "number": "INTEGER", "first": "BIGINT"}
    _make_table(connection, "index_files", columns, rows)
    source = _parquet(files, _PLACED)
    if not files:
        source = "(SELECT NULL::VARCHAR AS filename, NULL::BIGINT AS file_row_number WHERE false)"
    there = _columns_of(connection, source)
    source += f" ANTI JOIN {ROWS} USING (filename, file_row_number)" if hides else ""
    chosen = _columns(f"{source} JOIN index_files USING (filename)", there)
    connection.execute(f"CREATE VIEW records AS {_joined(chosen, tables, kept=False)}")


def _columns(source: str, there: set[str]) -> str:
    """A SELECT of the columns of `records` from an index file with the columns `there`; others are NULL."""

    reason, signals = _value("reason", there), _value(MEASURED, there)
    values = {
        "id": "first + file_row_number",
        "file": "number",
        "line": "file_row_number",
        "state": f"CASE WHEN {reason} IS NULL THEN 'kept' WHEN {reason} LIKE 'hold\\_%' ESCAPE '\\' THEN 'hold' "
        f"WHEN {reason} LIKE 'held\\_%' ESCAPE '\\' THEN 'held' "
        f"WHEN {reason} = '{DropReason.UNCHANGED.value}' THEN 'unchanged' ELSE 'rejected' END",
        "profile": f"json_extract_string({signals}, '$.profile')",
    }
    values |= {name: _value(name, there) for name in (*VERDICT, *record_fields(), EXTRA) if name not in WITHOUT}
    values |= {  # each by itself: a question parses those it names
        name: f"TRY_CAST(json_extract_string({signals}, '$.\"{name.removeprefix(SIGNAL)}\"') AS DOUBLE)"
        for name in SIGNALS
    }
    row = ", ".join(f"{sql} AS {_name(name)}" for name, sql in values.items())
    return f"SELECT {row} FROM {source}"  # noqa: S608  # our own names


_WHOSE = (
    "CASE WHEN r.reason IS NULL THEN r.doc_id WHEN r.reason NOT LIKE 'held\\_%' ESCAPE '\\' THEN r.content_hash END"
)
"""What rows are about, among records that are not all kept (`annotations.tables.document_of`)."""


def _joined(source: str, tables: Sequence[KeyedTable], *, kept: bool) -> str:
    """A SELECT with one more column, a struct, for each table that lies beside. kept: no record has a reason."""
    of = {} if kept else {"doc_id": _WHOSE}
    for table in tables:
        name = _name(table.name)
        same = " AND ".join(f"{of.get(key, f'r.{_name(key)}')} = {name}.{_name(key)}" for key in table.keys)
        source = f"SELECT r.*, {name} AS {name} FROM ({source}) AS r LEFT JOIN {name} ON {same}"  # noqa: S608
    return source


def _nothing(kind: str) -> str:
    names = [*(record_fields() if kind == SHARDS else rejected_fields()), EXTRA]
    row = ", ".join(f"NULL::{_type_of(kind_of(name))} AS {_name(name)}" for name in names if name not in WITHOUT)
    return f"SELECT {row} WHERE false"  # our own names


def _type_of(kind: str) -> str:
    """The SQL type of a column (`kind_of`)."""
    if not kind.startswith("list<"):
        return _TYPES[kind]
    inner = kind[5:-1]
    parts = ", ".join(f"{_name(name)} {_TYPES[of]}" for name, of in STRUCTS.get(inner, {}).items())
    return f"STRUCT({parts})[]" if parts else f"{_TYPES[inner]}[]"


def _make_table(
    connection: duckdb.DuckDBPyConnection, name: str, columns: dict[str, str], rows: Sequence[Sequence[Any]]
) -> None:
    connection.execute(f"CREATE TABLE {name} ({', '.join(f'{column} {kind}' for column, kind in columns.items())})")
    if rows:
        connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)  # noqa: S608


def _parquet(files: Iterable[Path], options: str = "") -> str:
    return f"read_parquet({list_of(files)}, union_by_name = true{options})"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
