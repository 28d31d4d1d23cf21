"""Papers and editions in XML become blocks: JATS (NISO Z39.96) and TEI (P5).

Titles, abstracts, sections, paragraphs, lists, tables, verse, notes. References, formulae and what an editor has struck
out are not read; references and formulae are counted. No entity, no network.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree

from crawler.stages.documents.model import Block, Content, Facts, UnreadableError
from crawler.stages.documents.numbering import BULLET, written
from crawler.stages.documents.packed import local
from crawler.stages.text.shifted import lowered, raised

_XML = "{http://www.w3.org/XML/1998/namespace}"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_ADDRESS = re.compile(r"https?://[^\s<>\"']{4,300}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The names of elements, by what is done with them; all others are looked into."""

    reader: str
    roots: frozenset[str]
    sections: frozenset[str]
    heads: frozenset[str]
    texts: frozenset[str]
    items: frozenset[str]
    captions: frozenset[str]
    quotes: frozenset[str]
    notes: frozenset[str]
    verses: frozenset[str]
    codes: frozenset[str]
    left_out: frozenset[str]
    counted: dict[str, str]
    breaks: frozenset[str]


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_JATS = _Vocabulary(
    "jats-2",
    roots=_names("front body back floats-group sub-article response"),
    sections=_names("sec app ack abstract trans-abstract glossary notes boxed-text"),
    heads=_names("title article-title label-title"),
    texts=_names("p verse-line attrib speaker term def-head"),
    items=_names("list-item def-item"),
    captions=_names("caption"),
    quotes=_names("disp-quote"),
    notes=_names("fn"),
    verses=_names("verse-group"),
    codes=_names("preformat code"),
    left_out=_names(
        "journal-meta contrib-group aff author-notes pub-date history permissions self-uri kwd-group funding-group"
        " counts custom-meta-group related-article article-id article-categories volume issue fpage lpage elocation-id"
        " supplementary-material object-id graphic media alternatives-graphic label processing-meta conference"
        " author-comment subtitle-meta alt-text long-desc floats-group-meta product support-group"
    ),
    counted={"ref-list": "references", "disp-formula": "formulae", "tex-math": "formulae"},
    breaks=_names("break"),
)
_TEI = _Vocabulary(
    "tei-2",
    roots=_names("text"),
    sections=_names("div div1 div2 div3 div4 div5 div6 div7"),
    heads=_names("head docTitle"),
    texts=_names("p ab label speaker stage byline dateline opener closer salute signed trailer docImprint"),
    items=_names("item"),
    captions=_names("figDesc"),
    quotes=_names("quote cit"),
    notes=_names("note"),
    verses=_names("lg"),
    codes=_names("eg"),
    left_out=_names("teiHeader fw del gap sic orig abbr surplus facsimile sourceDoc standOff graphic index figDesc"),
    counted={"listBibl": "references", "formula": "formulae"},
    breaks=_names("lb pb cb"),
)
_OF_KIND = {"jats": _JATS, "tei": _TEI}
_OF_NAMES = frozenset({etree.ErrorTypes.DTD_XMLID_VALUE, etree.ErrorTypes.DTD_ID_REDEFINED})
_ONLY_IN_CHOICE = frozenset({"sic", "orig", "abbr"})
_ROW, _CELLS = frozenset({"tr", "row"}), frozenset({"td", "th", "cell"})
_ORDERED = {
    "order": "decimal", "ordered": "decimal", "numbered": "decimal", "alpha-lower": "letter", "alpha-upper": "LETTER",
    "roman-lower": "roman", "roman-upper": "ROMAN",
}  # fmt: skip
_TABLES = frozenset({"table", "array"})


def read_paper(body: bytes, kind: str, charset: str | None = None) -> tuple[Facts, Content]:
    """What a paper says of itself, and its text. kind: "jats" or "tei". charset: where the XML names none.

    Raises: UnreadableError where it is no XML, or nested too deep.
    """
    try:
        root = _tree_of(body.lstrip(), charset if charset and b"encoding=" not in body[:200] else None)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        raise UnreadableError("broken_document", f"{kind}: {error}"[:200]) from error
    words = _OF_KIND[kind]
    reader = _Walker(words)
    if kind == "jats":
        facts, blocks = _of_jats(root, words.reader), list(reader.front(root))
    else:
        facts, blocks = _of_tei(root, words.reader), []
    inner = [element for element in root if local(element) in words.roots] or [root]
    for element in inner:
        blocks += reader.blocks(element, 1)
    return facts, Content(blocks=blocks, links=list(reader.links), title=facts.title, counts=dict(reader.counts))


def _tree_of(body: bytes, charset: str | None) -> Any:
    """The root. An `xml:id` that is no name, or stands twice, hurts no text: Pandoc writes such.

    Raises: XMLSyntaxError, LookupError.
    """
    for recover in (False, True):
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
            remove_pis=True, encoding=charset, recover=recover,
        )  # fmt: skip
        try:
            return etree.fromstring(body, parser)
        except etree.XMLSyntaxError:
            if any(error.type not in _OF_NAMES for error in parser.error_log):
                raise
    raise AssertionError("a parser that recovers from names raises nothing but what is no name")


def _text_of(element: Any) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _first(root: Any, *path: str) -> Any:
    """The first element at the end of these names, each one somewhere within the one before; None for none."""
    for name in path:
        root = None if root is None else next((element for element in root.iter() if local(element) == name), None)
    return root


def _all(root: Any, *names: str) -> list[Any]:
    """The elements of these names within an element; none within None."""
    return [] if root is None else [element for element in root.iter() if local(element) in names]


def _of_jats(root: Any, reader: str) -> Facts:
    meta = _first(root, "article-meta")
    title, language = _text_of(_first(meta, "article-title")), str(root.get(f"{_XML}lang", ""))
    facts = Facts(reader=reader, language=language, title=title)
    people = [one for one in _all(meta, "contrib") if one.get("contrib-type") in {None, "author"}]
    names = [[_text_of(_first(one, part)) for part in ("given-names", "surname")] for one in people[:50]]
    facts.author = ", ".join(filter(None, (" ".join(filter(None, name)) for name in names)))
    for day in _all(meta, "pub-date"):
        said = "-".join(_text_of(_first(day, part)).zfill(2) for part in ("year", "month", "day"))
        facts.date = facts.date or (said if _DAY.fullmatch(said) and "-00" not in said else "")
    for element in _all(meta, "license", "license_ref"):
        addresses = " ".join(str(one.get(_XLINK, "")) for one in element.iter(etree.Element))
        _licence(facts, f"{addresses} {_text_of(element)}", _text_of(element))
    return facts


def _of_tei(root: Any, reader: str) -> Facts:
    head = _first(root, "teiHeader")
    statement, text = _first(head, "titleStmt"), _first(root, "text")
    facts = Facts(reader=reader, title=_text_of(_first(statement, "title")))
    facts.author = ", ".join(_text_of(one) for one in _all(statement, "author")[:50])
    languages = (str(one.get(f"{_XML}lang", "")) for one in (root, text) if one is not None)
    facts.language = next(filter(None, languages), "")
    day = _first(head, "publicationStmt", "date")
    said = "" if day is None else str(day.get("when", ""))
    facts.date = said if _DAY.fullmatch(said) else ""
    for element in _all(head, "licence", "availability"):
        addresses = " ".join(str(one.get("target", "")) for one in element.iter(etree.Element))
        _licence(facts, f"{addresses} {_text_of(element)}", _text_of(element))
    return facts


def _licence(facts: Facts, said: str, text: str) -> None:
    """Evidence of a licence: its addresses, and its words."""
    found = [("license", "", url.rstrip(".,;)")) for url in dict.fromkeys(_ADDRESS.findall(said))][:5]
    facts.rel_links += [one for one in found if one not in facts.rel_links]
    if text and ("rights", text[:1_000]) not in facts.metas:
        facts.metas.append(("rights", text[:1_000]))


def _shift(element: Any, name: str) -> Callable[[str], str] | None:
    """How what stands above or below the line is written; None for what stands on it."""
    said = str(element.get("rend", "")) if name == "hi" else name
    if said in {"sup", "superscript", "super"}:
        return raised
    return lowered if said in {"sub", "subscript"} else None


def _mark(item: Any) -> str:
    """What stands before an item: its own label, or its number in an ordered list, else a sign."""
    own = next((_text_of(one) for one in item if local(one) == "label"), "")
    parent = item.getparent()
    said = "" if parent is None else str(parent.get("list-type") or parent.get("rend") or parent.get("type") or "")
    form = _ORDERED.get(said.split(" ")[0])
    if own or form is None:
        return own or BULLET
    before = sum(local(one) == local(item) for one in item.itersiblings(preceding=True))
    return f"{written(before + 1, form)}."


class _Walker:
    """Walks the body of one paper."""

    def __init__(self, words: _Vocabulary) -> None:
        self._words = words
        self.links: dict[str, None] = {}
        self.counts: Counter[str] = Counter()
        self._pending: list[Block] = []
        self._in_note = False

    def front(self, root: Any) -> Iterator[Block]:
        """The title of a paper of JATS; its abstract stands among the sections."""
        if text := _text_of(_first(root, "article-meta", "article-title")):
            yield Block("heading", text, 1)

    def blocks(self, parent: Any, level: int, role: str = "") -> Iterator[Block]:
        """What stands within an element. level: of the headings of its sections."""
        words = self._words
        if local(parent) in words.items | words.quotes | words.notes:
            yield from self._mixed(parent, level, role)
            return
        for element in parent:
            yield from self._element(element, level, role)

    def _mixed(self, parent: Any, level: int, role: str) -> Iterator[Block]:
        """What may hold words as well as paragraphs and lists: words that stand together are a paragraph."""
        pieces = [parent.text or ""]
        for element in parent:
            if self._is_block(element):
                yield from self._words_of(pieces, role)
                yield from self._element(element, level, role)
                pieces = []
            else:
                pieces += self._inline(element)
            pieces.append(element.tail or "")
        yield from self._words_of(pieces, role)

    def _words_of(self, pieces: list[str], role: str) -> Iterator[Block]:
        if text := " ".join("".join(pieces).split()):
            yield Block("paragraph", text, role=role)
        yield from self._waiting()

    def _is_block(self, element: Any) -> bool:
        words, name = self._words, local(element)
        if name in words.notes or name in words.left_out or name in words.counted:
            return False
        own = words.texts | words.items | words.verses | words.codes | words.quotes | words.heads | _TABLES
        return any(local(one) in own for one in element.iter(etree.Element))

    def _element(self, element: Any, level: int, role: str) -> Iterator[Block]:  # noqa: C901  # one for each form
        words, name = self._words, local(element)
        if name in words.counted:
            self.counts[words.counted[name]] += 1
        elif name in words.left_out or name == "title-group" or not name:
            return
        elif name in words.heads:
            yield from self._heading(element, level)
        elif name in words.texts:
            yield from self._paragraph(element, role)
        elif name in words.verses or name == "l":
            yield from self._verse(element, level, role)
        elif name in words.codes:
            if text := "".join(element.itertext()).strip("\n").rstrip():
                yield Block("code", text)
        elif name in words.captions:
            yield from (b._replace(form="caption") for b in self.blocks(element, level, role) if b.text)
        elif name in words.items:
            yield from self._item(element, level, role)
        elif name in _TABLES:
            yield from self._rows(element)
        elif name in words.notes:
            self._note(element)
            yield from self._waiting()
        else:
            deeper = level + (name in words.sections)
            yield from self.blocks(element, min(deeper, 6), "quotation" if name in words.quotes else role)

    def _heading(self, element: Any, level: int) -> Iterator[Block]:
        if text := self._flat(element):
            yield Block("heading", text, level)
        yield from self._waiting()

    def _paragraph(self, element: Any, role: str) -> Iterator[Block]:
        if text := self._flat(element):
            yield Block("paragraph", text, role=role)
        yield from self._waiting()

    def _waiting(self) -> Iterator[Block]:
        pending, self._pending = self._pending, []
        yield from pending

    def _flat(self, element: Any) -> str:
        return " ".join("".join(self._texts(element)).split())

    def _item(self, element: Any, level: int, role: str) -> Iterator[Block]:
        for number, block in enumerate(self.blocks(element, level, role)):
            is_first = number == 0 and block.form == "paragraph"
            yield Block("list", f"{_mark(element)} {block.text}", role=block.role) if is_first else block

    def _verse(self, element: Any, level: int, role: str) -> Iterator[Block]:
        if local(element) == "l":
            yield from self._paragraph(element, role)
            return
        for head in (one for one in element if local(one) in self._words.heads):
            yield from self._heading(head, min(level + 1, 6))
        lines = (self._flat(one) for one in element.iter() if local(one) in {"l", "verse-line"})
        if text := "\n".join(filter(None, lines)):
            yield Block("paragraph", text, role=role)
        yield from self._waiting()

    def _rows(self, table: Any) -> Iterator[Block]:
        for head in (one for one in table if local(one) == "head"):
            yield Block("caption", self._flat(head))
        for row in (one for one in table.iter() if local(one) in _ROW):
            cells = [self._flat(cell) for cell in row if local(cell) in _CELLS]
            if any(cells):
                yield Block("table", " | ".join(filter(None, cells)))
        yield from self._waiting()

    def _note(self, element: Any) -> None:
        outer, self._pending = self._pending, []
        inner = list(self.blocks(element, 6, "footnote"))
        if not inner and (text := self._flat(element)):
            inner = [Block("paragraph", text, role="footnote")]
        self._pending = [*outer, *(block._replace(form="paragraph", level=0, role="footnote") for block in inner)]

    def _texts(self, parent: Any) -> Iterator[str]:
        yield parent.text or ""
        for element in parent:
            yield from self._inline(element)
            yield element.tail or ""

    def _inline(self, element: Any) -> Iterator[str]:
        words, name = self._words, local(element)
        if name in words.breaks:
            yield "" if element.get("break") == "no" else " "
        elif name in words.counted:
            self.counts[words.counted[name]] += 1
        elif name in words.notes:
            self._note(element)
        elif self._is_shown(element, name):
            if (url := str(element.get(_XLINK) or element.get("target") or "")).startswith(("http://", "https://")):
                self.links.setdefault(url)
            apart = " " if name in words.texts or name in words.items or name in _CELLS else ""
            shift = _shift(element, name)
            yield apart
            yield from self._texts(element) if shift is None else [shift("".join(self._texts(element)))]
            yield apart

    def _is_shown(self, element: Any, name: str) -> bool:
        """False for what is left out, and for marks of references and notes above the line."""
        if name in _ONLY_IN_CHOICE:
            return local(element.getparent()) != "choice"
        if name == "sup" and len(element) and all(local(one) == "xref" for one in element):
            return False
        is_mark = name == "xref" and element.get("ref-type") in {"fn", "table-fn"}
        return bool(name) and name not in self._words.left_out and not is_mark
