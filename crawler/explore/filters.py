"""A filter is read from the address of a page and becomes a condition with parameters; the address is all there is.

`where=` has a condition (`crawler/dataset/records/filters.py`), as often as wanted; `q=` looks into title and URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from crawler.dataset.records.fields import FIELDS, Field
from crawler.dataset.records.filters import Comparison, Condition, FilterError, compared, read

MAX_CONDITIONS, MAX_LENGTH = 20, 500
DEFAULT_SORT = "-crawled_at"
SORTS = ("crawled_at", "quality_score", "token_estimate", "domain", "language", "reason", "title")
COLUMNS = ("url", "state", "reason", "title", "domain", "language", "quality_score", "token_estimate", "crawled_at",
           "license_tag")  # fmt: skip
"""Of a list that is taken elsewhere."""
STATES = ("kept", "rejected", "held", "hold", "unchanged")


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
        parts = [condition.sql() for condition in self.conditions]
        either = "(contains(lower(title), lower(?)) OR contains(lower(url), lower(?)))"
        parts += [(either, [word, word]) for word in self.words.split()]
        return " AND ".join(["true", *(sql for sql, _ in parts)]), [each for _, params in parts for each in params]

    @property
    def statement(self) -> str:
        """The same in SQL, for the view `records` of `gristmill dataset query`. Texts are not part of it."""
        where, params = self.sql()
        values = iter(params)
        return self.select(re.sub(r"\?", lambda _: _literal(next(values)), where.removeprefix("true AND ")))

    def select(self, where: str) -> str:
        """A statement on `COLUMNS` in the order that is asked for. where: of `sql`."""
        name, down = self.sort.removeprefix("-"), self.sort.startswith("-")
        return f'SELECT {", ".join(COLUMNS)} FROM records WHERE {where} ORDER BY "{name}"{" DESC" if down else ""}'  # noqa: S608

    def having(self, *conditions: Condition) -> Filter:
        """This filter and more conditions, from its first page on."""
        known = [c for c in self.conditions if c not in conditions]
        return replace(self, conditions=(*known, *conditions), after="")

    def without(self, condition: Condition) -> Filter:
        """This filter and one condition less, from its first page on."""
        return replace(self, conditions=tuple(c for c in self.conditions if c != condition), after="")

    def of_state(self, state: str) -> Filter:
        """This filter with kept, rejected or held records only; "" = all of them."""
        rest = tuple(c for c in self.conditions if not (isinstance(c, Comparison) and c.field.name == "state"))
        more = (_of_state(state),) if state else ()
        return replace(self, conditions=(*more, *rest), after="")

    @property
    def state(self) -> str:
        """Which state it asks for; "" = any."""
        return next((state for state in STATES if _of_state(state) in self.conditions), "")

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


def _literal(value: str | float | bool) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value).lower()


def _of_state(state: str) -> Comparison:
    return compared("state", "=", state, FIELDS)


def condition_of(text: str, fields: dict[str, Field] = FIELDS) -> Condition:
    """Raises: FilterError where it is no condition on fields that there are."""
    if len(text) > MAX_LENGTH:
        raise FilterError(f"where={text[:40]}…: longer than {MAX_LENGTH} characters")
    try:
        return read(text, fields)
    except FilterError as error:
        raise FilterError(f"where={error}") from None


def filter_of(pairs: Iterable[tuple[str, str]], fields: dict[str, Field] = FIELDS) -> Filter:
    """Read the query of an address; names that it does not know are left to others. fields: for conditions.

    Raises: FilterError.
    """
    given = list(pairs)
    wheres = [value for name, value in given if name == "where" and value]
    if len(wheres) > MAX_CONDITIONS:
        raise FilterError(f"{len(wheres)} conditions; expected at most {MAX_CONDITIONS}")
    last = {name: value.strip() for name, value in given}
    sort = last.get("sort") or DEFAULT_SORT
    by = FIELDS.get(sort.removeprefix("-"))
    if by is None or not by.is_single:
        raise FilterError(f"sort={sort}: expected a field of the record, with a minus for the largest first")
    words, text = last.get("q", ""), last.get("text", "")
    if max(len(words), len(text)) > MAX_LENGTH:
        raise FilterError(f"words to look for: expected at most {MAX_LENGTH} characters")
    return Filter(tuple(condition_of(each, fields) for each in wheres), words, text, sort, last.get("after", ""))
