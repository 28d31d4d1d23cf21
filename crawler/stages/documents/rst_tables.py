"""Tables of reStructuredText, drawn as a grid or between rules, become the cells of their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_GRID = re.compile(r"\+(?:[-=]{1,500}\+){1,200}$")
_RULED = re.compile(r"={2,500}(?:[ ]{1,80}={2,500}){1,100}$")
_SPANS = re.compile(r"-{2,500}(?:[ ]{1,80}-{2,500}){0,100}$")


def is_grid(line: str) -> bool:
    """True for the first line of a grid."""
    return _GRID.match(line) is not None


def is_ruled(line: str) -> bool:
    """True for a rule of `=` over two columns or more."""
    return _RULED.match(line) is not None


def grid_rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """The rows of a grid; a cell over several rows stands in the first of them."""
    row: list[str] = []
    for line in lines:
        if line.startswith("+"):
            yield from [row] if any(row) else []
            row = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > len(row):
            row += [""] * (len(cells) - len(row))
        row = [f"{a} {b}".strip() if b else a for a, b in zip(row, cells + [""] * (len(row) - len(cells)), strict=True)]
    yield from [row] if any(row) else []


def ruled_rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """The rows between rules; a line without its first cell goes on with the row above it."""
    edges = [found.start() for found in re.finditer(r"=+", lines[0])]
    row: list[str] = []
    for line in lines[1:]:
        if is_ruled(line) or _SPANS.match(line):
            continue
        cells = [line[a:b].strip() for a, b in zip(edges, [*edges[1:], len(line) + 1], strict=True)]
        if row and not cells[0] and any(cells):
            row = [f"{a} {b}".strip() for a, b in zip(row, cells, strict=True)]
            continue
        yield from [row] if any(row) else []
        row = cells
    yield from [row] if any(row) else []
