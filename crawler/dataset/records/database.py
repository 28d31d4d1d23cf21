"""Every DuckDB of this project is opened here: with a bound on its memory, and closed to all but the files it is given.

SQL in it may be somebody's text: no other file, no network, no extension, and the configuration is locked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from crawler.storage.files.columns import arrow
from crawler.storage.files.errors import StorageError

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")
MEMORY = "1GB"
"""What DuckDB may hold; what a question needs beyond it goes to a temporary folder."""
ROWS = 10_000
"""Rows that go into a table at a time."""
MISSING = "this needs duckdb and pyarrow, which are not installed: pip install 'gristmill[parquet]'"


def connect(
    file: Path | None,
    spill: Path,
    files: Iterable[Path] = (),
    *,
    memory: str = MEMORY,
    threads: int | None = None,
    ordered: bool = False,
) -> duckdb.DuckDBPyConnection:
    """A database in `file` (None: in memory) that reads `files` and writes what it cannot hold to `spill`.

    ordered: an answer without ORDER BY has the order of the files, which takes more memory.
    Raises: StorageError where duckdb or pyarrow is not installed.
    """
    try:
        import duckdb
    except ImportError:
        raise StorageError(MISSING) from None
    arrow()
    connection = duckdb.connect(str(file or ":memory:"))
    for name, value in (
        ("memory_limit", quoted(memory)),
        *((("threads", str(threads)),) if threads else ()),
        ("preserve_insertion_order", str(ordered)),
        ("enable_progress_bar", "false"),  # a process made by `spawn` looks interactive to DuckDB: it would draw one
        ("parquet_metadata_cache", "true"),
        ("temp_directory", quoted(spill)),
        ("autoinstall_known_extensions", "false"),
        ("autoload_known_extensions", "false"),
        ("allowed_paths", list_of(files)),
        ("enable_external_access", "false"),
        ("lock_configuration", "true"),
    ):
        connection.execute(f"SET {name} = {value}")
    return connection


def fill(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, str], rows: Iterable[tuple[Any, ...]]
) -> None:
    """Make a table of rows, some at a time. columns: DuckDB's type by name; rows in that order."""
    pa = arrow()
    types = {"BIGINT": pa.int64(), "UBIGINT": pa.uint64(), "VARCHAR": pa.string(), "BLOB": pa.binary()}
    types["BOOLEAN"] = pa.bool_()
    types |= {"DOUBLE": pa.float64(), "BIGINT[]": pa.list_(pa.int64())}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())})")
    for some in in_turns(rows, ROWS):
        arrays = [pa.array(column, schema.field(n).type) for n, column in enumerate(zip(*some, strict=True))]
        batch = pa.Table.from_arrays(arrays, schema=schema)
        connection.register("batch", batch)
        connection.execute(f"INSERT INTO {table} SELECT * FROM batch")  # noqa: S608  # names of our own
        connection.unregister("batch")


def rows_of(answer: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """The rows of an answer, some at a time in memory."""
    while rows := answer.fetchmany(1_000):
        yield from rows


def in_turns(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most `size` items."""
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some


def list_of(files: Iterable[Path]) -> str:
    """Paths as a list in SQL."""
    return f"[{', '.join(map(quoted, files))}]"


def quoted(text: Path | str) -> str:
    """Text as a literal in SQL."""
    return "'" + str(text).replace("'", "''") + "'"
