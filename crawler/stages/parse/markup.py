"""Texts in a markup of their own (Markdown, reStructuredText, AsciiDoc), and papers in XML (JATS, TEI), become blocks.

The type says which, or, where that says no more than text, the address.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from crawler.document import Document, Drop, DropReason
from crawler.stages.documents import asciidoc, markdown, rst
from crawler.stages.documents.model import Content, FileText, UnreadableError
from crawler.stages.documents.papers import read_paper
from crawler.stages.parse.files import MAX_HEAD_CHARS, tell
from crawler.stages.parse.links import join
from crawler.stages.text.normal import line_of
from crawler.wire.media import media_type

PAPERS = frozenset({"jats", "tei"})
"""Kinds of `media_kind` that are read here as bytes."""


class _Markup(NamedTuple):
    types: frozenset[str]
    names: tuple[str, ...]
    reader: str
    read: Callable[[str], Content]


_MARKUPS = {
    "markdown": _Markup(
        frozenset({"text/markdown", "text/x-markdown"}),
        (".md", ".markdown", ".mdown", ".mkd"),
        markdown.READER,
        markdown.read_markdown,
    ),
    "rst": _Markup(frozenset({"text/x-rst", "text/prs.fallenstein.rst"}), (".rst", ".rest"), rst.READER, rst.read_rst),
    "asciidoc": _Markup(
        frozenset({"text/asciidoc", "text/x-asciidoc"}),
        (".adoc", ".asciidoc", ".asc"),
        asciidoc.READER,
        asciidoc.read_asciidoc,
    ),
}
_SILENT = frozenset({"", "text/plain"})
_ARMOUR = "-----BEGIN PGP"


def markup_kind(doc: Document, text: str) -> str | None:
    """Tell "markdown", "rst", "asciidoc", or None for a text in none of these."""
    if doc.document_kind != "text":
        return None
    essence = media_type(doc.content_type).essence
    if essence not in _SILENT:
        return next((kind for kind, one in _MARKUPS.items() if essence in one.types), None)
    path = urlsplit(doc.url).path.lower()
    path = path.removesuffix(".txt")  # the sources that Sphinx serves: index.rst.txt
    if text.startswith(_ARMOUR):  # .asc is a signature, too
        return None
    return next((kind for kind, one in _MARKUPS.items() if path.endswith(one.names)), None)


def take_text(doc: Document, text: str, max_links: int) -> Document:
    """A text waits in `doc.tree`, as blocks where it has a markup; its links are absolute from here on."""
    kind = markup_kind(doc, text)
    if kind is None:
        doc.tree = text
        return doc
    content = _MARKUPS[kind].read(text)
    doc.document_kind, doc.extractor = kind, _MARKUPS[kind].reader
    _take(doc, content, max_links)
    return doc


def take_paper(doc: Document, kind: str, max_links: int) -> Drop | None:
    """The blocks of a paper wait in `doc.tree`. kind: of `PAPERS`. Drops: broken_document."""
    try:
        facts, content = read_paper(doc.html, kind, doc.charset)
    except UnreadableError as error:
        return Drop("parse", DropReason.BROKEN_DOCUMENT, error.detail)
    tell(doc, facts)
    doc.document_kind, doc.method_used = kind, "file"
    _take(doc, content, max_links)
    return None


def _take(doc: Document, content: Content, max_links: int) -> None:
    doc.title = line_of(content.title, MAX_HEAD_CHARS) or doc.title
    doc.author = doc.author or line_of(content.author, MAX_HEAD_CHARS)
    links = (joined for link in content.links if (joined := join(doc.url, link)))
    doc.links = list(dict.fromkeys(links))[:max_links]
    doc.quality_signals.update(content.counts)
    doc.tree = FileText(content.blocks)
