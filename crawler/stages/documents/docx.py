"""A DOCX (ECMA-376, WordprocessingML) becomes blocks: paragraphs, headings, lists, rows of tables, notes.

Inserted text, content controls and text boxes are read; deleted and hidden text and the instructions of fields are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from crawler.stages.documents.docx_styles import Numbers, Style, W, is_on, number_of, outline, styles_of, value
from crawler.stages.documents.listings import lines, with_listings
from crawler.stages.documents.model import Block, Content, Facts, UnreadableError
from crawler.stages.documents.ooxml import addresses, facts_of, targets
from crawler.stages.documents.packed import Package, local, root_of
from crawler.stages.text.shifted import lowered, raised

READER = "gristmill-docx-2"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "softHyphen": ""}
_LEFT_OUT = frozenset(
    {"del", "moveFrom", "instrText", "delText", "rPr", "pPr", "Fallback", "pict", "fldData", "rt", "commentReference"}
)
_SHIFTS = {"superscript": raised, "subscript": lowered}


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
        self._root = root_of(data.replace(_STRICT, W.strip("{}").encode()), "word/document.xml")
        self._styles, self._numbers = styles_of(package), Numbers(package)
        self._targets = addresses(targets(package, "word/document.xml"))
        self._notes = {kind: _notes(package, kind) for kind in ("footnote", "endnote")}
        self._links: dict[str, None] = {}
        self._pending: list[Block] = []
        self._counts: Counter[str] = Counter()

    def content(self, max_links: int) -> Content:
        body = self._root.find(f"{W}body")
        blocks = list(with_listings(self._blocks(body if body is not None else self._root)))
        return Content(blocks=blocks, links=list(self._links)[:max_links], counts=dict(self._counts))

    def _blocks(self, parent: Any) -> Iterator[Block]:
        for element in parent:
            name = local(element)
            if name == "p":
                yield from self._paragraph(element)
            elif name == "tbl":
                yield from self._table(element)
            elif name == "sdt" and _is_contents(element):
                self._counts["contents_lines"] += sum(1 for _ in element.iter(f"{W}p"))
            elif name not in _LEFT_OUT and name != "sectPr":
                yield from self._blocks(element)

    def _paragraph(self, element: Any, role: str = "") -> Iterator[Block]:
        outer, self._pending = self._pending, []
        properties = element.find(f"{W}pPr")
        style = self._style(properties, "pStyle")
        text = "".join(self._texts(element))
        if style.is_hidden or style.is_contents:
            self._counts["hidden_runs" if style.is_hidden else "contents_lines"] += bool(text.strip())
        elif text.strip():
            yield self._block(properties, style, text, role)
        pending, self._pending = self._pending, outer
        yield from pending

    def _style(self, properties: Any, name: str) -> Style:
        return Style() if properties is None else self._styles.get(value(properties.find(f"{W}{name}")), Style())

    def _block(self, properties: Any, style: Style, text: str, role: str) -> Block:
        if style.is_code and not role:
            return Block("code", text.expandtabs(4).rstrip())
        text = lines(text)
        if properties is None or role:
            return Block("paragraph", text, role=role)
        if level := style.level or outline(properties):
            return Block("heading", " ".join(text.split()), level)
        number = number_of(properties) or style.number
        if number is not None and number[0] != "0":
            return Block("list", f"{self._numbers.mark(number)} {' '.join(text.split())}")
        return Block("paragraph", text)

    def _texts(self, parent: Any) -> Iterator[str]:
        for element in parent:
            name = local(element)
            if name == "t":
                yield element.text or ""
            elif name in _SIGNS:
                yield _SIGNS[name]
            elif name in {"footnoteReference", "endnoteReference"}:
                self._note(name.removesuffix("Reference"), element.get(f"{W}id", ""))
            elif name == "txbxContent":
                self._pending += list(self._blocks(element))
            elif name == "r":
                yield from self._run(element)
            elif name == "sdt" and _is_contents(element):
                self._counts["contents_lines"] += 1
            elif name not in _LEFT_OUT:
                if name == "hyperlink" and (target := self._targets.get(element.get(_R, ""))):
                    self._links.setdefault(target)
                yield from self._texts(element)

    def _run(self, run: Any) -> Iterator[str]:
        properties = run.find(f"{W}rPr")
        if is_on(properties, "vanish") or self._style(properties, "rStyle").is_hidden:
            self._counts["hidden_runs"] += 1
            return
        shift = None if properties is None else _SHIFTS.get(value(properties.find(f"{W}vertAlign")))
        yield from self._texts(run) if shift is None else [shift("".join(self._texts(run)))]

    def _note(self, kind: str, number: str) -> None:
        note = self._notes[kind].pop(number, None)
        for element in () if note is None else note.iter(f"{W}p"):
            self._pending += list(self._paragraph(element, "footnote"))

    def _table(self, table: Any) -> Iterator[Block]:
        for row in table.iter(f"{W}tr"):
            if next(row.iterancestors(f"{W}tbl")) is not table:
                continue  # of a table in a cell, which that cell holds
            texts = (" ".join(b.text for b in self._blocks(cell)) for cell in row if local(cell) in {"tc", "sdt"})
            cells = [" ".join(text.split()) for text in texts]
            if any(cells):
                yield Block("table", " | ".join(cells))


def _is_contents(control: Any) -> bool:
    """True for a content control that the program fills with a table of contents, or shows only until it is filled."""
    properties = control.find(f"{W}sdtPr")
    if properties is None:
        return False
    gallery = value(properties.find(f"{W}docPartObj/{W}docPartGallery"))
    return gallery == "Table of Contents" or is_on(properties, "showingPlcHdr")


def _notes(package: Package, kind: str) -> dict[str, Any]:
    root = package.xml(f"word/{kind}s.xml")
    notes = () if root is None else root.iter(f"{W}{kind}")
    return {str(note.get(f"{W}id")): note for note in notes if note.get(f"{W}type") is None}
