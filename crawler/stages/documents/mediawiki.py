"""A page of a wiki (MediaWiki's export format, one page a file) becomes blocks: no markup is left in the text.

Headings, paragraphs, lists, tables, quotations, code. Templates stay out, because what they say stands elsewhere; so do
references, formulae, images, galleries and links to other languages. All are counted. Who wrote a revision is not read.
Sources: https://www.mediawiki.org/wiki/Help:Export, https://www.mediawiki.org/xml/export-0.11.xsd
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from html import unescape
from types import MappingProxyType
from typing import Any

import mwparserfromhell
from mwparserfromhell.nodes import Argument, ExternalLink, Heading, HTMLEntity, Tag, Template, Text, Wikilink
from mwparserfromhell.parser import ParserError

from crawler.stages.documents.model import Block, Content, Facts, UnreadableError
from crawler.stages.documents.packed import local, root_of
from crawler.stages.text.shifted import lowered, raised

READER = f"mediawiki-2+mwparserfromhell-{mwparserfromhell.__version__}"
FILE, CATEGORY = "6", "14"
"""Numbers of the namespaces whose links are no words of the text (https://www.mediawiki.org/wiki/Help:Namespaces)."""
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_NAMES = {"file": FILE, "image": FILE, "media": FILE, "category": CATEGORY}
"""What every wiki understands, whatever its language."""
_MEDIA = re.compile(
    r"[^:]+:[^#]+\.(?:png|jpe?g|gif|svg|webp|tiff?|xcf|pdf|djvu|og[agvx]|opus|flac|wav|mp3|midi?|webm|mp4|mpe?g|stl)\s*",
    re.IGNORECASE,
)
"""A file by a name that a dump does not tell: wikis have older ones of their own (`Bild:`, `Immagine:`)."""
_OTHER_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,10})*:[^:]+")
"""A link to the same page in another language, where it has no words of its own."""
_LEFT_OUT = {
    "ref": "references", "references": "references", "math": "formulae", "ce": "formulae", "chem": "formulae",
    "gallery": "galleries", "timeline": "galleries", "imagemap": "galleries", "score": "galleries",
    "graph": "galleries", "mapframe": "galleries", "templatedata": "templates", "templatestyles": "templates",
    "section": "", "style": "", "script": "", "hr": "", "indicator": "",
}  # fmt: skip
"""Tags without a word of the text, and under which name they are counted."""
_CODE = frozenset({"pre", "syntaxhighlight", "source"})
_QUOTES = frozenset({"blockquote", "poem"})
_BLOCKS = frozenset({"p", "div", "center", "ul", "ol", "dl", "section", "h1", "h2", "h3", "h4", "h5", "h6"})
_SHIFTS = {"sup": raised, "sub": lowered}
_SWITCH = re.compile(r"__[^\W\d_]{2,40}(?:_[^\W\d_]{2,40}){0,4}__")
_BLANK, _LINE_END = re.compile(r"\n[ \t]*\n"), re.compile(r"\n")
_GONE = "\ue002"
"""Stands where something was left out, until its paragraph is whole."""
_EMPTIED = re.compile(rf" ?[(\[（［][^\w()\[\]（）［］]{{0,200}}{_GONE}[^\w()\[\]（）［］]{{0,200}}[)\]）］]")
_BEFORE_SIGN = re.compile(rf" ?{_GONE} ?(?=[.,;:!?…。、，；：！？)\]])|{_GONE}")


def read(body: bytes, wanted: dict[str, Any]) -> Iterator[Facts | Content]:  # noqa: ARG001  # every reader's form
    """Facts, then content. Raises: UnreadableError where it is no export, or of more than one page."""
    root = root_of(body.lstrip(), "mediawiki")
    pages = [child for child in root if local(child) == "page"]
    if len(pages) != 1:
        many = f"mediawiki: an export of {len(pages)} pages, expected one; `gristmill dataset mediawiki` parts it"
        raise UnreadableError("broken_document", many)
    revision = _child(pages[0], "revision")
    title, text = _said(pages[0], "title"), _said(revision, "text")
    if (model := _said(revision, "model") or "wikitext") != "wikitext":
        raise UnreadableError("no_text", f"mediawiki: the page is {model[:60]}, and no wikitext")
    yield Facts(
        title=title,
        language=str(root.get(_LANGUAGE) or ""),
        reader=READER,
        version=_said(revision, "id"),
        modified=_http_date(_said(revision, "timestamp")),
    )
    yield of_wikitext(text, _names(root))


def of_wikitext(text: str, names: Mapping[str, str] = MappingProxyType({})) -> Content:
    """The blocks of a page. names: in lower case, what the wiki calls the namespaces FILE and CATEGORY.

    Raises: UnreadableError.
    """
    writer = _Writer({**_NAMES, **names})
    try:
        writer.walk(mwparserfromhell.parse(text.replace(_GONE, ""), skip_style_tags=False))
    except (ParserError, RecursionError) as error:
        raise UnreadableError("broken_document", f"mediawiki: {error}"[:200]) from error
    writer.close()
    return Content(blocks=writer.blocks, counts=dict(sorted(writer.counts.items())))


@dataclass(slots=True)
class _Writer:
    names: Mapping[str, str]
    blocks: list[Block] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    line: list[str] = field(default_factory=list)
    form: str = "paragraph"
    sign: str = ""
    role: str = ""

    def close(self) -> None:
        """What has been read so far is a block."""
        said = " ".join("".join(self.line).split())
        text = " ".join(_whole(said).split())
        if text and (_GONE not in said or any(map(str.isalnum, text))):
            self.blocks.append(Block(self.form, f"{self.sign}{text}", role=self.role))
        self.line, self.form, self.sign = [], "paragraph", ""

    def leave_out(self, name: str) -> None:
        """Count what stands here and has no words for the text."""
        self.counts[name] += 1
        self.line.append(_GONE)

    def walk(self, code: Any) -> None:
        """Read the nodes in order."""
        for node in code.nodes:
            self._node(node)

    def _node(self, node: Any) -> None:
        if isinstance(node, Text):
            self._text(str(node))
        elif isinstance(node, Heading):
            self._heading(node)
        elif isinstance(node, Wikilink):
            self._link(node)
        elif isinstance(node, ExternalLink):
            self._address(node)
        elif isinstance(node, HTMLEntity):
            self.line.append(unescape(str(node)))
        elif isinstance(node, Tag):
            self._tag(node)
        elif isinstance(node, Template):
            self.leave_out("templates")
        elif isinstance(node, Argument) and node.default is not None:
            self.walk(node.default)

    def _text(self, text: str) -> None:
        """An empty line ends a paragraph, the end of its line an item; one line break is a space."""
        at = 0
        while found := (_LINE_END if self.form == "list" else _BLANK).search(text, at):
            self.line.append(text[at : found.start()])
            self.close()
            at = found.end()
        self.line.append(text[at:])

    def _heading(self, node: Any) -> None:
        self.close()
        if text := self._flat(node.title):
            self.blocks.append(Block("heading", text, int(node.level)))

    def _link(self, node: Any) -> None:
        """The words that are shown; a link to a file shows the file, one to a category or another language nothing."""
        target = str(node.title).strip()
        space, colon, _ = target.partition(":")
        kind = self.names.get(space.strip().lower().replace("_", " ")) if colon else None
        if kind == FILE or _MEDIA.fullmatch(target):
            self.leave_out("images")
        elif kind == CATEGORY:
            self.leave_out("categories")
        elif node.text is not None:
            self.walk(node.text)
        elif _OTHER_LANGUAGE.fullmatch(target):
            self.leave_out("languages")
        else:
            self.line.append(target.removeprefix(":").replace("_", " "))

    def _address(self, node: Any) -> None:
        if node.title is not None:
            self.walk(node.title)
        elif not node.brackets:
            self.line.append(str(node.url))

    def _tag(self, node: Any) -> None:
        name = str(node.tag).strip().lower()
        if name in _LEFT_OUT:
            if counted := _LEFT_OUT[name]:
                self.leave_out(counted)
        elif name in {"li", "dt", "dd"}:
            self._item(node, name)
        elif name == "table":
            self._table(node)
        elif name in _CODE:
            self._code(node)
        elif name == "nowiki":
            self.line.append(unescape(str(node.contents or "")))
        elif name in _QUOTES:
            self._quotation(node)
        elif name == "br" and self.form == "list":
            self.line.append(" ")
        elif name in _BLOCKS or name == "br":
            self.close()
            self._within(node)
            self.close()
        else:
            self._phrase(node, name)

    def _phrase(self, node: Any, name: str) -> None:
        if name in _SHIFTS:
            self.line.append(_SHIFTS[name](self._flat(node.contents)))
        else:
            self._within(node)

    def _within(self, node: Any) -> None:
        if node.contents is not None:
            self.walk(node.contents)

    def _item(self, node: Any, name: str) -> None:
        """Of several signs in front of a line the last one counts."""
        self.close()
        self.form, self.sign = ("list", "- ") if name == "li" else ("list", "")
        if not node.wiki_markup:
            self._within(node)
            self.close()

    def _code(self, node: Any) -> None:
        self.close()
        if text := str(node.contents or "").strip("\n").rstrip():
            self.blocks.append(Block("code", text, role=self.role))

    def _quotation(self, node: Any) -> None:
        self.close()
        before, self.role = self.role, "quotation"
        self._within(node)
        self.close()
        self.role = before

    def _table(self, node: Any) -> None:
        """A row is a line, its cells parted by ` | `."""
        self.close()
        row: list[str] = []
        for part in _tags(node):
            name = str(part.tag).strip().lower()
            if name in {"td", "th"}:
                self._cell(part, row)
            elif name in {"tr", "tbody", "thead"}:
                self._row(row)
                row = []
                for cell in _tags(part):
                    self._cell(cell, row)
            elif name == "caption":
                self._caption(self._flat(part.contents))
        self._row(row)

    def _cell(self, cell: Any, row: list[str]) -> None:
        text = self._flat(cell.contents)
        if str(cell.wiki_markup or "").strip() == "|" and text.startswith("+") and not row:
            self._caption(text[1:].strip())
        elif text:
            row.append(text)

    def _row(self, cells: list[str]) -> None:
        if cells:
            self.blocks.append(Block("table", " | ".join(cells), role=self.role))

    def _caption(self, text: str) -> None:
        if text:
            self.blocks.append(Block("caption", text, role=self.role))

    def _flat(self, code: Any) -> str:
        """The words of a heading or a cell as one line."""
        inner = _Writer(self.names)
        if code is not None:
            inner.walk(code)
        inner.close()
        self.counts += inner.counts
        return " ".join(" ".join(block.text.split()) for block in inner.blocks)


def _whole(text: str) -> str:
    """A paragraph without the places of what was left out, and without brackets that held nothing else."""
    if _GONE in text:
        text = _BEFORE_SIGN.sub("", _EMPTIED.sub("", text))
    return _SWITCH.sub(lambda found: "" if found[0] == found[0].upper() else found[0], text)


def _tags(node: Any) -> list[Any]:
    return [] if node.contents is None else [each for each in node.contents.nodes if isinstance(each, Tag)]


def _names(root: Any) -> dict[str, str]:
    """What a wiki calls files and categories in its language."""
    spaces = (each for each in root.iter() if local(each) == "namespace" and each.get("key") in {FILE, CATEGORY})
    return {name: each.get("key") for each in spaces if (name := (each.text or "").lower())}


def _child(element: Any, name: str) -> Any:
    """The last of this name: of several revisions the newest."""
    found = [] if element is None else [child for child in element if local(child) == name]
    return found[-1] if found else None


def _said(element: Any, name: str) -> str:
    child = _child(element, name)
    return "" if child is None else str(child.text or "")


def _http_date(moment: str) -> str:
    """RFC 3339 as HTTP writes it (RFC 9110, section 5.6.7); empty where it is none."""
    try:
        return format_datetime(datetime.fromisoformat(moment), usegmt=True)
    except ValueError:
        return ""
