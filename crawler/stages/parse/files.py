"""A file that is no web page: read in a child process, what it says of itself first, so that policy decides on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from crawler.config.documents import DocumentsConfig
from crawler.document import Document, Drop, DropReason
from crawler.stages.documents.call import THE_NURSERY, Reading
from crawler.stages.documents.model import Facts, FileText
from crawler.stages.text.normal import line_of

MAX_HEAD_CHARS = 1_000
"""Characters of title and author."""
_FIRST_DAY = "1000"
"""Before it a date is that of a program which knows none (0101-01-01)."""
TIMING = "document_child"
"""Beside the stages' names in `Document.timings`: CPU seconds of the child that read the file."""


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads a file of a document within the limits of the settings. seconds: CPU time of one file."""

    config: DocumentsConfig
    seconds: float
    max_links: int

    def __call__(self, doc: Document, kind: str) -> str | Drop | None:
        """Fill in what the file says of itself; its text waits in `doc.tree`, or is the HTML that comes back.

        Drops: not_text where such files are not read here, too_large, encrypted, truncated, broken_document,
        document_memory, document_cpu, document_crash. Where the file has said something of itself before it failed,
        the drop waits in `doc.tree` until policy has decided.
        """
        if not self.config.reads(kind):
            return Drop(
                "parse", DropReason.NOT_TEXT, f"content type {doc.content_type[:100]!r}: {self.config.refusal(kind)}"
            )
        if len(doc.html) > self.config.max_bytes:
            return Drop(
                "fetch", DropReason.TOO_LARGE, f"{len(doc.html):,} bytes; DOCUMENT_MAXSIZE={self.config.max_bytes}"
            )
        doc.document_kind = kind
        found = _read(kind, doc.html, self.config, self.seconds, self.max_links)
        doc.timings[TIMING] = found.cpu
        if found.facts is None:
            return found.drop
        tell(doc, found.facts)
        doc.method_used = "file"
        return _take(doc, found)


def _read(kind: str, body: bytes, config: DocumentsConfig, seconds: float, max_links: int) -> Reading:
    return THE_NURSERY.read(kind, body, seconds=seconds, max_pages=config.max_pages, max_links=max_links)


def tell(doc: Document, facts: Facts) -> None:
    """What a file says of itself goes onto the document."""
    doc.metas, doc.rel_links = facts.metas, facts.rel_links
    doc.title = line_of(facts.title, MAX_HEAD_CHARS) or None
    doc.author = line_of(facts.author, MAX_HEAD_CHARS) or None
    if _FIRST_DAY <= facts.date <= (doc.crawled_at[:10] or "9") and _is_day(facts.date):
        doc.pub_date = facts.date
    doc.html_lang = facts.language.lower() or None
    doc.page_count = facts.pages or None
    doc.extractor = facts.reader
    doc.etag, doc.last_modified = doc.etag or facts.version or None, doc.last_modified or facts.modified or None


def _is_day(said: str) -> bool:
    try:
        return bool(date.fromisoformat(said))
    except ValueError:
        return False


def _take(doc: Document, found: Reading) -> str | None:
    content = found.content
    if content is None:
        doc.tree = FileText(drop=found.drop)
        return None
    doc.links = content.links
    doc.title = doc.title or line_of(content.title, MAX_HEAD_CHARS) or None
    doc.quality_signals.update(content.counts)
    if content.html:
        return content.html
    doc.tree = FileText(content.blocks)
    return None
