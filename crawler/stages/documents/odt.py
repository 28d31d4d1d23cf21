"""An ODT (ODF 1.3, text documents) becomes blocks: paragraphs, headings, lists, rows of tables, notes.

What was deleted under tracking, comments and hidden text are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from crawler.stages.documents.model import Block, Content, Facts, UnreadableError
from crawler.stages.documents.packed import Package, local
from crawler.stages.documents.said import plausible_author, plausible_title
from crawler.stages.documents.xmp import state

READER = "gristmill-odt-1"
_LINK = "{http://www.w3.org/1999/xlink}href"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SHOW = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_LEFT_OUT = frozenset(
    {"tracked-changes", "annotation", "annotation-end", "hidden-text", "hidden-paragraph", "sequence-decls", "forms",
     "ruby-text", "bookmark", "note-citation", "desc", "title", "table-of-content", "alphabetical-index", "object"}
)  # fmt: skip
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_SPACES = {"s": " ", "tab": " ", "line-break": " "}


def read(body: bytes, wanted: dict[str, Any]) -> Iterator[Facts | Content]:
    """The facts, then the content. wanted: `max_links`. Raises: UnreadableError."""
    package = opened(body)
    yield facts_of(package, READER)
    yield TextReader().content(body_of(package, "text"), wanted["max_links"])


def opened(body: bytes) -> Package:
    """The members of a file of ODF. Raises: UnreadableError, also encrypted."""
    package = Package(body)
    if b"encryption-data" in (package.read("META-INF/manifest.xml") or b""):
        raise UnreadableError("encrypted", "the file opens with a password only")
    return package


def body_of(package: Package, kind: str) -> Any:
    """The element of `content.xml` that holds the document. kind: "text", "presentation" or "spreadsheet".

    Raises: UnreadableError where there is none.
    """
    root = package.xml("content.xml")
    found = None if root is None else root.find(f"{_OFFICE}body/{_OFFICE}{kind}")
    if found is None:
        raise UnreadableError("broken_document", f"it has no {kind} in content.xml")
    return found


def parts_of(body: bytes, reader: str, kind: str, part: str) -> tuple[Facts, list[Any], frozenset[str]]:
    """The facts of a file, its slides or sheets, and the names of the styles of those that are not shown.

    kind: as for `body_of`. part: the name of their element. Raises: UnreadableError.
    """
    package = opened(body)
    facts, whole = facts_of(package, reader), body_of(package, kind)
    parts = [element for element in whole if local(element) == part]
    facts.pages = len(parts)
    hidden = (style for style in whole.getroottree().getroot().iter() if _hides(style))
    names = (value for style in hidden for name, value in style.getparent().attrib.items() if name.endswith("}name"))
    return facts, parts, frozenset(map(str, names))


def _hides(style: Any) -> bool:
    """Properties of a style for slides or sheets that are not shown."""
    if local(style) == "drawing-page-properties":
        return bool(style.get(f"{_SHOW}visibility") == "hidden")
    return local(style) == "table-properties" and style.get(f"{_TABLE}display") == "false"


def facts_of(package: Package, reader: str) -> Facts:
    """What `meta.xml` says. reader: for `Facts.reader`. Raises: UnreadableError."""
    facts = Facts(reader=reader)
    root = package.xml("meta.xml")
    for element in () if root is None else root.iter():
        name, text = local(element), (element.text or "").strip()
        if name == "creation-date" and (day := _DAY.match(text)):
            facts.date = day[0]
        elif name == "initial-creator":
            facts.author = text or facts.author
        elif name == "creator":  # who wrote last
            facts.author = facts.author or text
        elif name == "user-defined":
            named = next((str(v) for k, v in element.attrib.items() if k.endswith("}name")), "")
            state(facts, "", named, text)
        elif name and text:
            state(facts, element.tag.rpartition("}")[0].lstrip("{"), name, text)
    facts.title, facts.author = plausible_title(facts.title), plausible_author(facts.author)
    return facts


class TextReader:
    """Walks the body of one document."""

    def __init__(self) -> None:
        self.links: dict[str, None] = {}
        self._pending: list[Block] = []

    def content(self, text: Any, max_links: int) -> Content:
        """The blocks of a text, and where it leads."""
        blocks = list(self.blocks(text))
        return Content(blocks=blocks, links=list(self.links)[:max_links])

    def blocks(self, parent: Any, role: str = "") -> Iterator[Block]:
        """What stands within an element."""
        for element in parent:
            name = local(element)
            if name in {"p", "h"}:
                yield from self._paragraph(element, name == "h", role)
            elif name == "list":
                yield from self._list(element, role)
            elif name == "table":
                yield from self._table(element)
            elif name not in _LEFT_OUT:
                yield from self.blocks(element, role)

    def _paragraph(self, element: Any, is_heading: bool, role: str) -> Iterator[Block]:
        outer, self._pending = self._pending, []
        text = " ".join("".join(self._texts(element)).split())
        if text and is_heading:
            level = str(element.get(f"{_TEXT}outline-level", "1"))
            yield Block("heading", text, int(level) if level.isascii() and level.isdigit() and len(level) < 2 else 1)
        elif text:
            yield Block("paragraph", text, role=role)
        pending, self._pending = self._pending, outer
        yield from pending

    def _list(self, parent: Any, role: str) -> Iterator[Block]:
        for item in parent:
            for block in self.blocks(item, role):
                yield Block("list", f"- {block.text}", role=role) if block.form == "paragraph" else block

    def _texts(self, parent: Any) -> Iterator[str]:
        yield parent.text or ""
        for element in parent:
            name = local(element)
            if name in _SPACES:
                yield _SPACES[name]
            elif name == "note":
                self._pending += [
                    b for part in element if local(part) == "note-body" for b in self.blocks(part, "footnote")
                ]
            elif name == "text-box":
                self._pending += list(self.blocks(element))
            elif name not in _LEFT_OUT:
                if name == "a" and (url := str(element.get(_LINK, ""))).lower().startswith(("http://", "https://")):
                    self.links.setdefault(url)
                yield from self._texts(element)
            yield element.tail or ""

    def _table(self, table: Any) -> Iterator[Block]:
        for row in rows_of(table):
            cells = [" ".join(block.text for block in self.blocks(cell)) for cell in row if local(cell) == "table-cell"]
            if any(cells):
                yield Block("table", " | ".join(cells))


def rows_of(parent: Any) -> Iterator[Any]:
    """The rows of a table, those of its groups included."""
    for element in parent:
        if local(element) == "table-row":
            yield element
        elif local(element) in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from rows_of(element)
