"""The catalogue has one column for each field of the record but the text; this says which, of which type.

Generated from the declaration of the record (`crawler.document.Columns`), so that a new field is there by itself.
"""

from __future__ import annotations

import typing
from typing import Any

from crawler.config.text import PROFILE_NAMES
from crawler.document import RECORD_FIELDS, Columns
from crawler.stages.quality.rules import rule_sets
from crawler.stages.quality.rules.base import limits_of
from crawler.stages.quality.rules.profiles import rules_for
from crawler.storage.files.columns import SIGNAL as STATEMENT
from crawler.storage.files.columns import kind_of

_TYPES = {str: "VARCHAR", float: "DOUBLE", int: "BIGINT", bool: "BOOLEAN"}
SIGNAL = "signal_"
"""Begins the name of a column that holds one of the measured values in `quality_signals`."""
VERDICT = {"state": "VARCHAR", "stage": "VARCHAR", "reason": "VARCHAR", "detail": "VARCHAR", "profile": "VARCHAR"}
"""What is known beside the fields of a kept record. state: kept, rejected or hold."""
_LEFT_OUT = frozenset({"text", "language_signals", "quality_signals", "render_signals", "pii_spans"})
"""Texts are read where they lie; of the signals the columns `signal_…` hold what a threshold is compared with."""
_HELD = {"id": "BIGINT", "file": "INTEGER", "line": "INTEGER"}


def _type_of(hint: Any) -> str:
    nested = typing.get_origin(hint) in (list, dict)
    parts = set() if nested else set(typing.get_args(hint) or (hint,))
    return next((name for kind, name in _TYPES.items() if kind in parts), "VARCHAR")  # a list as the JSON it is


def _fields() -> dict[str, str]:
    hints = typing.get_type_hints(Columns)
    return {name: _type_of(hints[name]) for name in RECORD_FIELDS if name not in _LEFT_OUT}


def _signals() -> dict[str, str]:
    """Every value that a threshold of some built-in profile is compared with."""
    rules = (rules for profile in PROFILE_NAMES for rules in rules_for(profile, rule_sets()).values())
    return {f"{SIGNAL}{limit.signal}": "DOUBLE" for found in rules for limit in limits_of(found)}


FIELDS: dict[str, str] = {**VERDICT, **_fields()}
"""What a person may filter and sort by: name -> SQL type."""
SIGNALS: dict[str, str] = _signals()
NESTED: dict[str, tuple[str, str]] = {f"optout_signals.{part}": ("optout_signals", part) for part in STATEMENT}
"""Parts of the objects in a list, which a person may filter by: name -> column and key."""
_MEASURED = "quality_signals."
TABLE: dict[str, str] = {**_HELD, **FIELDS, **SIGNALS}


def known_as(name: str) -> str:
    """The column of a field by the name it has in the record: `quality_signals.NAME` is `signal_NAME`, or `profile`."""
    if not name.startswith(_MEASURED):
        return name
    part = name.removeprefix(_MEASURED)
    return part if part == "profile" else f"{SIGNAL}{part}"


def type_of(name: str) -> str:
    """The SQL type of what a person may filter by."""
    return "VARCHAR" if name in NESTED else TABLE[name]


def is_number(name: str) -> bool:
    """True for a field that is compared as a number."""
    return type_of(name) in ("DOUBLE", "BIGINT")


def selected(source: str, there: set[str], place: dict[str, str]) -> str:
    """A SELECT of the rows of `TABLE` from an index file with the columns `there`.

    place: `id` and `file` of its rows. A list becomes JSON, an empty one NULL; a column that an older index has not is
    NULL.
    """
    reason = "reason" if "reason" in there else "NULL::VARCHAR"
    signals = "quality_signals" if "quality_signals" in there else "NULL::VARCHAR"
    values = {
        **place,
        "line": "file_row_number",
        "state": f"CASE WHEN {reason} IS NULL THEN 'kept' WHEN {reason} LIKE 'hold\\_%' ESCAPE '\\' THEN 'hold' "
        "ELSE 'rejected' END",
        "profile": f"json_extract_string({signals}, '$.profile')",
    }
    values |= {name: _measured(signals, name.removeprefix(SIGNAL)) for name in SIGNALS}
    values |= {name: _value(name) if name in there else "NULL" for name in FIELDS if name not in values}
    row = ", ".join(f"{values[name]} AS {_quoted(name)}" for name in TABLE)
    return f"SELECT {row} FROM {source}"  # noqa: S608  # our own names


def _measured(signals: str, name: str) -> str:
    """Each value by itself: a question parses those it names."""
    return f"TRY_CAST(json_extract_string({signals}, '$.\"{name}\"') AS DOUBLE)"


def _value(name: str) -> str:
    if name in VERDICT or not kind_of(name).startswith("list<"):
        return _quoted(name)
    return f"CASE WHEN len({_quoted(name)}) > 0 THEN to_json({_quoted(name)})::VARCHAR END"


def _quoted(name: str) -> str:
    return f'"{name}"'
