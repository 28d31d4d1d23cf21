"""A query asks the index of a corpus in SQL: one SELECT over the tables of `records/view.py`, for reading alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from crawler.dataset.annotations.joined import tables_of
from crawler.dataset.records.database import MISSING, rows_of
from crawler.dataset.records.view import open_view
from crawler.dataset.registry.behind import refusals_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import INDEX, Place
from crawler.storage.files.record_index import refresh

if TYPE_CHECKING:
    import duckdb


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
    with TemporaryDirectory(prefix="query-") as scratch:
        folder = Path(scratch) / INDEX if place.remote else place.root / INDEX
        listed = refresh(place, folder, progress=progress)
        try:
            beside = tables_of(place, listed, Path(scratch))
            spill, refused = Path(scratch) / "spill", refusals_of([place])
            with open_view(listed, folder, spill, beside, ordered=True, refused=refused) as connection:
                _check(connection, sql)
                answer = connection.execute(sql)
                yield [column[0] for column in answer.description or []], rows_of(answer)
        except duckdb.Error as error:
            raise QueryError(f"the query cannot be answered: {error}") from error


def _check(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    import duckdb

    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise QueryError("expected one SELECT: a query reads documents, rejected, records and files, and no more")
