"""A filter is read from the address of a page and becomes a condition with parameters; the address is all there is.

`where=FIELD=VALUE` (or != >= <= > <, or ~ for "contains"), as often as wanted; `q=` looks into title and URL. No part
of an address becomes SQL: names are looked up, values are parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from crawler.explore.columns import FIELDS, NESTED, SIGNALS, TABLE, is_number, known_as, type_of

OPERATORS = ("!=", ">=", "<=", "=", ">", "<", "~")
MAX_CONDITIONS, MAX_LENGTH = 20, 500
DEFAULT_SORT = "-crawled_at"
SORTS = ("crawled_at", "quality_score", "token_estimate", "domain", "language", "reason", "title")
STATES = ("kept", "rejected", "hold")


class FilterError(ValueError):
    """The address asks for something that is not there; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One field compared with one value; `=` with an empty value: the field is empty."""

    field: str
    operator: str
    value: str

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{self.value}"

    def sql(self) -> tuple[str, list[Any]]:
        """The condition and its parameters."""
        if self.field in NESTED:
            return self._of_parts(*NESTED[self.field])
        name = f'"{self.field}"'
        if not self.value:
            return f"{name} IS {'NOT ' if self.operator == '!=' else ''}NULL", []
        if self.operator == "~":
            return f"contains(lower({name}), lower(?))", [self.value]
        if self.operator == "!=":
            return f"{name} IS DISTINCT FROM ?", [self._typed()]
        return f"{name} {self.operator} ?", [self._typed()]

    def _of_parts(self, column: str, key: str) -> tuple[str, list[Any]]:
        """Of a list of objects: = one of them has this value, ~ one contains it, != none has it."""
        parts = f"json_extract_string(\"{column}\", '$[*].{key}')"
        if not self.value:
            return (
                f"coalesce(len(list_filter({parts}, lambda x: x <> '')), 0) {'>' if self.operator == '!=' else '='} 0",
                [],
            )
        test = "contains(lower(x), lower(?))" if self.operator == "~" else "x = ?"
        found = f"coalesce(len(list_filter({parts}, lambda x: {test})), 0)"
        return f"{found} {'=' if self.operator == '!=' else '>'} 0", [self.value]

    def _typed(self) -> Any:
        if TABLE[self.field] == "BOOLEAN":
            return self.value.lower() == "true"
        return float(self.value) if is_number(self.field) else self.value


@dataclass(frozen=True, slots=True)
class Filter:
    """What a page shows: conditions that all hold, words in title or URL, words in the text, order, where it begins."""

    conditions: tuple[Condition, ...] = ()
    words: str = ""
    text: str = ""
    sort: str = DEFAULT_SORT
    after: str = ""

    @property
    def is_empty(self) -> bool:
        """True where every record is asked for."""
        return not (self.conditions or self.words or self.text)

    def sql(self) -> tuple[str, list[Any]]:
        """What follows WHERE, and its parameters. Texts are not part of it."""
        parts, params = ["true"], []
        for condition in self.conditions:
            part, more = condition.sql()
            parts.append(part)
            params += more
        for word in self.words.split():
            parts.append("(contains(lower(title), lower(?)) OR contains(lower(url), lower(?)))")
            params += [word, word]
        return " AND ".join(parts), params

    def having(self, *conditions: Condition) -> Filter:
        """This filter and more conditions, from its first page on."""
        known = [c for c in self.conditions if c not in conditions]
        return replace(self, conditions=(*known, *conditions), after="")

    def without(self, condition: Condition) -> Filter:
        """This filter and one condition less, from its first page on."""
        return replace(self, conditions=tuple(c for c in self.conditions if c != condition), after="")

    def of_state(self, state: str) -> Filter:
        """This filter with kept, rejected or held records only; "" = all of them."""
        rest = tuple(c for c in self.conditions if c.field != "state")
        more = (Condition("state", "=", state),) if state else ()
        return replace(self, conditions=(*more, *rest), after="")

    @property
    def state(self) -> str:
        """Which state it asks for; "" = any."""
        return next((c.value for c in self.conditions if c.field == "state" and c.operator == "="), "")

    def pairs(self, *, sort: bool = True) -> list[tuple[str, str]]:
        """Names and values for an address or for hidden fields of a form."""
        found = [("where", str(condition)) for condition in self.conditions]
        found += [(name, value) for name, value in (("q", self.words), ("text", self.text)) if value]
        if sort and self.sort != DEFAULT_SORT:
            found.append(("sort", self.sort))
        return found + ([("after", self.after)] if self.after else [])

    @property
    def query(self) -> str:
        """The query of an address that shows this, with its question mark; "" where it is empty."""
        pairs = self.pairs()
        return f"?{urlencode(pairs)}" if pairs else ""


def condition_of(text: str) -> Condition:
    """Raises: FilterError where it is no condition on a field that there is."""
    if len(text) > MAX_LENGTH:
        raise FilterError(f"where={text[:40]}…: longer than {MAX_LENGTH} characters")
    places = [(text.find(operator), -len(operator), operator) for operator in OPERATORS if operator in text]
    if not places:
        raise FilterError(f"where={text}: expected FIELD=VALUE, or one of {' '.join(OPERATORS)}")
    at, _, operator = min(places)
    found = Condition(known_as(text[:at].strip()), operator, text[at + len(operator) :].strip())
    _check(found)
    return found


def _check(found: Condition) -> None:
    if found.field not in FIELDS and found.field not in SIGNALS and found.field not in NESTED:
        raise FilterError(f"where={found}: {found.field!r} is no field of the record (docs/record.md)")
    if found.operator not in ("=", "!=") and not found.value:
        raise FilterError(f"where={found}: expected a value behind {found.operator}")
    if found.field in NESTED and found.operator not in ("=", "!=", "~"):
        raise FilterError(f"where={found}: {found.field} holds several values; expected one of = != ~")
    if found.operator == "~" and type_of(found.field) != "VARCHAR":
        raise FilterError(f"where={found}: {found.field} holds no text; expected one of = != >= <= > <")
    if is_number(found.field) and found.value and not _is_finite(found.value):
        raise FilterError(f"where={found}: {found.field} holds numbers; expected one")
    if type_of(found.field) == "BOOLEAN" and found.value not in ("", "true", "false"):
        raise FilterError(f"where={found}: {found.field} is true or false")


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def filter_of(pairs: Iterable[tuple[str, str]]) -> Filter:
    """Read the query of an address; names that it does not know are left to others. Raises: FilterError."""
    given = list(pairs)
    wheres = [value for name, value in given if name == "where" and value]
    if len(wheres) > MAX_CONDITIONS:
        raise FilterError(f"{len(wheres)} conditions; expected at most {MAX_CONDITIONS}")
    last = {name: value.strip() for name, value in given}
    sort = last.get("sort") or DEFAULT_SORT
    if sort.removeprefix("-") not in TABLE:
        raise FilterError(f"sort={sort}: expected a field of the record, with a minus for the largest first")
    words, text = last.get("q", ""), last.get("text", "")
    if max(len(words), len(text)) > MAX_LENGTH:
        raise FilterError(f"words to look for: expected at most {MAX_LENGTH} characters")
    return Filter(tuple(map(condition_of, wheres)), words, text, sort, last.get("after", ""))
