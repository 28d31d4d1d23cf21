"""One language for conditions on a record: `language = de and (word_count >= 500 or not title ~ draft)`.

`dataset select --where`, the sources of a mixture, the addresses of explore and the groups of gates are read here. A
condition is asked of a record (`holds`) or of the view `records` (`sql`), with the same answer. No part of a text
becomes SQL: names are looked up, values are parameters.

A comparison is FIELD, one of `OPERATORS`, VALUE. Numbers compare as numbers, texts by code point; `~` is "contains",
whatever the case. A list has a value where one of its items is it. An empty value asks whether the field is empty; of a
field that is empty nothing else holds but `!=`. A value ends before `and` or `or` with another comparison behind it;
one in quotes, "…" or '…' (a quote in it is written twice), ends where they do.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from crawler.dataset.records.fields import FLAG, LIST, TEXT, Field, field_of
from crawler.problems import did_you_mean
from crawler.storage.files.records import Record

MAX_DEPTH = 20
"""Parentheses and `not` within each other."""
RECORD = "field of the record (docs/record.md)"
"""What the fields are, in an error."""
_SHOWN = 80
_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
    "~": lambda found, value: folded(value) in folded(found),
}
OPERATORS = tuple(_TESTS)
_COMPARED = re.compile(r"([^!<>=~]*)(!=|>=|<=|=|>|<|~)")
_JOINED = re.compile(r"\s(?:and|or)\s+(?=(?:not\b\s*|\(\s*)*[^\W\d][\w.]*\s*(?:[<>=~]|!=))", re.IGNORECASE)
"""Ends a value without quotes."""
_QUOTED = re.compile(r"""\s*(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)')(?=\s*(?:$|\)|\s(?:and|or)\b))""", re.IGNORECASE)
_PLAIN = re.compile(r"(?![\s\"'])(?!.*\s(?:and|or)\s)[^()]*(?<!\s)", re.IGNORECASE | re.DOTALL)
"""A value that needs no quotes."""


class FilterError(ValueError):
    """A condition cannot be read; the message says where, and what was expected."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One field compared with one value; `=` or `!=` with an empty value: the field is empty, or not."""

    field: Field
    test: str
    value: str

    def holds(self, record: Record) -> bool:
        """True where the record meets it."""
        found = self.field.of(record)
        if not self.value:
            return _is_empty(found) is (self.test == "=")
        if self.field.kind == LIST:
            test = _TESTS["~" if self.test == "~" else "="]
            return any(test(item, self.value) for item in found or ()) is (self.test != "!=")
        return self.test == "!=" if found is None else _TESTS[self.test](found, self._typed())

    def sql(self) -> tuple[str, list[Any]]:
        """What follows WHERE, and its parameters. No value (NULL) counts as false."""
        column = self.field.sql
        if not self.value:
            return f"{'' if self.test == '=' else 'NOT '}({_empty(self.field)})", []
        if self.field.kind == LIST:
            test = "contains(lower(x), lower(?))" if self.test == "~" else "x = ?"
            found = f"coalesce(len(list_filter({column}, lambda x: {test})), 0)"
            return f"{found} {'=' if self.test == '!=' else '>'} 0", [self.value]
        if self.test == "~":
            return f"contains(lower({column}), lower(?))", [self.value]
        return f"{column} {'IS DISTINCT FROM' if self.test == '!=' else self.test} ?", [self._typed()]

    def _typed(self) -> str | float | bool:
        if self.field.kind == FLAG:
            return self.value == "true"
        return float(self.value) if self.field.is_number else self.value

    def __str__(self) -> str:
        plain = not self.value or _PLAIN.fullmatch(self.value)
        return f"{self.field.name}{self.test}" + (self.value if plain else '"' + self.value.replace('"', '""') + '"')


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions that hold all (`word` is "and"), of which one holds ("or"), or one that does not hold ("not")."""

    word: str
    parts: tuple[Condition, ...]

    def holds(self, record: Record) -> bool:
        """True where the record meets it."""
        held = (part.holds(record) for part in self.parts)
        return all(held) if self.word == "and" else any(held) is (self.word == "or")

    def sql(self) -> tuple[str, list[Any]]:
        """What follows WHERE, and its parameters."""
        parts = [part.sql() for part in self.parts]
        joined = f" {self.word} ".join(sql for sql, _ in parts)
        sql = f"NOT coalesce({joined}, false)" if self.word == "not" else f"({joined})"
        return sql, [each for _, params in parts for each in params]

    def __str__(self) -> str:
        if self.word == "not":
            return f"not ({self.parts[0]})"
        return f" {self.word} ".join(f"({part})" if isinstance(part, Joined) else str(part) for part in self.parts)


Condition = Comparison | Joined


def compared(name: str, test: str, value: str, fields: dict[str, Field], called: str = RECORD) -> Comparison:
    """A comparison. Raises: FilterError where there is no such field, or it cannot be compared like that."""
    field = field_of(name, fields)
    if field is None:
        raise FilterError(f"{name!r} is not a {called}{did_you_mean(name, fields)}")
    found = Comparison(field, test, value)
    if test not in _TESTS:
        raise FilterError(f"{field.name}: expected one of {' '.join(OPERATORS)} instead of {test[:_SHOWN]!r}")
    if problem := _problem(found):
        raise FilterError(f"{field.name} {problem}")
    return found


def _problem(found: Comparison) -> str:
    """What is wrong with a comparison, as the end of a sentence that its field begins; "" where nothing is."""
    field, test, value, is_equality = found.field, found.test, found.value, found.test in ("=", "!=")
    if not value:
        return "" if is_equality else f"needs a value: expected a value behind {test}"
    checks = (
        (field.kind == LIST and test not in ("=", "!=", "~"), "is a list; compare it by = or !=, with one item of it"),
        (field.kind != LIST and not field.is_single, "holds objects; compare a part of it, or ask in SQL"),
        (field.kind not in (TEXT, LIST) and test == "~", "holds no text; expected one of = != >= <= > <"),
        (field.is_number and not _is_finite(value), f"holds numbers; expected one instead of {value[:_SHOWN]!r}"),
        (field.kind == FLAG and value not in ("true", "false"), "is true or false; expected one of both"),
        (field.kind == FLAG and not is_equality, "is true or false; compare it by = or !="),
    )
    return next((problem for is_so, problem in checks if is_so), "")


def read(text: str, fields: dict[str, Field], called: str = RECORD) -> Condition:
    """Read a condition. fields: what it may name; called: what these are. Raises: FilterError."""
    return _Reader(text, fields, called).whole()


class _Reader:
    """Takes a text apart from left to right."""

    def __init__(self, text: str, fields: dict[str, Field], called: str) -> None:
        self._text, self._fields, self._called = text, fields, called
        self._at = self._depth = self._open = 0

    def whole(self) -> Condition:
        found = self._joined("or")
        if self._text[self._at :].strip():
            self._fail(f"expected and, or, or the end instead of {self._text[self._at :].strip()[:_SHOWN]!r}")
        return found

    def _joined(self, word: str) -> Condition:
        """Parts between `or`, or within them between `and`."""
        parts = [self._joined("and") if word == "or" else self._single()]
        while self._took(rf"\s*{word}\b"):
            parts.append(self._joined("and") if word == "or" else self._single())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _single(self) -> Condition:
        if self._took(r"\s*not(?=[\s(])"):
            return Joined("not", (self._within(self._single),))
        if not self._took(r"\s*\("):
            return self._comparison()
        self._open += 1
        found = self._within(lambda: self._joined("or"))
        self._open -= 1
        if not self._took(r"\s*\)"):
            self._fail("expected ) here")
        return found

    def _within(self, part: Callable[[], Condition]) -> Condition:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f"more than {MAX_DEPTH} conditions within each other")
        found = part()
        self._depth -= 1
        return found

    def _comparison(self) -> Comparison:
        match = _COMPARED.match(self._text, self._at)
        if match is None:
            self._fail(f"expected FIELD=VALUE, or one of {' '.join(OPERATORS)} in place of =, such as word_count>=500")
        begin, self._at = self._at, match.end()
        value = self._value()
        try:
            return compared(match[1].strip(), match[2], value, self._fields, self._called)
        except FilterError as error:
            self._at = begin
            self._fail(str(error))

    def _value(self) -> str:
        if quoted := _QUOTED.match(self._text, self._at):
            self._at = quoted.end()
            return quoted[1].replace('""', '"') if quoted[1] is not None else quoted[2].replace("''", "'")
        joined = _JOINED.search(self._text, self._at)
        begin, self._at = self._at, self._closed(joined.start() if joined else len(self._text))
        return self._text[begin : self._at].strip()

    def _closed(self, end: int) -> int:
        """Where the group that the value is in ends, before `end`: at a parenthesis that closes none of the value."""
        inner = 0
        for at in range(self._at, end if self._open else self._at):
            inner += {"(": 1, ")": -1}.get(self._text[at], 0)
            if inner < 0:
                return at
        return end

    def _took(self, pattern: str) -> bool:
        match = re.compile(pattern, re.IGNORECASE).match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match is not None

    def _fail(self, problem: str) -> NoReturn:
        text = self._text if len(self._text) <= _SHOWN else f"{self._text[:_SHOWN]}…"
        begin = self._at + len(self._text[self._at :]) - len(self._text[self._at :].lstrip())
        raise FilterError(f"{text}: {problem}" + (f" (character {begin + 1})" if begin else ""))


def folded(text: str) -> str:
    """Lower case as DuckDB has it: one character for each, whatever stands beside it."""
    return text.replace("İ", "i").replace("Σ", "σ").lower()


def _is_empty(found: Any) -> bool:
    return found is None or found == "" or (isinstance(found, list | dict) and not any(found))


def _empty(field: Field) -> str:
    """`_is_empty` in SQL."""
    if field.kind == TEXT:
        return f"coalesce({field.sql}, '') = ''"
    if field.kind == "json":
        return f"coalesce({field.sql}, '{{}}') IN ('{{}}', '[]')"
    if field.kind == LIST:
        return f"coalesce(len(list_filter({field.sql}, lambda x: x <> '')), 0) = 0"
    return f"{field.sql} IS NULL" if field.is_single else f"coalesce(len({field.sql}), 0) = 0"


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
