"""Tables of values: which rows are lines of cells, and in which column of a Markdown table each cell stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from crawler.stages.extraction.learned.walk import Kind, Walked

MOST_BLOCKS = 100
"""Blocks of a row, from which it is no row of values."""
MOST_COLUMNS = 200
"""Of a table; cells of a wider one stand side by side, without the empty ones."""
_CELLS = frozenset({"td", "th"})
_OF_VALUES = frozenset({Kind.CELL, Kind.PARAGRAPH, Kind.TEXT})


class ValueRows:
    """Tells rows of values from rows that lay out a page; each is asked once.

    A row of values has every block in a cell of its own. In a table with header cells a cell may have several lines,
    and in one that has other rows of values a row may have one cell that says something.
    """

    def __init__(self, page: Walked, rows: Sequence[int]) -> None:
        """rows: of every element the nearest row upwards, -1 where there is none."""
        self._page, self._rows = page, rows
        self._known: dict[int, bool] = {}
        self._widths: dict[int, int] = defaultdict(int)
        self._headed, self._simple = set[int](), set[int]()
        for index, tag in enumerate(page.tags):
            if tag in _CELLS and (row := page.parents[index]) >= 0:
                self._widths[row] += 1
                if tag == "th":
                    self._headed.add(around(page, row, "table"))
            elif tag == "tr" and self._is_simple(index):
                self._simple.add(around(page, index, "table"))

    def has(self, row: int) -> bool:
        """True for a row of values."""
        known = self._known.get(row)
        if known is None:
            known = self._known[row] = self._is_simple(row) or self._is_of_its_table(row)
        return known

    def _is_simple(self, row: int) -> bool:
        count = self._count(row)
        if not 1 < count < MOST_BLOCKS or not self._is_innermost(row):
            return False
        return len({cell_of(self._page, holder, row) for holder in self._holders(row)}) == count

    def _is_of_its_table(self, row: int) -> bool:
        count, table = self._count(row), around(self._page, row, "table")
        if count == 1:
            return table in self._simple and self._page.kinds[self._page.starts[row]] in _OF_VALUES
        if not 1 < count < MOST_BLOCKS or self._widths[row] < 2 or table not in self._headed:
            return False
        start = self._page.starts[row]
        kinds = self._page.kinds[start : start + count]
        return _OF_VALUES.issuperset(kinds) and self._is_innermost(row)

    def _is_innermost(self, row: int) -> bool:
        return all(self._rows[holder] == row for holder in self._holders(row))

    def _count(self, row: int) -> int:
        return self._page.ends[row] - self._page.starts[row]

    def _holders(self, row: int) -> list[int]:
        return self._page.holders[self._page.starts[row] : self._page.ends[row]]


class Grid:
    """The columns of a page's cells, as the spans of rows and columns place them."""

    def __init__(self, page: Walked) -> None:
        self._column: dict[int, int] = {}
        taken: dict[int, dict[int, int]] = defaultdict(dict)  # of a table: the last row in which a column is taken
        count: dict[int, int] = defaultdict(int)
        place: dict[int, tuple[int, int, int]] = {}  # of a row: its table, its number there, its next column
        for index, tag in enumerate(page.tags):
            row = page.parents[index]
            if tag not in _CELLS or page.tags[row] != "tr":
                continue
            if row not in place:
                table = around(page, row, "table")
                count[table] += 1
                place[row] = table, count[table], 0
            table, number, column = place[row]
            while taken[table].get(column, 0) >= number:
                column += 1
            self._column[index] = column
            wide, high = page.spans.get(index, (1, 1))
            if high > 1:
                taken[table].update(dict.fromkeys(range(column, column + wide), number + high - 1))
            place[row] = table, number, column + wide

    def texts(self, rows: Sequence[dict[int, str]]) -> list[list[str]]:
        """The cells of rows of one table, each row with the same columns; columns without a text in any are left out.

        rows: of each the texts of its cells. To be asked for all rows of a table at once, whatever stands between them.
        Empty rows for a table of more than MOST_COLUMNS.
        """
        used = sorted({self._column.get(cell, 0) for row in rows for cell in row})
        places = {column: place for place, column in enumerate(used)}
        if len(used) > MOST_COLUMNS:
            return [[] for _ in rows]
        found = []
        for row in rows:
            texts = [""] * len(used)
            for cell, text in row.items():
                place = places[self._column.get(cell, 0)]
                texts[place] = f"{texts[place]} {text}".strip()
            found.append(texts)
        return found


def as_markdown(rows: Sequence[Sequence[str]], columns: int) -> list[str]:
    """Rows as lines of Markdown, the first of them as the head; 0 columns: cells side by side in no table."""
    lines = [*map(_line, rows)]
    return [lines[0], "|" + " --- |" * columns, *lines[1:]] if columns else lines


def as_plain(texts: Sequence[str]) -> str:
    """A row as one line: every column has its place, also the empty ones, so that no value moves under another heading.

    A first cell alone is no row of values.
    """
    if not any(texts[1:]):
        return texts[0]
    return " ".join(" | ".join(texts).split())


def around(page: Walked, holder: int, tag: str) -> int:
    """The nearest element of a tag, from the holder upwards; -1 where there is none."""
    while holder >= 0 and page.tags[holder] != tag:
        holder = page.parents[holder]
    return holder


def cell_of(page: Walked, holder: int, row: int) -> int:
    """The element in a row that holds the holder; -1 where none does."""
    while holder >= 0 and page.parents[holder] != row:
        holder = page.parents[holder]
    return holder


def _line(texts: Sequence[str]) -> str:
    """A bar in a text would begin another column."""
    return "".join(f"| {text.replace('|', chr(92) + '|')} " for text in texts) + "|"
