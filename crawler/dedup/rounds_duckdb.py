"""The engine of `rounds.py` on one machine: DuckDB, which spills to the disk what its memory limit cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.dedup.rounds import decide_in_order
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
    if not len(mine):
        return arrow().array([], "int64")
    return arrow().array((_rows_of(mine) == _rows_of(theirs)).sum(axis=1, dtype=np.int64))


def _rows_of(signatures: Any) -> Any:
    """Signatures of one length as rows of bytes, (n, length), uint8."""
    parts = []
    for chunk in signatures.chunks:
        _, offsets, values = chunk.buffers()
        places = np.frombuffer(offsets, np.int32)[chunk.offset :][: len(chunk) + 1]
        parts.append(np.frombuffer(values, np.uint8)[places[0] : places[-1]])
    return np.concatenate(parts).reshape(len(signatures), -1)
