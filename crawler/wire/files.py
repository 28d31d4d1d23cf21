"""Which kind of file is a body that is no web page: PDF, DOCX, ODT, EPUB, or none of these?

The first bytes, and the members of a container, decide; the declared type only says whether it may be one at all. One
answer for pages as they come, for archives and for the stages. No body is unpacked here.
"""

from __future__ import annotations

from crawler.wire.media import may_be_read, media_type

_TYPES = {
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "application/acrobat": "pdf",
    "applications/vnd.pdf": "pdf",
    "text/pdf": "pdf",
    "text/x-pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template": "docx",
    "application/vnd.ms-word.document.macroenabled.12": "docx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.text-template": "odt",
    "application/epub+zip": "epub",
}
_SILENT = frozenset(
    ("application/octet-stream", "binary/octet-stream", "application/binary", "application/download",
     "application/x-download", "application/force-download", "application/zip", "application/x-zip-compressed",
     "application/msword")
)  # fmt: skip
"""Types that servers give to files of which they say nothing else, or say the wrong thing."""
_PDF, _ZIP = b"%PDF-", b"PK\x03\x04"
JUNK_BEFORE_PDF = 8_192
"""Bytes in front of the head of a PDF that are passed over; readers look at 1,024 (ISO 32000-1, appendix H)."""
_MIMETYPES = {b"application/epub+zip": "epub", b"application/vnd.oasis.opendocument.text": "odt"}
ENOUGH = 64
"""Bytes from which it can be said that a body is no file of a kind named here."""


def declared_kind(declared: str) -> str | None:
    """The kind of file that a declared type names; None where it names none."""
    return _TYPES.get(media_type(declared).essence)


def may_be_file(declared: str) -> bool:
    """True where bytes of this declared type can be one of these files, and need not be."""
    essence = media_type(declared).essence
    return essence in _TYPES or essence in _SILENT


def begins_as_file(start: bytes) -> bool:
    """True for the first bytes of one of these files, junk in front of it aside."""
    return start.startswith(_ZIP) or _PDF in start[:JUNK_BEFORE_PDF]


def file_kind(declared: str, body: bytes) -> str | None:
    """Tell "pdf", "docx", "odt", "epub" or None."""
    is_file = may_be_file(declared)
    if not (is_file or may_be_read(declared)):
        return None
    if body.startswith(_PDF) or (is_file and body.find(_PDF, 0, JUNK_BEFORE_PDF) >= 0):
        return "pdf"
    return _kind_of_zip(body) if body.startswith(_ZIP) else None


def from_head(body: bytes) -> bytes:
    """A PDF without the junk in front of its head."""
    return body[max(0, body.find(_PDF, 0, JUNK_BEFORE_PDF)) :]


def _kind_of_zip(body: bytes) -> str | None:
    """By its first member, which EPUB (OCF 3.3, section 4.3) and ODF (part 2, section 3.3) call `mimetype`, or by
    names of its members.
    """
    name = body[30:38]
    if name == b"mimetype":
        start = body[38:200]
        return next((kind for named, kind in _MIMETYPES.items() if named in start), None)
    if b"word/document.xml" in body:
        return "docx"
    return "epub" if b"META-INF/container.xml" in body and b".opf" in body else None
