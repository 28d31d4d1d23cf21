"""Rows become Arrow arrays by way of buffers, so that sealing a file loads no pandas.

`pyarrow.array` and all that stands on it import pandas wherever that is installed: half a second and 50 MB at the end
of each crawl, for nothing. The layout of the buffers is Arrow's columnar format, the same for every reader.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any

EXACT = 2**53
"""Integers up to here are doubles; beyond it a column would hold another number than the record."""


def table_of(pa: Any, rows: Sequence[Mapping[str, Any]], schema: Any) -> Any:
    """`pyarrow.Table.from_pylist` for the types of our columns.

    Raises: ValueError, TypeError, OverflowError or ArrowException where a value is not of its column's type.
    """
    columns = [array_of(pa, field.type, [row.get(field.name) for row in rows]) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def array_of(pa: Any, kind: Any, values: Sequence[Any]) -> Any:
    """One array: strings, 64-bit numbers, booleans, and lists and structs of these; None is null."""
    is_there = [value is not None for value in values]
    buffers, children = _layout(pa, kind, values)
    validity = None if all(is_there) else pa.py_buffer(_bits(is_there))
    return pa.Array.from_buffers(kind, len(values), [validity, *map(pa.py_buffer, buffers)], children=children)


def _layout(pa: Any, kind: Any, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The buffers behind the validity bitmap, and the arrays of what is inside."""
    if pa.types.is_string(kind):
        texts = [b"" if value is None else str.encode(value) for value in values]
        return [_offsets(texts), b"".join(texts)], []
    if pa.types.is_list(kind):
        lists = [() if value is None else value for value in values]
        return [_offsets(lists)], [array_of(pa, kind.value_type, list(chain.from_iterable(lists)))]
    if pa.types.is_struct(kind):
        return [], [array_of(pa, f.type, [None if v is None else v.get(f.name) for v in values]) for f in kind]
    if pa.types.is_boolean(kind):
        return [_bits(values)], []
    numbers = [0 if value is None else value for value in values]
    if pa.types.is_int64(kind):
        return [array("q", numbers)], []
    if any(type(number) is int and abs(number) > EXACT for number in numbers):
        raise ValueError("an integer that is no double")
    return [array("d", numbers)], []


def _offsets(parts: Iterable[Any]) -> array[int]:
    return array("i", accumulate(map(len, parts), initial=0))


def _bits(flags: Sequence[Any]) -> bytes:
    digits = "".join("1" if flag else "0" for flag in reversed(flags))
    return int(digits or "0", 2).to_bytes(len(flags) // 8 + 1, "little")
