"""An XLSX (ECMA-376, SpreadsheetML) becomes the rows of its sheets that hold prose (`cells.py`).

Hidden sheets, rows and columns, comments and formulae are not read; of a formula that gives a text, the text is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from crawler.stages.documents.cells import Row, blocks_of_sheets
from crawler.stages.documents.model import Content, Facts, UnreadableError, check_number
from crawler.stages.documents.ooxml import Target, addresses, facts_of, of_kind, targets
from crawler.stages.documents.packed import Package, local

READER = "gristmill-xlsx-1"
_MAIN = "xl/workbook.xml"
_LETTERS = re.compile(r"[A-Z]{1,3}")


def read(body: bytes, wanted: dict[str, Any]) -> Iterator[Facts | Content]:
    """The facts, then the content. wanted: `max_pages`, `max_links`. Raises: UnreadableError."""
    package = Package(body)
    facts = facts_of(package, READER)
    root, relations = package.xml(_MAIN), targets(package, _MAIN)
    if root is None:
        raise UnreadableError("broken_document", f"it has no {_MAIN}")
    sheets = [element for element in root.iter() if local(element) == "sheet"]
    facts.pages = len(sheets)
    yield facts
    check_number(facts, wanted, "sheets")
    yield _Reader(package, relations).content(sheets, wanted["max_links"])


def _strings(package: Package, place: str) -> list[str]:
    """The texts that cells share, by their number."""
    root = package.xml(place)
    return [] if root is None else [_text(element) for element in root if local(element) == "si"]


def _text(element: Any) -> str:
    """The text of a string, without how it is pronounced (`rPh`)."""
    texts = (one.text or "" for one in element.iter() if local(one) == "t" and local(one.getparent()) != "rPh")
    return " ".join("".join(texts).split())


class _Reader:
    """Walks the sheets of one file."""

    def __init__(self, package: Package, relations: dict[str, Target]) -> None:
        self._package, self._relations = package, relations
        self._strings = [text for place in of_kind(relations, "sharedStrings") for text in _strings(package, place)]
        self._counts: Counter[str] = Counter()
        self._links: dict[str, None] = {}

    def content(self, sheets: list[Any], max_links: int) -> Content:
        blocks = blocks_of_sheets(self._shown(sheets), self._counts)
        counts = {name: count for name, count in self._counts.items() if count}
        return Content(blocks=blocks, links=list(self._links)[:max_links], counts=counts)

    def _shown(self, sheets: list[Any]) -> Iterator[tuple[str, Iterator[Row]]]:
        for sheet in sheets:
            name = next((str(v) for k, v in sheet.attrib.items() if k.endswith("/relationships}id")), "")
            target = self._relations.get(name)
            if sheet.get("state", "visible") != "visible":
                self._counts["hidden_pages"] += 1
            elif target is None or (root := self._package.page(target.place)) is None:
                self._counts["broken_pages"] += 1
            elif target.kind == "worksheet":
                self._links |= dict.fromkeys(addresses(targets(self._package, target.place)).values())
                yield str(sheet.get("name", "")), _rows(root, self._strings, self._counts)
            else:
                self._counts["charts"] += 1


def _rows(root: Any, strings: list[str], counts: Counter[str]) -> Iterator[Row]:
    hidden = _hidden_columns(root)
    for row in (element for element in root.iter() if local(element) == "row"):
        if row.get("hidden") in {"1", "true"}:
            counts["hidden_rows"] += 1
            continue
        found = []
        for cell in row:
            if _column(str(cell.get("r", ""))) in hidden:
                counts["hidden_cells"] += 1
            elif (text := _cell(cell, strings)) is None:
                counts["number_cells"] += 1
            else:
                found.append(text)
        yield found


def _cell(cell: Any, strings: list[str]) -> str | None:
    """The text of a cell, "" for none; None for a number, a day, a truth, an error."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return " ".join(filter(None, (_text(inner) for inner in cell if local(inner) == "is")))
    value = next((inner.text or "" for inner in cell if local(inner) == "v"), "")
    if kind == "s":
        known = value.isascii() and value.isdigit() and int(value[:9]) < len(strings)
        return strings[int(value[:9])] if known else ""
    if kind == "str":
        return " ".join(value.split())
    return None if value else ""


def _hidden_columns(root: Any) -> frozenset[int]:
    found: set[int] = set()
    for element in (one for one in root.iter() if local(one) == "col" and one.get("hidden") in {"1", "true"}):
        first, last = (str(element.get(name, "")) for name in ("min", "max"))
        if first.isascii() and first.isdigit() and last.isascii() and last.isdigit():
            found |= set(range(int(first[:6]), min(int(last[:6]), 16_384) + 1))
    return frozenset(found)


def _column(reference: str) -> int:
    """The number of a column from 1, out of a reference as "AB12"; 0 where there is none."""
    number = 0
    for letter in (_LETTERS.match(reference) or [""])[0]:
        number = 26 * number + ord(letter) - 64
    return number
