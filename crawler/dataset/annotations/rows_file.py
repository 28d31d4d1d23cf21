"""Rows of annotations are read from a file of another tool, or of people: JSON lines or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from crawler.dataset.annotations.tables import KEYS, ROWS, kind_of_arrow
from crawler.problems import InputError
from crawler.storage.files.columns import arrow

MAX_LINE = 2**24
"""Bytes of one row in JSON."""
_OF_PYTHON = {str: "string", bool: "bool", int: "int64", float: "double"}


class RowsFile:
    """A file of rows, to be read as often as it takes.

    Raises: InputError where its name ends neither with .jsonl nor with .parquet, or it is not there; StorageError
    where it is Parquet and pyarrow is not installed.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix not in (".jsonl", ".parquet"):
            raise InputError([f"{path}: expected a file of rows whose name ends with .jsonl or .parquet"])
        if not path.is_file():
            raise InputError([f"{path}: no such file; expected the rows of the annotation"])
        self._path = path
        self._pa = arrow()

    def columns(self) -> dict[str, str]:
        """The types of the columns beside the keys, by name; of JSON lines every row is looked at.

        A column with values of several types has no type that `TYPES` knows. Raises: InputError where the file cannot
        be read.
        """
        if self._path.suffix == ".parquet":
            with self._readable():
                schema = self._pa.parquet.read_schema(self._path)
            return {field.name: kind_of_arrow(field.type) for field in schema if field.name not in KEYS}
        found: dict[str, str] = {}
        for row in self.rows():
            for name in row.keys() - {*KEYS}:
                found[name] = _joined(found.get(name, ""), _kind_of(row[name]))
        return {name: {"": "string", "list<>": "list<string>"}.get(kind, kind) for name, kind in sorted(found.items())}

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, a few in memory at a time. Raises: InputError where one cannot be read."""
        with self._readable(), self._path.open("rb") as file:
            if self._path.suffix == ".parquet":
                for batch in self._pa.parquet.ParquetFile(file).iter_batches(ROWS):
                    yield from batch.to_pylist()
                return
            number = 0
            while line := file.readline(MAX_LINE):
                number += 1
                yield self._row(line, number)

    def _row(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InputError([f"{self._path}, line {number}: not JSON ({error})"]) from None
        if not isinstance(row, dict):
            raise InputError([f"{self._path}, line {number}: expected an object with {', '.join(KEYS)} and values"])
        return row

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (self._pa.ArrowException, OSError) as error:
            raise InputError([f"{self._path}: cannot be read ({error})"]) from None


def _kind_of(value: Any) -> str:
    """The type of a value in words; "" of none, "list<>" of a list without any."""
    if isinstance(value, list):
        inner = ""
        for item in value:
            inner = _joined(inner, _kind_of(item))
        return f"list<{inner}>"
    return _OF_PYTHON.get(type(value), "" if value is None else "object")


def _joined(one: str, other: str) -> str:
    """The type that has values of both; several words where there is none."""
    if not (one and other) or one == other:
        return one or other
    if one.startswith("list<") and other.startswith("list<"):
        return f"list<{_joined(one[5:-1], other[5:-1])}>"
    return "double" if {one, other} == {"int64", "double"} else f"{one} and {other}"
