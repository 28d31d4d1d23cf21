"""A query asks the index of a corpus in SQL: DuckDB over `documents`, `rejected` and `files`, for reading alone.

The SQL is somebody's text: one SELECT, no file but the index, no network, no extension, and the configuration locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from crawler.dataset.record_index import empty, refresh
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import INDEX, REJECTED, SHARDS, Place

if TYPE_CHECKING:
    import duckdb

MEMORY = "1GB"
"""What DuckDB may hold; what a query needs beyond it goes to a temporary folder."""
MISSING = "queries need duckdb and pyarrow, which are not installed: pip install 'gristmill[parquet]'"
TABLES = {SHARDS: "documents", REJECTED: "rejected"}
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


class QueryError(StorageError):
    """The SQL is none that can be answered here; the message says why."""


@contextmanager
def query(
    place: Place, sql: str, *, progress: Callable[[str], object] = lambda _: None
) -> Iterator[tuple[list[str], Iterator[tuple[Any, ...]]]]:
    """The names of the columns and the rows of the answer to one SELECT.

    Raises: QueryError; StorageError where a shard is damaged or duckdb is not installed.
    """
    try:
        import duckdb
    except ImportError:
        raise StorageError(MISSING) from None
    with TemporaryDirectory(prefix="query-") as scratch, duckdb.connect(":memory:") as connection:
        folder = Path(scratch) / INDEX if place.remote else place.root / INDEX
        indexes = refresh(place, folder, progress=progress)
        try:
            _prepare(connection, place, indexes, Path(scratch))
            _check(connection, sql)
            answer = connection.execute(sql)
            yield [column[0] for column in answer.description or []], _rows(answer)
        except duckdb.Error as error:
            raise QueryError(f"the query cannot be answered: {error}") from error


def _prepare(
    connection: duckdb.DuckDBPyConnection, place: Place, indexes: dict[str, list[Path]], scratch: Path
) -> None:
    """Make the tables, then close every door behind them."""
    allowed = []
    for kind, table in TABLES.items():
        files = [str(path) for path in indexes[kind]] or [
            str(empty(scratch / f"{kind}.parquet", rejected=kind == REJECTED))
        ]
        allowed += files
        listed = ", ".join(map(_quoted, files))
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet([{listed}], union_by_name=true)")  # noqa: S608
    columns = ", ".join(f"{name} {kind}" for name, kind in FILES.items())
    connection.execute(f"CREATE TABLE files ({columns})")
    rows = [[entry.get(name) for name in FILES] for entry in place.manifest()["files"]]
    if rows:
        connection.executemany(f"INSERT INTO files VALUES ({', '.join('?' * len(FILES))})", rows)  # noqa: S608
    for name, value in (
        ("temp_directory", _quoted(str(scratch / "spill"))),
        ("memory_limit", _quoted(MEMORY)),
        ("autoinstall_known_extensions", "false"),
        ("autoload_known_extensions", "false"),
        ("allowed_paths", f"[{', '.join(map(_quoted, allowed))}]"),
        ("enable_external_access", "false"),
        ("lock_configuration", "true"),
    ):
        connection.execute(f"SET {name} = {value}")


def _check(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    import duckdb

    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise QueryError("expected one SELECT: a query reads the tables documents, rejected and files, and no more")


def _rows(answer: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while rows := answer.fetchmany(1_000):
        yield from rows


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
