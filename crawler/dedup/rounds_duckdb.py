"""The engine of `rounds.py` on one machine: DuckDB, which spills to the disk what its memory limit cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.dedup.rounds import agreements, decide_in_order
from crawler.storage.files.columns import arrow

if TYPE_CHECKING:
    import duckdb


class DuckTables:
    """The tables of one connection (`crawler.dataset.records.database.connect`)."""

    explode = "unnest"

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        define: Any = connection.create_function  # its types know no "arrow"
        define("agreeing", _agreeing, ["BLOB", "BLOB"], "BIGINT", type="arrow")

    def make(self, name: str, query: str) -> None:
        """See `Tables`."""
        self._run(f"CREATE OR REPLACE TABLE made AS {query}")
        self.drop(name)
        self._run(f"ALTER TABLE made RENAME TO {name}")

    def count(self, name: str) -> int:
        """See `Tables`."""
        found = self._connection.execute(f"SELECT count(*) FROM {name}").fetchone()  # noqa: S608  # names of our own
        return int(found[0]) if found else 0

    def append(self, name: str, query: str) -> None:
        """See `Tables`."""
        self._run(f"INSERT INTO {name} {query}")

    def decide(self, name: str, query: str) -> None:
        """See `Tables`."""
        pa = arrow()
        said = list(decide_in_order(self._connection.execute(query).fetchall()))
        columns = [pa.array(column, pa.int64()) for column in zip(*said, strict=True)]
        self._connection.register("said", pa.Table.from_arrays(columns, ["ord", "st"]))
        self.make(name, "SELECT * FROM said")
        self._connection.unregister("said")

    def drop(self, name: str) -> None:
        """See `Tables`."""
        self._run(f"DROP TABLE IF EXISTS {name}")

    def _run(self, statement: str) -> None:
        self._connection.execute(statement)


def _agreeing(mine: Any, theirs: Any) -> Any:
    return arrow().array(agreements(mine.to_pylist(), theirs.to_pylist()), "int64")
