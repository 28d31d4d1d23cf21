"""An ODT (ODF 1.3, text documents) becomes blocks: paragraphs, headings, lists, rows of tables, notes.

What was deleted under tracking, comments and hidden text are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from crawler.stages.documents.listings import lines, with_listings
from crawler.stages.documents.model import Block, Content, Facts, UnreadableError
from crawler.stages.documents.numbering import Count
from crawler.stages.documents.odt_styles import STYLE, Styles, styles_of
from crawler.stages.documents.packed import Package, local
from crawler.stages.documents.said import plausible_author, plausible_title
from crawler.stages.documents.xmp import state

READER = "gristmill-odt-2"
_LINK = "{http://www.w3.org/1999/xlink}href"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SHOW = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_LEFT_OUT = frozenset(
    {"tracked-changes", "annotation", "annotation-end", "hidden-text", "hidden-paragraph", "sequence-decls", "forms",
     "ruby-text", "bookmark", "note-citation", "desc", "title", "table-of-content", "alphabetical-index", "object"}
)  # fmt: skip
_MOST_SPACES = 200
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_SPACES = {"tab": "\t", "line-break": "\n"}


def read(body: bytes, wanted: dict[str, Any]) -> Iterator[Facts | Content]:
    """The facts, then the content. wanted: `max_links`. Raises: UnreadableError."""
    package = opened(body)
    yield facts_of(package, READER)
    text = body_of(package, "text")
    styles = styles_of(package, text.getroottree().getroot())
    yield TextReader(styles).content(text, wanted["max_links"])


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

    def __init__(self, styles: Styles | None = None) -> None:
        self.links: dict[str, None] = {}
        self._styles = styles or Styles()
        self._pending: list[Block] = []
        self._lists: list[Count] = []
        self._ended: dict[str, Count] = {}
        """Lists by the name of their style, as far as they were counted."""

    def content(self, text: Any, max_links: int) -> Content:
        """The blocks of a text, and where it leads."""
        blocks = list(with_listings(self.blocks(text)))
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
        style = str(element.get(STYLE, ""))
        text = "" if style in self._styles.hidden else "".join(self._texts(element))
        if text.strip() and is_heading:
            level = str(element.get(f"{_TEXT}outline-level", "1"))
            level = level if level.isascii() and level.isdigit() and len(level) < 2 else "1"
            yield Block("heading", " ".join(text.split()), int(level))
        elif text.strip() and style in self._styles.code and not role and not self._lists:
            yield Block("code", text.expandtabs(4).rstrip())
        elif text.strip():
            yield Block("paragraph", lines(text), role=role)
        pending, self._pending = self._pending, outer
        yield from pending

    def _list(self, parent: Any, role: str) -> Iterator[Block]:
        """The items of a list: the first paragraph of each has its sign or number, the others stand by themselves."""
        name = str(parent.get(STYLE, ""))
        if self._lists:
            count = self._lists[-1]
        elif parent.get(f"{_TEXT}continue-numbering") == "true" or parent.get(f"{_TEXT}continue-list"):
            count = self._ended.setdefault(name, Count(self._styles.lists.get(name, {})))
        else:
            count = self._ended[name] = Count(self._styles.lists.get(name, {}))
        self._lists.append(count)
        for item in parent:
            if not isinstance(item.tag, str):
                continue
            start, is_item = str(item.get(f"{_TEXT}start-value", "")), local(item) == "list-item"
            mark = ""
            for block in self.blocks(item, role):
                if block.form != "paragraph" or block.role != role:
                    yield block
                    continue
                if not mark and is_item:
                    mark = count.mark(
                        len(self._lists) - 1, int(start[:6]) if start.isascii() and start.isdigit() else None
                    )
                    yield Block("list", f"{mark} {' '.join(block.text.split())}", role=role)
                else:
                    yield block
        self._lists.pop()

    def _texts(self, parent: Any) -> Iterator[str]:
        yield parent.text or ""
        for element in parent:
            name, style = local(element), str(element.get(STYLE, ""))
            if name in _SPACES:
                yield _SPACES[name]
            elif name == "s":
                number = str(element.get(f"{_TEXT}c", "1"))
                yield " " * (min(int(number), _MOST_SPACES) if number.isascii() and number[:9].isdigit() else 1)
            elif name == "note":
                self._pending += [
                    b for part in element if local(part) == "note-body" for b in self.blocks(part, "footnote")
                ]
            elif name == "text-box":
                self._pending += list(self.blocks(element))
            elif name == "span" and (shift := self._styles.shifts.get(style)):
                yield shift("".join(self._texts(element)))
            elif name not in _LEFT_OUT and not (name == "span" and style in self._styles.hidden):
                if name == "a" and (url := str(element.get(_LINK, ""))).lower().startswith(("http://", "https://")):
                    self.links.setdefault(url)
                yield from self._texts(element)
            yield element.tail or ""

    def _table(self, table: Any) -> Iterator[Block]:
        for row in rows_of(table):
            texts = (" ".join(block.text for block in self.blocks(cell)) for cell in row if local(cell) == "table-cell")
            cells = [" ".join(text.split()) for text in texts]
            if any(cells):
                yield Block("table", " | ".join(cells))


def rows_of(parent: Any) -> Iterator[Any]:
    """The rows of a table, those of its groups included."""
    for element in parent:
        if local(element) == "table-row":
            yield element
        elif local(element) in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from rows_of(element)
