"""Which kind of file is a body that is no web page: PDF, an office file, EPUB, or none of these?

The first bytes, and the members of a container, decide; the declared type only says whether it may be one at all. One
answer for pages as they come, for archives and for the stages. No body is unpacked here.
"""

from __future__ import annotations

import re

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
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.presentationml.slideshow": "pptx",
    "application/vnd.openxmlformats-officedocument.presentationml.template": "pptx",
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": "pptx",
    "application/vnd.ms-powerpoint.slideshow.macroenabled.12": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.template": "xlsx",
    "application/vnd.ms-excel.sheet.macroenabled.12": "xlsx",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.presentation-template": "odp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.spreadsheet-template": "ods",
}
_SUFFIXES = frozenset(_TYPES.values())
_SILENT = frozenset(
    ("application/octet-stream", "binary/octet-stream", "application/binary", "application/download",
     "application/x-download", "application/force-download", "application/zip", "application/x-zip-compressed",
     "application/msword", "application/vnd.ms-powerpoint", "application/vnd.ms-excel", "application/vnd.ms-office")
)  # fmt: skip
"""Types that servers give to files of which they say nothing else, or say the wrong thing."""
_PDF, _ZIP = b"%PDF-", b"PK\x03\x04"
JUNK_BEFORE_PDF = 8_192
"""Bytes in front of the head of a PDF that are passed over; readers look at 1,024 (ISO 32000-1, appendix H)."""
_ODF = b"application/vnd.oasis.opendocument."
_MIMETYPES = {b"application/epub+zip": "epub", _ODF + b"text": "odt", _ODF + b"presentation": "odp",
              _ODF + b"spreadsheet": "ods"}  # fmt: skip
_OOXML = {b"word/document.xml": "docx", b"ppt/presentation.xml": "pptx", b"xl/workbook.xml": "xlsx"}
_DIRECTORY_END, _DIRECTORY_WITHIN = b"PK\x05\x06", 65_557
"""Of a ZIP: what begins the end of its directory, and how far from the end of the file that is (APPNOTE 4.3.16)."""
_WIKI = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?<mediawiki\s[^>]{0,2000}mediawiki\.org/xml/export-")
"""The root of an export of a wiki (https://www.mediawiki.org/wiki/Help:Export)."""
_ROOT_WITHIN = 4_096
ENOUGH = 64
"""Bytes from which it can be said that a body is no file of a kind named here."""


def names_file(url: str) -> bool:
    """True where the path of a URL ends as the name of such a file."""
    return url.partition("?")[0].rpartition("/")[2].rpartition(".")[2].lower() in _SUFFIXES


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
    """Tell one of `crawler.config.documents.KINDS`, or None."""
    is_file = may_be_file(declared)
    if not (is_file or may_be_read(declared)):
        return None
    if _WIKI.match(body[:_ROOT_WITHIN]):
        return "mediawiki"
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
    names = _directory(body)
    kind = next((kind for name, kind in _OOXML.items() if name in names), None)
    return kind or ("epub" if b"META-INF/container.xml" in names and b".opf" in names else None)


def _directory(body: bytes) -> bytes:
    """The part of a ZIP that has the names of its own members, and not of files within it; all of one that was cut."""
    end = body.rfind(_DIRECTORY_END, max(0, len(body) - _DIRECTORY_WITHIN))
    size = int.from_bytes(body[end + 12 : end + 16], "little")
    return body[max(0, end - size) : end] if 0 < size <= end else body
