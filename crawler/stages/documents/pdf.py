"""A PDF: what it says about itself, then its pages one by one. Runs in a child that may die of it (`nursery.py`).

PDFium finds the text and its order, pypdf the XMP of the catalogue, which PDFium does not show.
"""

from __future__ import annotations

import ctypes
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pypdf
import pypdfium2
import pypdfium2.raw as c
from pypdfium2.version import PDFIUM_INFO, PYPDFIUM_INFO

from crawler.stages.documents.heads import without_heads
from crawler.stages.documents.layout import blocks_of
from crawler.stages.documents.line import Line
from crawler.stages.documents.lines import lines_of
from crawler.stages.documents.links import links_of
from crawler.stages.documents.model import MAX_CHARS, Content, Facts, UnreadableError, check_number
from crawler.stages.documents.said import plausible_author, plausible_title
from crawler.stages.documents.xmp import read_xmp
from crawler.wire.files import from_head

READER = f"pypdfium2-{PYPDFIUM_INFO.version}-pdfium-{PDFIUM_INFO.build}"
"""Library and build: the text of a file may change with either, without an error."""
COPY = "pdf:copy"
"""Name of the meta that says what the permissions of the file say of copying."""
_COPY_BIT = 1 << 4
_TAIL = 4_096
_FEW = 20
"""Characters under which a page has no text of its own: a page number, a stamp."""
_CHAPTER = re.compile(r"\S.{1,200} (?:\d{1,4}|[ivxlc]{1,6})")
"""A chapter and its page."""
_ENTRIES, _CONTENTS = 4, 0.3
"""Entries with dots, and their share of a page's lines, from which the page is one of contents."""
_SCANNED = 0.5
"""Share of a page that images cover, and of the pages that are such: beyond it the file is one of pictures."""
_GARBLED = 0.3
"""Share of the lines without meaning, beyond which nothing of the file is kept."""
_STRANGE = re.compile(r"[A-Za-z][{|}~\\^`@#$%<>=]+[A-Za-z]")
_MOST_STRANGE = 0.12
"""Share of the words with such a sign between two letters: a font whose letters are shifted."""
_COMMAND = re.compile(r"\\[A-Za-z]+")
_LEADERS = re.compile(r"(?:\. ?){5,200}[ .]?(?:\d{1,4}|[ivxlc]{1,8})$")
_LENGTH = re.compile(rb"/Linearized.{0,200}?/L\s+(\d{1,12})", re.DOTALL)
_DATE = re.compile(r"(?:D:)?((?:19|20)\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])")
_PASSWORD, _SECURITY = 4, 5


def read(body: bytes, wanted: dict[str, Any]) -> Iterator[Facts | Content]:
    """The facts, then the content. wanted: `max_pages`, `max_links`. Raises: UnreadableError."""
    body = from_head(body)
    pdf = _opened(body)
    facts = _facts(pdf, body)
    yield facts
    check_number(facts, wanted, "pages")
    yield _content(pdf, facts, wanted["max_links"])


def _opened(body: bytes) -> pypdfium2.PdfDocument:
    whole = re.search(_LENGTH, body[:2_048])
    if whole is not None and int(whole[1]) > len(body):
        raise UnreadableError("truncated", f"{len(body):,} of {int(whole[1]):,} bytes")
    if body.rfind(b"%%EOF") < 0:
        raise UnreadableError("truncated", f"the file does not end within its {len(body):,} bytes")
    try:
        return pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        if error.err_code in {_PASSWORD, _SECURITY}:
            raise UnreadableError("encrypted", "the file opens with a password only") from error
        if b"%%EOF" not in body[-_TAIL:] and b"startxref" not in body[-_TAIL:]:
            raise UnreadableError("truncated", f"the file does not end within its {len(body):,} bytes") from error
        raise UnreadableError("broken_document", f"PDFium: {error}"[:200]) from error


def _facts(pdf: pypdfium2.PdfDocument, body: bytes) -> Facts:
    facts = Facts(pages=len(pdf), reader=READER)
    if not c.FPDF_GetDocPermissions(pdf.raw) & _COPY_BIT:
        facts.metas.append((COPY, "forbidden"))
    if b"Metadata" in body:
        for packet in _packets(body):
            read_xmp(packet, facts)
    said = pdf.get_metadata_dict()
    facts.title = plausible_title(said.get("Title", "")) or plausible_title(facts.title)
    facts.author = plausible_author(said.get("Author", "")) or plausible_author(facts.author)
    if day := _DATE.match(said.get("CreationDate", "")):
        facts.date = "-".join(day.groups())
    facts.language = _language(pdf) or facts.language
    return facts


def _packets(body: bytes) -> list[bytes]:
    """The XMP of the catalogue; where pypdf does not find it, every packet that stands in the file as it is.

    Doubt is no absence: a statement about a picture of a broken file counts for the file.
    """
    with suppress(Exception):  # pypdf has many errors for what is broken, some of them Python's own
        reader = pypdf.PdfReader(io.BytesIO(body))
        if reader.is_encrypted:
            reader.decrypt("")
        stream = reader.root_object.get("/Metadata")
        return [] if stream is None else [stream.get_object().get_data()]
    return re.findall(rb"<x:xmpmeta.{0,1000000}?</x:xmpmeta>", body, re.DOTALL)[:20]


def _language(pdf: pypdfium2.PdfDocument) -> str:
    size = c.FPDFCatalog_GetLanguage(pdf.raw, None, 0)
    if not 2 < size <= 100:
        return ""
    buffer = (ctypes.c_ushort * size)()
    c.FPDFCatalog_GetLanguage(pdf.raw, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace").strip("\x00")[:35]


def _content(pdf: pypdfium2.PdfDocument, facts: Facts, max_links: int) -> Content:
    pages: list[list[Line]] = []
    counts: Counter[str] = Counter()
    links: dict[str, None] = {}
    chars = 0
    for number in range(facts.pages):
        lines = _page(pdf, number, counts, links, max_links)
        pages.append(lines)
        chars += sum(len(line.text) for line in lines)
        if chars > MAX_CHARS:
            raise UnreadableError("too_large", f"more than {MAX_CHARS:,} characters before page {number + 2}")
    _check(pages, counts, facts)
    pages, counts["running_lines"] = without_heads(pages)
    size = sum(map(len, pages))
    pages = [*map(_without_contents, pages)]
    counts["contents_lines"] = size - sum(map(len, pages))
    blocks = blocks_of(pages)
    title = "" if facts.title else next((b.text for b in blocks[:3] if b.form == "heading" and b.level == 1), "")
    return Content(blocks=blocks, links=list(links), title=title, counts={n: k for n, k in counts.items() if k})


def _is_of_contents(line: Line) -> bool:
    """True for an entry of a table of contents, which points at a page by a row of dots."""
    return _LEADERS.search(line.text[-300:]) is not None


def _without_contents(page: list[Line]) -> list[Line]:
    """A page without entries of a table of contents; where they are most of it, those of chapters have no dots."""
    kept = [line for line in page if not _is_of_contents(line)]
    if len(page) - len(kept) < max(_ENTRIES, _CONTENTS * len(page)):
        return kept
    return [line for line in kept if not _CHAPTER.fullmatch(line.text)]


def _page(
    pdf: pypdfium2.PdfDocument, number: int, counts: Counter[str], links: dict[str, None], max_links: int
) -> list[Line]:
    try:
        page = pdf[number]
        text = page.get_textpage()
    except pypdfium2.PdfiumError:
        counts["broken_pages"] += 1
        return []
    try:
        lines = lines_of(page, text, number, counts)
        for link in links_of(pdf, page, text):
            if len(links) < max_links:
                links.setdefault(link)
        if sum(len(line.text) for line in lines) < _FEW:
            counts[_without_text(page)] += 1
        return lines
    finally:
        text.close()
        page.close()


def _without_text(page: pypdfium2.PdfPage) -> str:
    """A page of a picture or of drawings ("picture_pages"), or one with nothing on it."""
    width, height = page.get_size()
    covered, things = 0.0, 0
    for thing in page.get_objects(max_depth=3):
        things += 1
        if thing.type == c.FPDF_PAGEOBJ_IMAGE:
            with suppress(pypdfium2.PdfiumError):
                left, bottom, right, top = thing.get_bounds()
                covered += max(0.0, right - left) * max(0.0, top - bottom)
        if covered > _SCANNED * width * height or things > 1_000:
            return "picture_pages"
    return "empty_pages" if things < _FEW else "picture_pages"


def _without_commands(line: str) -> str:
    """A line without what manuals of TeX show: commands, and braces of which each has its other."""
    line = _COMMAND.sub(" ", line) if "\\" in line else line
    opened = line.count("{")
    return line.replace("{", " ").replace("}", " ") if opened and opened == line.count("}") else line


def _check(pages: list[list[Line]], counts: Counter[str], facts: Facts) -> None:
    """Raises: UnreadableError where the text, if there is one, is not that of the file."""
    lines = [line for page in pages for line in page]
    bad = counts["garbled_lines"]
    if bad and bad > _GARBLED * (bad + len(lines)):
        detail = f"{bad:,} of {bad + len(lines):,} lines are in fonts that do not say which letters they draw"
        raise UnreadableError("garbled", detail)
    if counts["picture_pages"] > _SCANNED * facts.pages:
        raise UnreadableError("needs_ocr", f"{counts['picture_pages']:,} of {facts.pages:,} pages are pictures")
    if counts["broken_pages"] > _SCANNED * facts.pages or not facts.pages:
        raise UnreadableError("broken_document", f"{counts['broken_pages']:,} of {facts.pages:,} pages cannot be read")
    words = sum(len(line.text.split()) for line in lines)
    strange = sum(len(_STRANGE.findall(_without_commands(line.text))) for line in lines)
    if strange > _MOST_STRANGE * words:
        raise UnreadableError("garbled", f"{strange:,} of {words:,} words have signs between their letters")
