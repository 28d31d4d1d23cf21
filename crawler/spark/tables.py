"""The engine of `crawler/dedup/rounds.py` on a cluster: DataFrames, each written as Parquet where all executors read.

Files instead of cached partitions: an executor that is lost takes no result along, and no plan grows with the rounds.
The driver holds names and counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from crawler.dedup.rounds import decide_in_order

TEXTS = "ord long, owner string, digest binary, signature binary, bands array<long>, needed long"
"""The columns of `rounds.TEXTS` as Spark writes them."""
_DECIDED = "ord long, st int"


class SparkTables:
    """Tables as folders below `folder`, a path or URL that Spark writes to. remove: deletes such a folder."""

    explode = "explode"

    def __init__(self, session: Any, folder: str, remove: Callable[[str], object]) -> None:
        from pyspark.sql.functions import udf

        self._session, self._folder, self._remove = session, folder, remove
        self._paths: dict[str, str] = {}
        self._schemas: dict[str, Any] = {}
        self._made = 0
        session.udf.register("agreeing", udf(_agreeing, "long", useArrow=False))

    def put(self, name: str, frame: Any) -> None:
        """Make a table of a DataFrame."""
        self._made += 1
        path, before = f"{self._folder}/{name}-{self._made:04d}", self._paths.get(name)
        frame.write.mode("overwrite").parquet(path)
        self._paths[name], self._schemas[name] = path, frame.schema
        self._show(name)
        if before is not None:
            self._remove(before)

    def make(self, name: str, query: str) -> None:
        """See `Tables`."""
        self.put(name, self._session.sql(query))

    def count(self, name: str) -> int:
        """See `Tables`."""
        return int(self._session.table(name).count())

    def append(self, name: str, query: str) -> None:
        """See `Tables`."""
        self._session.sql(query).write.mode("append").parquet(self._paths[name])
        self._show(name)

    def decide(self, name: str, query: str) -> None:
        """See `Tables`. One task, on an executor."""
        rows = self._session.sql(query).coalesce(1).sortWithinPartitions("ord").rdd
        self.put(name, self._session.createDataFrame(rows.mapPartitions(_decide), _DECIDED))

    def drop(self, name: str) -> None:
        """See `Tables`."""
        if (path := self._paths.pop(name, None)) is not None:
            self._session.catalog.dropTempView(name)
            self._remove(path)

    def _show(self, name: str) -> None:
        """Read the files of a table as they are now, also where there are none."""
        frame = self._session.read.schema(self._schemas[name]).parquet(self._paths[name])
        frame.createOrReplaceTempView(name)


def _agreeing(mine: bytes, theirs: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(mine, np.uint8) == np.frombuffer(theirs, np.uint8)))


def _decide(rows: Iterable[Any]) -> Iterator[tuple[int, int]]:
    return decide_in_order(tuple(row) for row in rows)
