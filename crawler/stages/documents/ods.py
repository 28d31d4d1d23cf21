"""An ODS (ODF 1.3, spreadsheets) becomes the rows of its sheets that hold prose (`cells.py`).

Hidden sheets, rows and columns, comments and formulae are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from crawler.stages.documents.cells import Row, blocks_of_sheets
from crawler.stages.documents.model import Content, Facts, check_number
from crawler.stages.documents.odt import TextReader, parts_of, rows_of
from crawler.stages.documents.packed import local

READER = "gristmill-ods-1"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_KIND = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}value-type"
_HIDDEN = frozenset({"collapse", "filter"})
_MOST = 16_384
"""Columns of a sheet, whatever it says of their repetition."""


def read(body: bytes, wanted: dict[str, Any]) -> Iterator[Facts | Content]:
    """The facts, then the content. wanted: `max_pages`, `max_links`. Raises: UnreadableError."""
    facts, sheets, hidden = parts_of(body, READER, "spreadsheet", "table")
    yield facts
    check_number(facts, wanted, "sheets")
    reader, counts = TextReader(), Counter[str]()
    blocks = blocks_of_sheets(_shown(reader, sheets, hidden, counts), counts)
    kept = {name: count for name, count in counts.items() if count}
    yield Content(blocks=blocks, links=list(reader.links)[: wanted["max_links"]], counts=kept)


def _shown(
    reader: TextReader, sheets: list[Any], hidden: frozenset[str], counts: Counter[str]
) -> Iterator[tuple[str, Iterator[Row]]]:
    for sheet in sheets:
        if sheet.get(f"{_TABLE}style-name") in hidden:
            counts["hidden_pages"] += 1
        else:
            yield str(sheet.get(f"{_TABLE}name", "")), _rows(reader, sheet, counts)


def _rows(reader: TextReader, sheet: Any, counts: Counter[str]) -> Iterator[Row]:
    hidden = _hidden_columns(sheet)
    for row in rows_of(sheet):
        if row.get(f"{_TABLE}visibility") in _HIDDEN:
            counts["hidden_rows"] += 1
            continue
        found: Row = []
        column = 0
        for cell in row:
            is_hidden, column = column in hidden, column + _repeated(cell)
            if local(cell) != "table-cell":
                continue
            if is_hidden:
                counts["hidden_cells"] += len(cell) > 0
            elif cell.get(_KIND, "string") != "string":
                counts["number_cells"] += 1
            elif text := " ".join(block.text for block in reader.blocks(cell)):
                found.append(text)
        yield found


def _repeated(element: Any) -> int:
    """How many columns an element stands for."""
    said = str(element.get(f"{_TABLE}number-columns-repeated", "1"))
    return min(int(said[:6]), _MOST) if said.isascii() and said.isdigit() else 1


def _hidden_columns(sheet: Any) -> frozenset[int]:
    found: set[int] = set()
    at = 0
    for column in (element for element in sheet.iter() if local(element) == "table-column"):
        width = _repeated(column)
        if column.get(f"{_TABLE}visibility") in _HIDDEN and at < _MOST:
            found |= set(range(at, min(at + width, _MOST)))
        at += width
    return frozenset(found)
