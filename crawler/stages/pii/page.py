"""`Page` is a text under examination, `Hit` is personal data found in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property


def lower_keeping_offsets(text: str) -> str:
    """Lower case with every character at its place (`"İ".lower()` would grow by one and shift all offsets)."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    if "Σ" not in text:  # the one letter whose small form depends on its neighbours
        return _GROWING.join(part.lower() for part in text.split(_GROWING))
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)


_GROWING = "İ"  # the one character with a longer small form


SECRET = "SECRET"  # noqa: S105 - a name, no secret
"""The type of keys, tokens and passwords."""


@dataclass(frozen=True, slots=True)
class Hit:
    """Personal data at `text[start:end]`. `value` is its canonical form: equal values get equal placeholders."""

    start: int
    end: int
    entity: str
    value: str


@dataclass(frozen=True)
class Page:
    """The text under examination, with what the rules need to know about it."""

    text: str
    regions: tuple[str, ...]
    language: str | None
    known_lower: Callable[[], str] | None = None

    @cached_property
    def lower(self) -> str:
        """The text in lower case, every character at its place; made when a rule first asks for all of it."""
        return self.known_lower() if self.known_lower else lower_keeping_offsets(self.text)

    def lowered(self, start: int, end: int) -> str:
        """A short passage in lower case, without making the whole of it: most pages need no more."""
        return lower_keeping_offsets(self.text[max(0, start) : end])

    def hit(self, start: int, end: int, entity: str, value: str | None = None) -> Hit:
        """A hit whose canonical value is, unless given, the lower-cased text without white space and separators."""
        raw = value if value is not None else re.sub(r"[\s.\-()/]", "", self.lower[start:end])
        return Hit(start, end, entity, raw)


_LABEL_WIDTH = 40  # characters of a line that can be a label
_ROW_WIDTH = 200  # characters of other numbers between a label and the last one that it heads
_LINES_ABOVE = 5


def line_above(page: Page, at: int) -> str:
    """The short line that stands above what begins its own line at `at`, lower case; "" where there is none.

    One empty line between them, and lines of other numbers, are passed over: a label can head several.
    """
    start = page.text.rfind("\n", max(0, at - _ROW_WIDTH), at) + 1
    if not start or any(map(str.isalpha, page.text[start:at])):
        return ""
    empty = 0
    for _ in range(_LINES_ABOVE):
        end = start - 1
        start = page.text.rfind("\n", max(0, end - _ROW_WIDTH), end) + 1 or max(0, end - _ROW_WIDTH)
        line = page.text[start:end].strip()
        empty += not line
        if end < 0 or empty > 1 or len(line) > _LABEL_WIDTH:
            return ""
        if any(map(str.isalpha, line)):
            return lower_keeping_offsets(line)
    return ""


_SEPARATORS = ("\t", "|", ";")
_TABLE_REACH = 4_000  # characters above a cell in which its heading is looked for


def column_heading(page: Page, at: int) -> str:
    """What stands in the first row of the table above the cell at `at`, lower case; "" where that is no table.

    Rows are lines with as many separators (tab, bar, semicolon) as the line of the cell.
    """
    start = page.text.rfind("\n", max(0, at - _TABLE_REACH), at) + 1
    line = page.text[start : start + _TABLE_REACH].split("\n", 1)[0]
    separator = next((mark for mark in _SEPARATORS if mark in line), None)
    if not start or separator is None:
        return ""
    heading = ""
    for row in reversed(page.text[max(0, start - _TABLE_REACH) : start - 1].split("\n")):
        if row.count(separator) != line.count(separator):
            break
        heading = row
    cells = heading.split(separator)
    column = line.count(separator, 0, at - start)
    return lower_keeping_offsets(cells[column]) if column < len(cells) else ""
