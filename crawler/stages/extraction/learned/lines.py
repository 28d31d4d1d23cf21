"""The lines are the chosen blocks as text that reads like the page: plain, or as Markdown.

Plain text follows `render.py`: a block is a line, a list item has "- ", a row of a table is a line of cells, code keeps
its lines. Markdown adds the signs of headings, quotes, tables and fences; links and emphasis are left out of both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crawler.stages.extraction.code import language_of
from crawler.stages.extraction.learned.walk import Kind, Mark, Walked

_LISTS = frozenset({"ul", "ol", "menu"})


@dataclass(slots=True)
class Line:
    """One piece of the text: a block, or the cells of a row."""

    kind: Kind
    text: str
    level: int = 0
    """Of a heading 1 to 6; of a list item how deep its list is, from 0."""
    table: int = -1
    language: str = ""
    quoted: bool = False


def write(page: Walked, kept: list[bool], text_format: str = "text") -> tuple[str, tuple[str, ...]]:
    """The text of the kept blocks, and the languages of its code."""
    lines = _lines(page, kept)
    languages = tuple(dict.fromkeys(line.language for line in lines if line.language))
    return (_markdown(lines) if text_format == "markdown" else _plain(lines)), languages


def _lines(page: Walked, kept: list[bool]) -> list[Line]:
    found: list[Line] = []
    before: tuple[int, int] = (-1, -1)  # the row and the item that the last line stands in
    rows, items = _nearest(page, "tr"), _nearest(page, "li")
    for i, text in enumerate(page.texts):
        if not kept[i]:
            continue
        holder, kind = page.holders[i], Kind(page.kinds[i])
        row, item = rows[holder], items[holder]
        if kind is not Kind.CODE and row >= 0 and found and before[0] == row and found[-1].kind is Kind.CELL:
            found[-1].text += " | " + text
        elif row >= 0 and kind is not Kind.CODE and _is_simple(page, row):
            found.append(Line(Kind.CELL, text, table=_around(page, row, "table")))
        else:
            found.append(_line(page, holder, kind, text, item if item != before[1] else -1))
        before = row, item
    return found


def _line(page: Walked, holder: int, kind: Kind, text: str, item: int) -> Line:
    """`item`: the list item that the block is the first of; −1 for none."""
    quoted = bool(page.marks[holder] & Mark.QUOTE)
    if kind is Kind.CODE:
        return Line(kind, text, language=_language(page, holder), quoted=quoted)
    if kind is Kind.HEADING:
        tag = page.tags[holder]
        return Line(kind, text, level=int(tag[1]) if tag[1:].isdigit() else 6, quoted=quoted)
    if item >= 0:
        return Line(Kind.ITEM, text, level=_list_depth(page, item), quoted=quoted)
    return Line(Kind.PARAGRAPH, text, quoted=quoted)


def _nearest(page: Walked, tag: str) -> list[int]:
    """Of every element: the nearest of a tag from it upwards, as `_around` finds it."""
    found: list[int] = []
    for index, (own, up) in enumerate(zip(page.tags, page.parents, strict=True)):
        found.append(index if own == tag else found[up] if up >= 0 else -1)
    return found


def _around(page: Walked, holder: int, tag: str) -> int:
    """The nearest element of a tag, from the holder upwards; −1 where there is none."""
    while holder >= 0 and page.tags[holder] != tag:
        holder = page.parents[holder]
    return holder


def _is_simple(page: Walked, row: int) -> bool:
    """True for a row of values: each block in a cell of its own, and fewer than 100."""
    start, end = page.starts[row], page.ends[row]
    if not 1 < end - start < 100:
        return False
    return len({_cell(page, holder, row) for holder in page.holders[start:end]}) == end - start


def _cell(page: Walked, holder: int, row: int) -> int:
    while holder >= 0 and page.parents[holder] != row:
        holder = page.parents[holder]
    return holder


def _list_depth(page: Walked, item: int) -> int:
    depth, up = -1, item
    while up >= 0:
        depth += page.tags[up] in _LISTS
        up = page.parents[up]
    return min(max(depth, 0), 8)


def _language(page: Walked, holder: int) -> str:
    names = [page.languages.get(holder, "")]
    for _ in range(3):
        if holder >= 0:
            names.append(page.names[holder])
            holder = page.parents[holder]
    return language_of(names)


def _plain(lines: list[Line]) -> str:
    return "\n".join("  " * line.level + "- " + line.text if line.kind is Kind.ITEM else line.text for line in lines)


def _markdown(lines: list[Line]) -> str:
    parts: list[str] = []
    for last, line in zip([None, *lines], lines, strict=False):
        same = last is not None and (last.kind, last.table) == (line.kind, line.table)
        is_tight = same and line.kind in (Kind.ITEM, Kind.CELL)
        parts.append(("\n" if is_tight else "\n\n") + _signed(line, is_first=not is_tight))
    return "".join(parts).strip("\n")


def _signed(line: Line, is_first: bool) -> str:
    if line.kind is Kind.CODE:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", line.text)), default=0))
        text = f"{fence}{line.language}\n{line.text}\n{fence}"
    elif line.kind is Kind.HEADING:
        text = "#" * line.level + " " + line.text
    elif line.kind is Kind.ITEM:
        text = "  " * line.level + "- " + line.text
    elif line.kind is Kind.CELL:
        row = f"| {line.text} |"
        text = row + "\n|" + " --- |" * (line.text.count(" | ") + 1) if is_first else row
    else:
        text = line.text
    return "\n".join("> " + part for part in text.split("\n")) if line.quoted else text
