"""A filter may name each field of a record, and what follows from them: its state, its signals, parts of objects.

Generated from the declaration of the record (`crawler.document.Columns`), so that a new field is there by itself. Each
field has its value in a record and its column in the view `records` (`view.py`): both are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crawler.config.text import PROFILE_NAMES
from crawler.document import DropReason, Reason
from crawler.stages.quality.rules import rule_sets
from crawler.stages.quality.rules.base import limits_of
from crawler.stages.quality.rules.profiles import rules_for
from crawler.storage.files.columns import SIGNAL as STATEMENT
from crawler.storage.files.columns import fits, kind_of
from crawler.storage.files.records import VERDICT, Record, is_held, record_fields

TEXT, FLAG, LIST = "string", "bool", "list<string>"
NUMBERS = ("int64", "double")
SIGNAL = "signal_"
"""Begins the name of a column that holds one of the measured values in `quality_signals`."""
MEASURED = "quality_signals"
_STATEMENTS = "optout_signals"


@dataclass(frozen=True, slots=True)
class Field:
    """What a filter may compare.

    kind: TEXT, FLAG, LIST (of texts), one of NUMBERS, or another type of a column (`kind_of`), which holds objects.
    sql: its value in the view `records`. of: its value in a record, None where it has none of this kind.
    """

    name: str
    kind: str
    sql: str
    of: Callable[[Record], Any]

    @property
    def is_number(self) -> bool:
        """True for a field that is compared as a number."""
        return self.kind in NUMBERS

    @property
    def is_single(self) -> bool:
        """True for a field with one value, which records can be put in order by."""
        return self.kind in (TEXT, FLAG, *NUMBERS)


SAID = {"hold": "on hold"}
"""A state as people read it, where it is not called so."""


def state_of(record: Record) -> str:
    """What became of a page: "kept", "rejected", "held" where it waits for a person, "hold" for a later visit, or
    "unchanged" where the verdict of the visit before stands.
    """
    reason = record.get("reason")
    if is_held(record):
        return "held"
    if reason == DropReason.UNCHANGED:
        return "unchanged"
    return "kept" if reason is None else "hold" if Reason.holds(str(reason)) else "rejected"


def _profile_of(record: Record) -> str | None:
    found = (record.get(MEASURED) or {}).get("profile")
    return found if isinstance(found, str) else None


def stored(name: str, kind: str, within: str = "") -> Field:
    """A field with a column of its name; within: the object that has it, of which the view has a struct."""

    def of(record: Record) -> Any:
        value = (record.get(within) or {} if within else record).get(name)
        return value if fits(kind, value) else None

    return Field(f"{within}.{name}", kind, f'"{within}"."{name}"', of) if within else Field(name, kind, f'"{name}"', of)


def _measured(name: str) -> Field:
    def of(record: Record) -> float | None:
        value = (record.get(MEASURED) or {}).get(name)
        return value if fits("double", value) else None

    return Field(f"{SIGNAL}{name}", "double", f'"{SIGNAL}{name}"', of)


def _part(name: str) -> Field:
    """A part of every statement of a page: a list of texts."""

    def of(record: Record) -> list[str]:
        found = record.get(_STATEMENTS)
        return [each[name] for each in found] if found and fits("list<signal>", found) else []

    sql = f'list_transform("{_STATEMENTS}", lambda x: x."{name}")'
    return Field(f"{_STATEMENTS}.{name}", LIST, sql, of)


def _signals() -> list[Field]:
    """Every value that a threshold of some built-in profile is compared with."""
    rules = (rules for profile in PROFILE_NAMES for rules in rules_for(profile, rule_sets()).values())
    return [_measured(name) for name in dict.fromkeys(limit.signal for found in rules for limit in limits_of(found))]


SIGNALS: dict[str, Field] = {field.name: field for field in _signals()}
FIELDS: dict[str, Field] = {
    field.name: field
    for field in (
        Field("state", TEXT, '"state"', state_of),
        *(stored(name, kind_of(name)) for name in VERDICT),
        Field("profile", TEXT, '"profile"', _profile_of),
        *(stored(name, kind_of(name)) for name in record_fields() if name != "text"),
        *map(_part, STATEMENT),
        *SIGNALS.values(),
    )
}
"""What the view `records` can be asked for, by name."""
OF_RECORD: dict[str, Field] = FIELDS | {"text": stored("text", TEXT)}
"""What a record can be asked for: its text, too, which no index has."""


def field_of(name: str, fields: dict[str, Field]) -> Field | None:
    """The field of this name; `quality_signals.NAME` is `signal_NAME`, or `profile`."""
    holder, _, part = name.partition(".")
    if holder == MEASURED and part:
        name = part if part == "profile" else f"{SIGNAL}{part}"
    return fields.get(name)
