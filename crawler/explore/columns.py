"""The catalogue has one column for each field of the record but the text; this says which, of which type.

Generated from the declaration of the record (`crawler.document.Columns`), so that a new field is there by itself.
"""

from __future__ import annotations

import typing
from typing import Any

import orjson

from crawler.config.text import PROFILE_NAMES, RULE_SET_NAMES
from crawler.document import RECORD_FIELDS, Columns
from crawler.stages.quality.rules.base import limits_of
from crawler.stages.quality.rules.profiles import rules_for

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
    rules = (rules for profile in PROFILE_NAMES for rules in rules_for(profile, RULE_SET_NAMES).values())
    return {f"{SIGNAL}{limit.signal}": "DOUBLE" for found in rules for limit in limits_of(found)}


FIELDS: dict[str, str] = {**VERDICT, **_fields()}
"""What a person may filter and sort by: name -> SQL type."""
SIGNALS: dict[str, str] = _signals()
TABLE: dict[str, str] = {**_HELD, **FIELDS, **SIGNALS}


def is_number(name: str) -> bool:
    """True for a field that is compared as a number."""
    return TABLE[name] in ("DOUBLE", "BIGINT")


def row_of(record: dict[str, Any]) -> dict[str, Any]:
    """What the catalogue holds of one record, without its place; a list is written as JSON."""
    reason = record.get("reason")
    signals = record.get("quality_signals") or {}
    row = {name: _flat(record.get(name)) for name in FIELDS}
    row["state"] = "kept" if reason is None else "hold" if str(reason).startswith("hold_") else "rejected"
    row["profile"] = signals.get("profile")
    row |= {f"{SIGNAL}{name}": value for name, value in signals.items() if f"{SIGNAL}{name}" in SIGNALS}
    return row


def _flat(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return orjson.dumps(value).decode() if value else None
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value
