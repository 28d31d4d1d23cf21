"""An EPUB (2 and 3) becomes one page of HTML, chapter by chapter as its spine has them, for the extractor of pages."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import unquote

from lxml import etree
from lxml.html import HTMLParser, document_fromstring

from crawler.stages.documents.model import MAX_CHARS, Content, Facts, UnreadableError
from crawler.stages.documents.packed import Package, check_pages, local
from crawler.stages.documents.said import plausible_author, plausible_title
from crawler.stages.documents.xmp import state

READER = "gristmill-epub-2"
_CONTAINER = "META-INF/container.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
_FONTS = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")
"""How fonts alone are obfuscated; any other encryption is that of a seller."""
_DAY = re.compile(r"(\d{4})(-\d{2})?(-\d{2})?")
_ENTRIES, _LINKED = 4, 0.7
"""Links within the book, and their share of the letters, from which an element is a table of contents."""
_INDEX, _BETWEEN = 30, 12
"""Links of a chapter, and letters between two of them at most, by which it is an index."""
_TITLE = 60
"""Letters that a title has at most."""
_FOR_USE = frozenset({"robots", "tdm-reservation", "tdm-policy"})


def read(body: bytes, _wanted: dict[str, Any]) -> Iterator[Facts | Content]:
    """The facts, then the content, whose links the parse stage reads. Raises: UnreadableError."""
    package = Package(body)
    place = _place(package)
    opf = package.xml(place)
    if opf is None:
        raise UnreadableError("broken_document", f"it has no {place[:100]}")
    facts = _facts(opf)
    spine = _spine(opf, place)
    parts = [data for name in spine if (data := package.part(name)) is not None]
    pages = [_parsed(data) for data in parts if data]
    for page in pages:
        facts.metas += _statements(page)
    yield facts
    if not parts:
        raise UnreadableError("broken_document", "its spine names no chapter that is there")
    locked = package.read("META-INF/encryption.xml") or b""
    if locked.count(b"EncryptionMethod ") > sum(map(locked.count, _FONTS)):
        raise UnreadableError("encrypted", "its chapters are encrypted")
    counts: Counter[str] = Counter()
    chapters = "".join(_chapter(page, counts) for page in pages)
    if not chapters:
        raise UnreadableError("broken_document", "its spine names no chapter that is there")
    if len(chapters) > 5 * MAX_CHARS:
        raise UnreadableError("too_large", f"{len(chapters):,} characters of HTML")
    head = f"<head><title>{escape(facts.title)}</title></head>"
    html = f'<html lang="{escape(facts.language, quote=True)}">{head}<body>{chapters}</body></html>'
    counts["broken_pages"] = len(spine) - len(parts)
    check_pages(counts["broken_pages"], len(spine))
    yield Content(html=html, counts={name: count for name, count in counts.items() if count})


def _place(package: Package) -> str:
    """Where the package document is (OCF 3.3, section 4.2.6.3.1)."""
    root = package.xml(_CONTAINER)
    files = () if root is None else (e for e in root.iter() if local(e) == "rootfile")
    place = next((str(e.get("full-path", "")) for e in files), "")
    if not place:
        raise UnreadableError("broken_document", f"{_CONTAINER} names no package")
    return place


def _facts(opf: Any) -> Facts:
    facts = Facts(reader=READER)
    for element in opf.iter():
        name, text = local(element), " ".join("".join(element.itertext()).split()) if len(element) == 0 else ""
        if name == "meta":
            said = str(element.get("property") or element.get("name") or "")
            state(facts, "", said, text or str(element.get("content", "")))
        elif name == "date" and not facts.date and (day := _DAY.match(text)) and day[3]:
            facts.date = day[0]
        elif name == "link" and "license" in str(element.get("rel", "")):
            facts.rel_links.append(("license", "", str(element.get("href", ""))[:500]))
        elif name in {"title", "creator", "language", "rights"} and text:
            state(facts, "http://purl.org/dc/elements/1.1/", name, text)
    facts.title, facts.author = plausible_title(facts.title), plausible_author(facts.author)
    return facts


def _spine(opf: Any, place: str) -> list[str]:
    """The names of the chapters, in their order, each once; without tables of contents."""
    folder, items = posixpath.dirname(place), {}
    for element in opf.iter():
        is_page = local(element) == "item" and element.get("media-type") in _PAGES
        if is_page and "nav" not in str(element.get("properties", "")).split():
            items[element.get("id")] = unquote(str(element.get("href", "")).partition("#")[0])
    order = [e for e in opf.iter() if local(e) == "itemref" and e.get("linear") != "no"]
    hrefs = (items.get(e.get("idref")) for e in order)
    return list(dict.fromkeys(posixpath.normpath(posixpath.join(folder, href)) for href in hrefs if href))


def _parsed(data: bytes) -> Any:
    """A chapter as a tree: XML where it is, else what a browser would make of it; None where nothing is in it."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
        if b"&" not in data or not any(e.tag is etree.Entity for e in root.iter(etree.Entity)):
            return root
    except (etree.XMLSyntaxError, ValueError):
        pass
    try:
        return document_fromstring(data, parser=HTMLParser(encoding="utf-8"))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None


def _statements(page: Any) -> list[tuple[str, str]]:
    metas = () if page is None else (e for e in page.iter(etree.Element) if local(e) == "meta")
    named = ((str(e.get("name", "")).lower(), str(e.get("content", ""))) for e in metas)
    return [one for one in named if one[0] in _FOR_USE]


def _chapter(page: Any, counts: Counter[str]) -> str:
    """What stands in the body, its names without a namespace; links within the book lead nowhere and go.

    Its contents and indexes go, too. counts: `contents_lines` are their entries.
    """
    body = None if page is None else next((e for e in page.iter(etree.Element) if local(e) == "body"), None)
    if body is None:
        return ""
    for element in body.iter(etree.Element):
        element.tag = local(element)
    counts["contents_lines"] += _without_contents(body)
    for element in body.iter(etree.Element):
        if _leads_within(element):
            del element.attrib["href"]
    etree.cleanup_namespaces(body)
    body.tag, body.tail = "div", None
    return str(etree.tostring(body, encoding="unicode", method="html")) if "".join(body.itertext()).strip() else ""


def _leads_within(element: Any) -> bool:
    href = element.get("href")
    return href is not None and not str(href).lower().startswith(("http://", "https://"))


def _without_contents(body: Any) -> int:
    """Take out what is a table of contents or an index; how many entries it had.

    Nearly all letters of an element stand in links within the book, or a chapter is links with few words between them.
    A chapter goes with them if no more than a title is left.
    """
    letters, links, linked = dict[Any, int](), dict[Any, int](), dict[Any, int]()
    for element in reversed(list(body.iter(etree.Element))):
        inner = [child for child in element if child in letters]
        texts = (element.text or "", *(child.tail or "" for child in element))
        letters[element] = sum(sum(map(str.isalpha, text)) for text in texts) + sum(letters[child] for child in inner)
        is_link = element.tag == "a" and _leads_within(element)
        links[element] = 1 if is_link else sum(links[child] for child in inner)
        linked[element] = letters[element] if is_link else sum(linked[child] for child in inner)
    entries, gone, waiting = 0, 0, [*body]
    while waiting:
        element = waiting.pop()
        if links.get(element, 0) < _ENTRIES:
            continue
        beside = letters[element] - linked[element]
        if linked[element] >= _LINKED * letters[element] > 0 and beside <= _TITLE:
            entries, gone = entries + links[element], gone + letters[element]
            _drop(element)
        else:
            waiting += element
    is_index = links[body] - entries >= _INDEX and letters[body] - linked[body] <= _BETWEEN * (links[body] - entries)
    if is_index or (entries and letters[body] - gone < _TITLE):
        body.clear()
        return links[body]
    return entries


def _drop(element: Any) -> None:
    parent, before = element.getparent(), element.getprevious()
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)
