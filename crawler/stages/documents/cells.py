"""The sheets of a workbook become rows of text, as far as they hold prose: numbers are no document.

What a number means stands in its format, not in its cell (a day is 45,000), so that numbers are counted and left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from crawler.stages.documents.model import MAX_CHARS, Block, UnreadableError
from crawler.stages.documents.packed import check_pages
from crawler.stages.text.joins import UNSPACED

_WORDS, _SIGNS = 5, 12
"""Words, or signs of a script without spaces, from which a cell is prose."""
_PROSE = 0.3
"""Share of a sheet's characters that stand in such cells; below it the sheet is a table of names and codes."""
_PLAIN_NAME = re.compile(r"\w+[ _]?\d+")
"""What programs call a sheet, in any language."""
Row = list[str]
"""The cells of a row that hold text, from the first column to the last."""


def blocks_of_sheets(sheets: Iterable[tuple[str, Iterable[Row]]], counts: Counter[str]) -> list[Block]:
    """The rows of the sheets that hold prose, each sheet as a page of its own.

    sheets: names and rows, those that are shown. counts: `number_sheets` and `data_sheets` are what is left out.
    Raises: UnreadableError (too_large; no_text where no sheet holds prose).
    """
    blocks: list[Block] = []
    chars = number = 0
    for number, (name, rows) in enumerate(sheets, 1):
        kept: list[Row] = []
        for row in rows:
            chars += sum(map(len, row))
            if chars > MAX_CHARS:
                raise UnreadableError("too_large", f"more than {MAX_CHARS:,} characters within {number} sheets")
            if any(row):
                kept.append(row)
        if not kept:
            counts["number_sheets"] += 1
        elif not _is_prose(kept):
            counts["data_sheets"] += 1
        else:
            if not _PLAIN_NAME.fullmatch(name):
                blocks.append(Block("heading", name, 2, page=number))
            blocks += (Block("table", " | ".join(filter(None, row)), page=number) for row in kept)
    check_pages(counts["broken_pages"], counts["broken_pages"] + number)
    if not blocks:
        left_out = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()) if count)
        raise UnreadableError("no_text", f"no sheet holds prose: {left_out or 'it has no sheet'}")
    return blocks


def _is_prose(rows: list[Row]) -> bool:
    cells = [cell for row in rows for cell in row]
    prose = sum(len(cell) for cell in cells if len(cell.split()) >= _WORDS or len(UNSPACED.findall(cell)) >= _SIGNS)
    return prose >= _PROSE * sum(map(len, cells))
