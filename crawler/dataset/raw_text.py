"""What raw bytes say, for whoever looks for words in them: the markup of a page, and what stands in a file.

A PDF is read as the crawl reads it. Of a file that is a ZIP of XML every part is looked into, also those that the
crawl leaves out: comments, deleted and hidden text, who wrote it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator

from crawler.config import CrawlConfig, DocumentsConfig
from crawler.config.documents import EXTRA, is_installed
from crawler.dataset.words import plain
from crawler.stages.documents.call import THE_NURSERY
from crawler.stages.documents.model import Content, Facts, UnreadableError
from crawler.stages.documents.packed import Package
from crawler.stages.parse.mail import read_mail
from crawler.stages.parse.rtf import read_rtf
from crawler.stages.text.charset import decode
from crawler.wire.files import file_kind
from crawler.wire.media import media_kind

_TAG = re.compile(r"<[^<>]*>")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_PARTS = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx", ".txt")
"""Ends of the names of members that have text."""
_BY_THEMSELVES = ("mediawiki",)
"""Kinds of file whose bytes are markup as those of a page are."""


def readings(body: bytes, declared: str, unread: Callable[[str], object] = lambda _: None) -> Iterator[str]:
    """A body as it may be read, each reading `plain`: without tags, between words or inside them, and as it stands;
    entities and escapes resolved. declared: its Content-Type; may be empty. unread: is told why not all was read.
    """
    if not body:
        return
    text = "\n".join(_texts(body, declared, unread))
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\\u" in text else text
    for between in (" ", "", None):
        yield plain(html.unescape(text if between is None else _TAG.sub(between, text)))


def _texts(body: bytes, declared: str, unread: Callable[[str], object]) -> Iterator[str]:
    kind = file_kind(declared, body)
    if kind == "pdf":
        yield from _of_pdf(body, unread)
    elif kind is not None and kind not in _BY_THEMSELVES:
        yield from _of_package(body, unread)
    else:
        other = media_kind(declared, body)
        if other == "rtf":
            yield from read_rtf(body)
        elif other == "mail":
            mail = read_mail(body)
            yield from (mail.subject or "", mail.sender or "", mail.text)
        yield _decoded(body, declared)


def _decoded(body: bytes, declared: str) -> str:
    return (decode(body, declared or None) or (body.decode("latin-1"), ""))[0]


def _of_pdf(body: bytes, unread: Callable[[str], object]) -> Iterator[str]:
    if not is_installed("pdf"):
        unread(EXTRA.format("PDF", "pypdfium2 and pypdf"))
        return
    limits = DocumentsConfig()
    seconds = CrawlConfig().stage_timeout_seconds
    found = THE_NURSERY.read("pdf", body, seconds=seconds, max_pages=limits.max_pages, max_links=0)
    if found.drop is not None:
        unread(f"{found.drop.reason}: {found.drop.detail}")
    yield from _said(found.facts, found.content)


def _said(facts: Facts | None, content: Content | None) -> Iterator[str]:
    if facts is not None:
        yield from (facts.title, facts.author, *(value for _, value in facts.metas))
    if content is not None:
        yield from (block.text for block in content.blocks)


def _of_package(body: bytes, unread: Callable[[str], object]) -> Iterator[str]:
    try:
        package = Package(body)
        for name in package.names():
            if not name.lower().endswith(_PARTS):
                continue
            if (part := package.part(name)) is None:
                unread(f"broken_document: {name[:100]}")
            else:
                yield _decoded(part, "")
    except UnreadableError as error:
        unread(f"{error.reason}: {error.detail}")
