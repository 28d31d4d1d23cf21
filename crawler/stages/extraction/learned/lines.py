"""The lines are the chosen blocks as text that reads like the page: plain, or as Markdown.

Plain text follows `render.py`: a block is a line, a list item has "- ", a row of a table is a line of cells, code keeps
its lines. Markdown adds the signs of headings, quotes, tables and fences; links and emphasis are left out of both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, pairwise
from typing import NamedTuple

from crawler.document import Span
from crawler.stages.extraction.learned.grid import Grid, ValueRows, around, as_markdown, as_plain, cell_of
from crawler.stages.extraction.learned.parts import NOTHING, Labeller, Labels, Parts
from crawler.stages.extraction.learned.walk import Kind, Mark, Walked
from crawler.stages.extraction.written import Written

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

    @property
    def quoted(self) -> bool:
        """True where it repeats the words of others."""
        return self.labels[1] is not None and self.labels[1].name == "quotation"

    number: str = ""
    """Of an item, or of a heading that begins one, of an ordered list: "3."."""
    holder: int = -1
    """The element that it begins in."""
    labels: Labels = NOTHING
    """What part of the page it is."""
    indent: int = 0
    """Of an item: the columns that Markdown puts before it, so that it stands in the items around it."""


class _Piece(NamedTuple):
    """Lines that are written as one; gap: what stands before them, unless they are the first."""

    text: str
    line: Line
    gap: str


def write(page: Walked, kept: list[bool], text_format: str = "text", labeller: Labeller | None = None) -> Written:
    """The text of the kept blocks."""
    labeller = labeller or Labeller(page)
    lines = _lines(page, kept, labeller)
    for line, labels in _labelled(lines, labeller):
        line.labels = labels()
    languages = tuple(dict.fromkeys(line.language for line in lines if line.language))
    pieces = _markdown(lines) if text_format == "markdown" else _plain(lines)
    return Written(*_joined(pieces), languages)


def all_lines(page: Walked) -> Iterator[tuple[str, Callable[[], Labels]]]:
    """Every line of a page as plain text, with a function that tells what it is."""
    labeller = Labeller(page)
    lines = _lines(page, [True] * len(page.texts), labeller)
    return ((_plainly(line), labels) for line, labels in _labelled(lines, labeller))


def _joined(pieces: Iterable[_Piece]) -> tuple[str, tuple[Span, ...]]:
    """The text of the pieces and its parts."""
    texts: list[str] = []
    parts = Parts()
    at = 0
    for piece in pieces:
        gap = piece.gap if texts else ""
        texts += (gap, piece.text)
        start = at + len(gap)
        at = start + len(piece.text)
        parts.add(start, at, piece.line.labels)
    return "".join(texts), parts.spans()


def _lines(page: Walked, kept: list[bool], labeller: Labeller) -> list[Line]:
    found: list[Line] = []
    begun = set[int]()  # list items that have their sign
    rows, items, sources = _nearest(page, "tr"), _nearest(page, "li"), _nearest(page, "pre")
    values = ValueRows(page, rows)
    for i, block in enumerate(page.texts):
        if not kept[i]:
            continue
        holder, kind = page.holders[i], Kind(page.kinds[i])
        row, item = rows[holder], labeller.item(items[holder])
        text, last = page.shown.get(i, block), found[-1] if found else None
        if kind is Kind.CODE:
            if not page.marks[holder] & Mark.CONTROL:  # a button that copies it
                _add_code(page, found, holder, text, sources[holder])
        elif row >= 0 and values.has(row):
            if last is None or last.row != row:
                found.append(last := _row(page, row))
                last.holder = holder
            cell = cell_of(page, holder, row)
            if item not in begun and (number := page.numbers.get(item)):
                text = f"{number} {text}"
            last.cells[cell] = f"{last.cells[cell]} {text}" if cell in last.cells else text
        else:
            found.append(_line(page, holder, kind, text, -1 if item in begun else item))
            found[-1].holder = holder
            if item >= 0 and item not in begun:
                _number(page, found[-1], item, i, begun)
        begun.add(item)
    _place_cells(page, found)
    return _without_echoes(found)


def _labelled(lines: list[Line], labeller: Labeller) -> Iterator[tuple[Line, Callable[[], Labels]]]:
    """Each line with a function that tells what part of the page it is; rows of a single cell are no table."""
    tables = {line.table for line in lines if len(line.cells) > 1}
    for line in lines:
        table = line.table if line.table in tables else -1
        yield line, partial(labeller.labels, line.holder, line.kind, table=table, source=line.source)


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
    found.append(Line(Kind.CODE, text, source=source, language=page.languages.get(source, ""), holder=holder))


def _row(page: Walked, row: int) -> Line:
    return Line(Kind.CELL, row=row, table=around(page, row, "table"))


def _line(page: Walked, holder: int, kind: Kind, text: str, item: int) -> Line:
    """`item`: the list item that the block is the first of; −1 for none."""
    if kind is Kind.HEADING:
        tag = page.tags[holder]
        return Line(kind, text, level=int(tag[1]) if tag[1:].isdigit() else 6)
    if item >= 0:
        return Line(Kind.ITEM, text, level=_list_depth(page, item))
    return Line(Kind.CONTROL if kind is Kind.CONTROL else Kind.PARAGRAPH, text)


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
    found = [-1] * len(page.tags)
    if tag in page.tags:
        for index, (own, up) in enumerate(zip(page.tags, page.parents, strict=True)):
            found[index] = index if own == tag else found[up] if up >= 0 else -1
    return found


def _list_depth(page: Walked, item: int) -> int:
    depth, up = -1, item
    while up >= 0:
        depth += page.tags[up] in _LISTS
        up = page.parents[up]
    return min(max(depth, 0), 8)


def _plain(lines: list[Line]) -> Iterator[_Piece]:
    return (_Piece(_plainly(line), line, "\n") for line in lines)


def _plainly(line: Line) -> str:
    if line.kind is Kind.CELL:
        return as_plain(line.columns or [*line.cells.values()])
    return "  " * line.level + _item(line) if line.kind is Kind.ITEM else _headed(line)


def _item(line: Line) -> str:
    return f"{line.number or '-'} {line.text}"


def _headed(line: Line) -> str:
    return f"{line.number} {line.text}" if line.number else line.text


def _markdown(lines: list[Line]) -> Iterator[_Piece]:
    for (kind, _), group in groupby(lines, lambda line: (line.kind, line.table)):
        run = list(group)
        if kind is Kind.CELL and any(len(line.cells) > 1 for line in run):
            rows = as_markdown([line.columns or [*line.cells.values()] for line in run], len(run[0].columns))
            yield _Piece("\n".join(_quoted(run[0], row) for row in rows), run[0], "\n\n")
        else:
            for line in run:
                is_next = kind is Kind.ITEM and line is not run[0]
                yield _Piece(_signed(line), line, "\n" if is_next else "\n\n")


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
