"""Columns gives every field of the record its Parquet column: one declaration, `crawler.document.Columns`.

The schema is derived from the types that are declared there, so a new field is a new column by itself. An object whose
names differ from record to record (`quality_signals`) is JSON text, because a Parquet struct has fixed names; what has
no column of its name or type stands in `extra`, so nothing is lost on the way there and back.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from crawler.config.stages import columns
from crawler.document import SPAN_FIELDS, CodeBlock, Columns, ControlFile, LanguageShare, Signal
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import OF_TEXT, TEXT_FIELDS, VERDICT, Record, as_lists, record_fields

SCHEMA_VERSION = "crawler-record/1"
"""Of the Parquet schema, in the metadata of each file. Raised where a column changes its type or goes; new columns at
the end, which old readers ignore, leave it."""
EXTRA = "extra"
"""The column of what no field names: a JSON object, null where there is none."""
_FIRST = ("url", "canonical_url", "domain")
_LAST = OF_TEXT  # of a rejected record, where it has them at all


def rejected_fields() -> tuple[str, ...]:
    """Names of a rejected record, in the order they are written."""
    return (*_FIRST, *VERDICT, *(name for name in record_fields() if name not in {*_FIRST, *_LAST}), *_LAST)


SPAN = {"start": "int64", "end": "int64", "type": "string"}
SIGNAL = dict.fromkeys(typing.get_type_hints(Signal), "string")
SHARE = {"language": "string", "share": "double"}
CODE = {"language": "string", "chars": "int64"}
CONTROL = dict.fromkeys(typing.get_type_hints(ControlFile), "string")
STRUCTS: dict[str, dict[str, str]] = {"span": SPAN, "signal": SIGNAL, "share": SHARE, "code": CODE, "control": CONTROL}
"""By the type of a list's items that are objects: their fields."""
_NAMED = {Signal: "signal", LanguageShare: "share", CodeBlock: "code", ControlFile: "control"}
_ATOMS = {str: "string", int: "int64", float: "double", bool: "bool"}


def kind_of(name: str) -> str:
    """The column's type in words: string, int64, double, bool, json, or a list of string or of `STRUCTS`.

    A column of a package that is not installed here is read as it is stored: its type stands in the file.
    """
    if name in _KINDS:
        return _KINDS[name]
    added = columns().get(name)
    return added.kind if added else "json" if name == EXTRA else "string"


def _kind(hint: Any) -> str:
    parts = [part for part in typing.get_args(hint) if part is not type(None)]
    if hint in _ATOMS:
        return _ATOMS[hint]
    if typing.get_origin(hint) is dict:
        return "json"
    if typing.get_origin(hint) is list:
        inner = parts[0]
        if inner in _NAMED:
            return f"list<{_NAMED[inner]}>"
        return "list<span>" if typing.get_origin(inner) is tuple else f"list<{_ATOMS[inner]}>"
    (only,) = parts  # text or null, number or null
    return _kind(only)


_KINDS = {name: _kind(hint) for name, hint in typing.get_type_hints(Columns).items()}


def arrow_schema(*, rejected: bool = False, without: Iterable[str] = ()) -> Any:
    """The Arrow schema of kept or rejected records, its version in the metadata; `without` leaves columns out.

    Raises: StorageError where pyarrow is not installed.
    """
    pa = arrow()
    left_out = frozenset(without)
    names = [name for name in (*(rejected_fields() if rejected else record_fields()), EXTRA) if name not in left_out]
    fields = [pa.field(name, _arrow_type(pa, kind_of(name))) for name in names]
    return pa.schema(fields, metadata={"crawler.schema": SCHEMA_VERSION})


def _arrow_type(pa: Any, kind: str) -> Any:
    if kind.startswith("list<"):
        inner = kind[5:-1]
        if inner in STRUCTS:
            return pa.list_(pa.struct([(name, _arrow_type(pa, of)) for name, of in STRUCTS[inner].items()]))
        return pa.list_(_arrow_type(pa, inner))
    simple = {"string": pa.string, "json": pa.string, "int64": pa.int64, "double": pa.float64, "bool": pa.bool_}
    return simple[kind]()


def arrow() -> Any:
    """The module `pyarrow`. Raises: StorageError that says how to install it."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise StorageError(MISSING) from None
    return pa


MISSING = "Parquet and the index of records need pyarrow, which is not installed: pip install 'gristmill[parquet]'"


def row_of(record: Record, names: Iterable[str]) -> Record:
    """The record as a row of these columns; what is no column, or of another type, goes to `extra`."""
    columns = {name: kind_of(name) for name in names if name != EXTRA}
    rest = {name: value for name, value in record.items() if name not in columns or not fits(columns[name], value)}
    row = {name: None if name in rest else _to_column(kind, record.get(name)) for name, kind in columns.items()}
    return row | {EXTRA: orjson.dumps(rest).decode() if rest else None}


def fits(kind: str, value: Any) -> bool:
    """False for a value of another type than the column's: sealing a journal never fails because of one."""
    if value is None or kind == "json":
        return True
    if kind == "int64":
        return type(value) is int and -(2**63) <= value < 2**63
    if kind.startswith("list<"):
        if kind == "list<span>":
            return _are_spans(value)
        return type(value) is list and all(_ITEMS[kind[5:-1]](item) for item in value)
    return type(value) in _PYTHON[kind]


def _are_spans(value: Any) -> bool:
    if type(value) is not dict or value.keys() != SPAN.keys() or len({len(one) for one in value.values()}) != 1:
        return False
    return all(type(item) is (str if of == "string" else int) for name, of in SPAN.items() for item in value[name])


def _is_signal(item: Any) -> bool:
    return type(item) is dict and item.keys() == SIGNAL.keys() and all(type(part) is str for part in item.values())


def _is_share(item: Any) -> bool:
    return (
        type(item) is dict
        and item.keys() == SHARE.keys()
        and type(item["language"]) is str
        and _is_number(item["share"])
    )


def _is_number(value: Any) -> bool:
    return type(value) in _PYTHON["double"]


def _is_code(item: Any) -> bool:
    return type(item) is dict and [(name, type(part)) for name, part in item.items()] == [
        ("language", str),
        ("chars", int),
    ]


def _is_control(item: Any) -> bool:
    return type(item) is dict and tuple(item) == tuple(CONTROL) and all(type(part) is str for part in item.values())


_PYTHON: dict[str, tuple[type, ...]] = {"string": (str,), "bool": (bool,), "double": (float, int)}
_ITEMS: dict[str, Callable[[Any], bool]] = {
    "signal": _is_signal,
    "share": _is_share,
    "code": _is_code,
    "control": _is_control,
    "string": lambda item: type(item) is str,
}


def _to_column(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "json":
        return orjson.dumps(value).decode()
    if kind == "list<span>":
        return [dict(zip(SPAN, span, strict=True)) for span in zip(*(value[name] for name in SPAN), strict=True)]
    return value


def record_of_row(row: Mapping[str, Any]) -> Record:
    """The record that `row_of` made this row of; a rejected record has text and spans only where they are there."""
    record = {name: _from_column(kind_of(name), value) for name, value in row.items() if name != EXTRA}
    if "reason" in record:
        for name in _absent(record):
            del record[name]
    if extra := row.get(EXTRA):
        record |= orjson.loads(extra)
    return record


def _absent(record: Record) -> Iterator[str]:
    if record.get("text") is None:
        yield from (name for name in TEXT_FIELDS if name in record)
    yield from (name for name in SPAN_FIELDS if name in record and record[name] is None)


def _from_column(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "json":
        return orjson.loads(value)
    if kind == "list<span>":
        return as_lists(tuple(span[name] for name in SPAN) for span in value)
    return value


def card_features(*, as_json: bool, without: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The columns of kept records as the YAML of a dataset card declares them (`dataset_info.features`).

    as_json: of JSON lines, where objects are objects and spans are three lists; else of Parquet.
    """
    names = [name for name in (*record_fields(), *(() if as_json else (EXTRA,))) if name not in frozenset(without)]
    return [{"name": name, **_feature(kind_of(name), as_json=as_json)} for name in names]


def _feature(kind: str, *, as_json: bool) -> dict[str, Any]:
    if kind == "list<span>" and as_json:
        return {"struct": [{"name": name, "list": of} for name, of in SPAN.items()]}
    if kind.startswith("list<"):
        struct = STRUCTS.get(kind[5:-1])
        return {
            "list": [{"name": n, **_feature(of, as_json=as_json)} for n, of in struct.items()] if struct else kind[5:-1]
        }
    return {"dtype": {"json": "json" if as_json else "string", "double": "float64"}.get(kind, kind)}


def markdown() -> str:
    """The table of docs/datasets.md: each column with its type."""
    rows = [f"| `{name}` | {kind_of(name)} |" for name in (*record_fields(), EXTRA)]
    return "\n".join(["| column | type |", "|---|---|", *rows])
