"""The lines are the chosen blocks as text that reads like the page: plain, or as Markdown.

Plain text follows `render.py`: a block is a line, a list item has "- ", a row of a table is a line of cells, code keeps
its lines. Markdown adds the signs of headings, quotes, tables and fences; links and emphasis are left out of both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from crawler.stages.extraction.learned.grid import Grid, ValueRows, around, as_markdown, as_plain, cell_of
from crawler.stages.extraction.learned.walk import Kind, Mark, Walked

_LISTS = frozenset({"ul", "ol", "menu"})


@dataclass(slots=True)
class Line:
    """One piece of the text: a block, the cells of a row, or the code of an element."""

    kind: Kind
    text: str = ""
    level: int = 0
    """Of a heading 1 to 6; of a list item how deep its list is, from 0."""
    row: int = -1
    table: int = -1
    cells: dict[int, str] = field(default_factory=dict)
    """Of a row: what its cells say, those that are kept."""
    columns: list[str] = field(default_factory=list)
    """The same, with every column of the table in its place."""
    source: int = -1
    """Of code: the <pre> around it."""
    language: str = ""
    quoted: bool = False
    number: str = ""
    """Of an item, or of a heading that begins one, of an ordered list: "3."."""
    indent: int = 0
    """Of an item: the columns that Markdown puts before it, so that it stands in the items around it."""


def write(page: Walked, kept: list[bool], text_format: str = "text") -> tuple[str, tuple[str, ...]]:
    """The text of the kept blocks, and the languages of its code."""
    lines = _lines(page, kept)
    languages = tuple(dict.fromkeys(line.language for line in lines if line.language))
    return (_markdown(lines) if text_format == "markdown" else _plain(lines)), languages


def _lines(page: Walked, kept: list[bool]) -> list[Line]:
    found: list[Line] = []
    begun = set[int]()  # list items that have their sign
    rows, items, sources = _nearest(page, "tr"), _nearest(page, "li"), _nearest(page, "pre")
    values = ValueRows(page, rows)
    for i, block in enumerate(page.texts):
        if not kept[i]:
            continue
        holder, kind = page.holders[i], Kind(page.kinds[i])
        row, item = rows[holder], items[holder]
        text, last = page.shown.get(i, block), found[-1] if found else None
        if kind is Kind.CODE:
            if not page.marks[holder] & Mark.CONTROL:  # a button that copies it
                _add_code(page, found, holder, text, sources[holder])
        elif row >= 0 and values.has(row):
            if last is None or last.row != row:
                found.append(last := _row(page, holder, row))
            cell = cell_of(page, holder, row)
            if item not in begun and (number := page.numbers.get(item)):
                text = f"{number} {text}"
            last.cells[cell] = f"{last.cells[cell]} {text}" if cell in last.cells else text
        else:
            found.append(_line(page, holder, kind, text, -1 if item in begun else item))
            if item >= 0 and item not in begun:
                _number(page, found[-1], item, i, begun)
        begun.add(item)
    _place_cells(page, found)
    return _without_echoes(found)


def _place_cells(page: Walked, lines: list[Line]) -> None:
    """Give every row its columns: those of its whole table, also where other lines stand between its rows."""
    tables: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        if line.kind is Kind.CELL:
            tables[line.table].append(line)
    if not tables:
        return
    grid = Grid(page)
    for rows in tables.values():
        for line, columns in zip(rows, grid.texts([line.cells for line in rows]), strict=True):
            line.columns = columns


def _without_echoes(lines: list[Line]) -> list[Line]:
    """The lines without those that only say again what the heading beside them says, as bars of manuals do."""
    texts = [" | ".join(line.cells.values()) if line.kind is Kind.CELL else line.text for line in lines]
    echoes = set[int]()
    for i, (one, other) in enumerate(pairwise(lines)):
        if texts[i] == texts[i + 1] and Kind.HEADING in (one.kind, other.kind):
            echoes.add(i + 1 if one.kind is Kind.HEADING else i)
    return [line for i, line in enumerate(lines) if i not in echoes]


def _add_code(page: Walked, found: list[Line], holder: int, text: str, source: int) -> None:
    """Code that a page has line by line in elements of their own is one piece of code; its blanks are plain ones."""
    text = text.replace("\xa0", " ")
    if found and source >= 0 and found[-1].source == source:
        found[-1].text += "\n" + text
        return
    quoted = bool(page.marks[holder] & Mark.QUOTE)
    found.append(Line(Kind.CODE, text, source=source, language=page.languages.get(source, ""), quoted=quoted))


def _row(page: Walked, holder: int, row: int) -> Line:
    quoted = bool(page.marks[holder] & Mark.QUOTE)
    return Line(Kind.CELL, row=row, table=around(page, row, "table"), quoted=quoted)


def _line(page: Walked, holder: int, kind: Kind, text: str, item: int) -> Line:
    """`item`: the list item that the block is the first of; −1 for none."""
    quoted = bool(page.marks[holder] & Mark.QUOTE)
    if kind is Kind.HEADING:
        tag = page.tags[holder]
        return Line(kind, text, level=int(tag[1]) if tag[1:].isdigit() else 6, quoted=quoted)
    if item >= 0:
        return Line(Kind.ITEM, text, level=_list_depth(page, item), quoted=quoted)
    return Line(Kind.PARAGRAPH, text, quoted=quoted)


def _number(page: Walked, line: Line, item: int, block: int, begun: set[int]) -> None:
    """The number of an item, behind those of the items that hold nothing before it: "1. a. The seller …"."""
    numbers, up = [page.numbers.get(item, "")], page.parents[item]
    while up >= 0 and page.starts[up] == block:
        if up in page.numbers and up not in begun:
            numbers.append(page.numbers[up])
            begun.add(up)
            line.level = _list_depth(page, up)
        up = page.parents[up]
    line.number = " ".join(filter(None, reversed(numbers)))
    while up >= 0:
        if page.tags[up] == "li":
            line.indent += 1 + len(page.numbers.get(up, "-"))
        up = page.parents[up]


def _nearest(page: Walked, tag: str) -> list[int]:
    """Of every element: the nearest of a tag from it upwards, as `around` finds it."""
    found: list[int] = []
    for index, (own, up) in enumerate(zip(page.tags, page.parents, strict=True)):
        found.append(index if own == tag else found[up] if up >= 0 else -1)
    return found


def _list_depth(page: Walked, item: int) -> int:
    depth, up = -1, item
    while up >= 0:
        depth += page.tags[up] in _LISTS
        up = page.parents[up]
    return min(max(depth, 0), 8)


def _plain(lines: list[Line]) -> str:
    return "\n".join(map(_plainly, lines))


def _plainly(line: Line) -> str:
    if line.kind is Kind.CELL:
        return as_plain(line.columns or [*line.cells.values()])
    return "  " * line.level + _item(line) if line.kind is Kind.ITEM else _headed(line)


def _item(line: Line) -> str:
    return f"{line.number or '-'} {line.text}"


def _headed(line: Line) -> str:
    return f"{line.number} {line.text}" if line.number else line.text


def _markdown(lines: list[Line]) -> str:
    parts: list[str] = []
    for (kind, _), group in groupby(lines, lambda line: (line.kind, line.table)):
        run = list(group)
        if kind is Kind.CELL and any(len(line.cells) > 1 for line in run):
            rows = as_markdown([line.columns or [*line.cells.values()] for line in run], len(run[0].columns))
            parts.append("\n".join(_quoted(run[0], row) for row in rows))
        elif kind is Kind.ITEM:
            parts.append("\n".join(map(_signed, run)))
        else:
            parts.extend(map(_signed, run))
    return "\n\n".join(parts).strip("\n")


def _signed(line: Line) -> str:
    if line.kind is Kind.CODE:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", line.text)), default=0))
        return _quoted(line, f"{fence}{line.language}\n{line.text}\n{fence}")
    if line.kind is Kind.HEADING:
        return _quoted(line, "#" * line.level + " " + _headed(line))
    if line.kind is Kind.ITEM:
        return _quoted(line, " " * max(2 * line.level, line.indent) + _item(line))
    return _quoted(line, _plainly(line))


def _quoted(line: Line, text: str) -> str:
    return "\n".join("> " + part for part in text.split("\n")) if line.quoted else text
