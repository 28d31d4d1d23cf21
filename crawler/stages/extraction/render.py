"""The renderer turns trafilatura's result tree into text that reads like the page.

trafilatura's own text output keeps the line breaks of the HTML source inside paragraphs, and a `<pre>` may come back as
a quotation without its line breaks. Here a paragraph is one line, a list item is one line behind "- ", a table row is
one line of cells, and preformatted text keeps its lines and its indentation: `protect_preformatted` marks them before
the extractor runs, `render` puts them back.
"""

from __future__ import annotations

import re
from typing import Any

from crawler.stages.extraction.ordinals import number_in

NEWLINE, SPACE, TAB = "\U0001d2e0", "\U0001d2e1", "\U0001d2e3"
"""Stand-ins for white space of <pre>: printable (extractors strip what is not), of a dead script (Mayan numerals)."""

_BULLET = "\U0001d2e2"
_BULLETS = re.compile(rf"{_BULLET}([^\s{_BULLET}]*+){_BULLET}\s*+(?:({SPACE}*+)(?={_BULLET}))?")
"""The sign of a list item, its number between two marks; then the indentation of another item that it holds."""

_PROTECT = str.maketrans({"\n": NEWLINE, "\t": TAB})
_RESTORE = str.maketrans({NEWLINE: "\n", SPACE: " ", TAB: "\t"})
_BLOCKS = frozenset({"p", "head", "list", "table", "quote", "div", "body", "fw", "ab", "row", "graphic", "lb"})
_LIST_ITEMS = frozenset({"dt", "dd"})
_LINES_OF_CODE = frozenset({"div", "p", "li"})
"""Elements that hold one line each in some <pre>."""


def protect_preformatted(tree: Any) -> None:
    """Replace line breaks and indentation of <pre> and <textarea>-like text by stand-ins, in place."""
    for pre in tree.iter("pre"):
        for element in pre.iter():
            if element.tag == "br":
                element.tail = NEWLINE + (element.tail or "")
            elif element.tag in _LINES_OF_CODE and element is not pre:
                element.tail = "\n" + (element.tail or "").removeprefix("\n")
            if element.text:
                element.text = _protected(element.text)
            if element is not pre and element.tail:
                element.tail = _protected(element.tail)


def _protected(text: str) -> str:
    text = text.replace("\r", "").replace("\xa0", " ")
    return text.replace("  ", SPACE * 2).replace(SPACE + " ", SPACE * 2).translate(_PROTECT)


def render(body: Any) -> str:
    """Plain text of a trafilatura body element: blocks on lines of their own, no empty lines outside code."""
    parts: list[str] = []
    _walk(body, parts, "")
    return tidy(_BULLETS.sub(_marker, "".join(parts)))


def _marker(match: re.Match[str]) -> str:
    """The sign of a list item joins its first line; an item that only holds another list has no sign but a number."""
    if match[2] is None:
        return (match[1] or "-") + " "
    return f"{match[1]} " if match[1] else match[2]


def tidy(text: str) -> str:
    """Collapse the white space of every line, drop empty lines, then restore what was protected."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(restored for line in lines if (restored := _restored(line)))


def _restored(line: str) -> str:
    if NEWLINE not in line and SPACE not in line and TAB not in line:
        return line
    lines = [part.rstrip() for part in line.translate(_RESTORE).split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)


def _walk(element: Any, parts: list[str], indent: str) -> None:
    tag = element.tag
    is_block = tag in _BLOCKS or (tag == "code" and _is_code_block(element))
    if tag == "item":
        parts.append("\n" + _bullet(element, indent))
    elif is_block:
        parts.append("\n")
    if tag == "table":
        _table(element, parts, indent)
    else:
        parts.append(_inline(element.text))
        deeper = indent + SPACE * 2 if tag == "item" else indent
        for child in element:
            if isinstance(child.tag, str):
                _walk(child, parts, deeper)
            parts.append(_inline(child.tail))
    if is_block or tag == "item":
        parts.append("\n")


def _inline(text: str | None) -> str:
    """Line breaks of the HTML source are spaces; only elements make lines."""
    return text.replace("\n", " ") if text else ""


def _is_code_block(code: Any) -> bool:
    parent = code.getparent()
    return parent is None or parent.tag in {"body", "quote", "div", "cell"}


def _bullet(item: Any, indent: str) -> str:
    """Definition lists read as lines; other items carry "- ". Text of an item's first paragraph joins its bullet."""
    noted = item.get("rend") or ""
    return "" if noted[:2] in _LIST_ITEMS else indent + _BULLET + number_in(noted) + _BULLET


def _table(table: Any, parts: list[str], indent: str) -> None:
    """A row is a line of cells. Where a cell holds a table, the outer one is layout: its cells are blocks."""
    rows = [row for row in table.iter("row") if _table_of(row) is table]
    all_cells = [[cell for cell in row.iter("cell") if _table_of(cell) is table] for row in rows]
    is_of_values = any(sum(1 for cell in cells if _flat(cell)) > 1 for cells in all_cells)
    for cells in all_cells:
        if any(next(cell.iter("table"), None) is not None for cell in cells):
            for cell in cells:
                parts.append("\n")
                _walk(cell, parts, indent)
        elif len(texts := [(cell, text) for cell in cells if (text := _flat(cell))]) == 1 and not (
            is_of_values and texts[0][0] is not cells[0]
        ):
            parts.append("\n")
            _walk(texts[0][0], parts, indent)  # a first cell alone is no row of values: its blocks are lines
            parts.append("\n")
        elif texts:
            parts.append("\n" + " | ".join(_flat(cell) for cell in cells))


def _table_of(element: Any) -> Any:
    return next(element.iterancestors("table"), None)


def _flat(element: Any) -> str:
    return " ".join(
        " ".join(t.replace(NEWLINE, " ").replace(SPACE, " ").replace(TAB, " ") for t in element.itertext()).split()
    )
