"""A DOCX (ECMA-376, WordprocessingML) becomes blocks: paragraphs, headings, lists, rows of tables, notes.

Inserted text, content controls and text boxes are read; deleted and hidden text and the instructions of fields are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from crawler.stages.documents.model import Block, Content, Facts, UnreadableError
from crawler.stages.documents.ooxml import addresses, facts_of, targets
from crawler.stages.documents.packed import Package, local, root_of

READER = "gristmill-docx-1"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_SIGNS = {"tab": " ", "br": " ", "cr": " ", "noBreakHyphen": "\u2011", "softHyphen": ""}
_LEFT_OUT = frozenset(
    {"del", "moveFrom", "instrText", "delText", "rPr", "pPr", "Fallback", "pict", "fldData", "rt", "commentReference"}
)
_HEADING = re.compile(r"(?:heading|titre|überschrift|encabezado|título|titolo|kop|rubrik|заголовок)\s*(\d)", re.I)
"""Names of the built-in styles; files of translated programs keep `heading N` as the name all the same."""


def read(body: bytes, wanted: dict[str, Any]) -> Iterator[Facts | Content]:
    """The facts, then the content. wanted: `max_links`. Raises: UnreadableError."""
    package = Package(body)
    yield facts_of(package, READER)
    data = package.read("word/document.xml")
    if data is None:
        raise UnreadableError("broken_document", "it has no word/document.xml")
    yield _Reader(package, data).content(wanted["max_links"])


class _Reader:
    """Walks the body of one document."""

    def __init__(self, package: Package, data: bytes) -> None:
        self._root = root_of(data.replace(_STRICT, _W.strip("{}").encode()), "word/document.xml")
        self._levels = _levels(package)
        self._targets = addresses(targets(package, "word/document.xml"))
        self._notes = {kind: _notes(package, kind) for kind in ("footnote", "endnote")}
        self._links: dict[str, None] = {}
        self._pending: list[Block] = []
        self._hidden = 0

    def content(self, max_links: int) -> Content:
        body = self._root.find(f"{_W}body")
        blocks = list(self._blocks(body if body is not None else self._root))
        counts = {"hidden_runs": self._hidden} if self._hidden else {}
        return Content(blocks=blocks, links=list(self._links)[:max_links], counts=counts)

    def _blocks(self, parent: Any) -> Iterator[Block]:
        for element in parent:
            name = local(element)
            if name == "p":
                yield from self._paragraph(element)
            elif name == "tbl":
                yield from self._table(element)
            elif name not in _LEFT_OUT and name != "sectPr":
                yield from self._blocks(element)

    def _paragraph(self, element: Any, role: str = "") -> Iterator[Block]:
        outer, self._pending = self._pending, []
        text = " ".join("".join(self._texts(element)).split())
        if text:
            yield self._block(element, text, role)
        pending, self._pending = self._pending, outer
        yield from pending

    def _block(self, element: Any, text: str, role: str) -> Block:
        properties = element.find(f"{_W}pPr")
        if properties is None or role:
            return Block("paragraph", text, role=role)
        style = _value(properties.find(f"{_W}pStyle"))
        level = self._levels.get(style, 0) or _outline(properties)
        if level:
            return Block("heading", text, level)
        if properties.find(f"{_W}numPr") is not None:
            return Block("list", f"- {text}")
        return Block("paragraph", text)

    def _texts(self, parent: Any) -> Iterator[str]:
        for element in parent:
            name = local(element)
            if name == "t":
                yield element.text or ""
            elif name in _SIGNS:
                yield _SIGNS[name]
            elif name in {"footnoteReference", "endnoteReference"}:
                self._note(name.removesuffix("Reference"), element.get(f"{_W}id", ""))
            elif name == "txbxContent":
                self._pending += list(self._blocks(element))
            elif name == "r" and _is_hidden(element):
                self._hidden += 1
            elif name not in _LEFT_OUT:
                if name == "hyperlink" and (target := self._targets.get(element.get(_R, ""))):
                    self._links.setdefault(target)
                yield from self._texts(element)

    def _note(self, kind: str, number: str) -> None:
        note = self._notes[kind].pop(number, None)
        for element in () if note is None else note.iter(f"{_W}p"):
            self._pending += list(self._paragraph(element, "footnote"))

    def _table(self, table: Any) -> Iterator[Block]:
        for row in table.iter(f"{_W}tr"):
            if next(row.iterancestors(f"{_W}tbl")) is not table:
                continue  # of a table in a cell, which that cell holds
            cells = [
                " ".join(block.text for block in self._blocks(cell)) for cell in row if local(cell) in {"tc", "sdt"}
            ]
            if any(cells):
                yield Block("table", " | ".join(cells))


def _value(element: Any) -> str:
    return "" if element is None else str(element.get(f"{_W}val", ""))


def _outline(properties: Any) -> int:
    level = _value(properties.find(f"{_W}outlineLvl"))
    return int(level) + 1 if level.isascii() and level.isdigit() and int(level) < 9 else 0


def _is_hidden(run: Any) -> bool:
    properties = run.find(f"{_W}rPr")
    vanish = None if properties is None else properties.find(f"{_W}vanish")
    return vanish is not None and _value(vanish) not in {"0", "false", "off"}


def _levels(package: Package) -> dict[str, int]:
    """Level of the headings, by the id of their style."""
    styles = package.xml("word/styles.xml")
    found = {}
    for style in () if styles is None else styles.iter(f"{_W}style"):
        name = _value(style.find(f"{_W}name"))
        properties = style.find(f"{_W}pPr")
        heading = _HEADING.match(name)
        level = int(heading[1]) if heading else 1 if name.lower() == "title" else 0
        level = level or (0 if properties is None else _outline(properties))
        if level:
            found[str(style.get(f"{_W}styleId"))] = min(level, 9)
    return found


def _notes(package: Package, kind: str) -> dict[str, Any]:
    root = package.xml(f"word/{kind}s.xml")
    notes = () if root is None else root.iter(f"{_W}{kind}")
    return {str(note.get(f"{_W}id")): note for note in notes if note.get(f"{_W}type") is None}
