"""What kind of document is a body? HTML, plain text, RTF, a mail, or nothing that is read.

The declared type decides, read as the Fetch standard reads it (https://fetch.spec.whatwg.org/, "extract a MIME type");
where it says nothing, the first bytes do (https://mimesniff.spec.whatwg.org/, with the tags as Chromium compares them).
One answer for pages as they come, for archives and for the stages.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from typing import NamedTuple

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
TEXT_TYPES = frozenset(
    ("text/plain", "text/markdown", "text/x-markdown", "text/x-rst", "text/prs.fallenstein.rst", "text/asciidoc",
     "text/x-asciidoc")
)  # fmt: skip
XML_TYPES = frozenset({"text/xml", "application/xml", "application/tei+xml", "application/jats+xml"})
RTF_TYPES = frozenset({"application/rtf", "application/x-rtf", "text/rtf"})
MAIL_TYPES = frozenset(
    ("message/rfc822", "message/global", "multipart/related", "multipart/mixed", "multipart/alternative",
     "application/x-mimearchive", "application/x-ms-mht")
)  # fmt: skip
"""Mails, and pages that were saved as one (MHTML, RFC 2557)."""
UNKNOWN_TYPES = frozenset({"", "unknown/unknown", "application/unknown"})
CODE_AND_DATA = frozenset(
    f"text/{name}"
    for name in (
        *("css", "javascript", "ecmascript", "x-javascript", "jscript", "livescript", "typescript", "json", "x-json"),
        *("csv", "x-csv", "comma-separated-values", "tab-separated-values", "calendar", "x-calendar", "x-vcalendar"),
        *("vcard", "x-vcard", "directory", "ldif", "event-stream", "qif", "x-qif", "vtt", "xsl", "yaml"),
    )
)
"""Types of text that are no text to read; Chromium shows some of them."""

_READ = HTML_TYPES | TEXT_TYPES | XML_TYPES | RTF_TYPES | MAIL_TYPES | UNKNOWN_TYPES
SNIFFED = 1_445
"""Bytes that are looked at (MIME Sniffing section 5.2)."""
_ROOT_WITHIN = 8_192
_TAGS_WITHIN = 512
_TYPE_END = re.compile(r"[ \t;(]")
_CHARSET = re.compile(r";[ \t]*charset[ \t]*=[ \t]*(?:\"([^\"]*)\"?|'([^']*)'?|([^;\s]*))", re.IGNORECASE)
_ITEM = re.compile(r"(?:[^,\"]|\"[^\"]*\"?)+")
_TAG = re.compile(
    r"[\t\n\x0b\f\r ]*<(?:!doctype html|!--|script|html|head|iframe|h1|div|font|table|style|title|body|a|b|p)",
    re.IGNORECASE,
)
_XML = re.compile(r"[\t\n\f\r ]*<\?xml")
_BEFORE_ROOT = re.compile(
    r"\s*(?:<\?[^>]*>|<!--(?:[^-]|-(?!->))*-->|<!doctype[^>\[]*(?:\[[^\]]*\]\s*)?>)", re.IGNORECASE
)
_HTML_ROOT = re.compile(r"\s*<(?:[\w.-]{1,40}:)?html[\s/>]", re.IGNORECASE)
_PAPERS = (
    ("tei", re.compile(r"\s*<(?:[\w.-]{1,40}:)?(?:TEI|teiCorpus)[\s>][^>]{0,1000}tei-c\.org/ns")),
    (
        "jats",
        re.compile(r"\s*<article(?=[\s>])(?:[^>]{0,2000}(?:article-type=|dtd-version=)|[^>]{0,2000}>\s*<front[\s>])"),
    ),
)
"""Root elements of papers; DocBook has an `article` of its own."""
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text has (section 3, "binary data byte")."""
_MAGIC = (
    *(b"%PDF-", b"%!PS-Adobe-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"),
    *(b"\x7fELF", b"BZh", b"OggS\x00", b"wOFF", b"Rar!"),
)
_LEAST_WIDE = 5
"""Of so many bytes of UTF-16 at least one is a NUL, in scripts that have blanks and line ends."""
MAIL_HEAD = 16_384
"""Bytes in which the head of a mail without a type ends."""
_RTF = re.compile(rb"\s{0,64}\{\\rtf\d?")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_MAIL_STARTS = re.compile(rb"\s{0,64}(?:From |[!-9;-~]{1,76}:)")
_FIELD = re.compile(rb"From [^\r\n]{1,200}|[!-9;-~]{1,76}:.*|[ \t].*")
_OF_MAILS = (
    {b"mime-version", b"content-type"}, {b"message-id", b"from"}, {b"received", b"from"},
    {b"from", b"date", b"subject"},
)  # fmt: skip
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class MediaType(NamedTuple):
    """`essence` in lower case, without parameters; empty where nothing is declared."""

    essence: str
    charset: str | None


def content_type(lines: Iterable[tuple[bytes, bytes]]) -> str:
    """The values of all Content-Type lines on one line, as text (Latin-1, RFC 9110 section 5.5)."""
    values = (b" ".join(value.split()) for name, value in lines if name.lower() == b"content-type")
    return ", ".join(value.decode("latin-1") for value in values if value)


def media_type(declared: str) -> MediaType:
    """The last type of a list that is one, and its charset, or that of an equal type before it."""
    essence, charset = "", None
    for item in _ITEM.findall(declared):
        kind = _TYPE_END.split(item.strip(), 1)[0].lower()
        if "/" not in kind or kind == "*/*":
            continue
        found = _CHARSET.search(item)
        said = next((value.strip() for value in found.groups() if value), None) if found else None
        charset = said or (charset if kind == essence else None)
        essence = kind
    return MediaType(essence, charset)


def may_be_read(declared: str) -> bool:
    """False where no bytes of this declared type could be read."""
    essence = media_type(declared).essence
    return essence in _READ or _is_text(essence)


def media_kind(declared: str, body: bytes) -> str | None:
    """Tell "html", "text", "rtf", "mail", "jats", "tei" or None (nothing that is read)."""
    if body.startswith(_MAGIC) or not may_be_read(declared):
        return None
    essence = media_type(declared).essence
    if essence in HTML_TYPES:
        return "html"
    if other := _other_kind(essence, body):
        return other
    if essence in TEXT_TYPES:
        return None if _has_stray_nul(body) else "text"
    return _sniffed(essence, body)


def _other_kind(essence: str, body: bytes) -> str | None:
    """Tell "mail" or "rtf" by the type or, where it may be any text, by the first bytes; None for what is neither."""
    if essence in MAIL_TYPES:
        return "mail"
    if essence in RTF_TYPES or essence in TEXT_TYPES or essence in UNKNOWN_TYPES:
        if _RTF.match(body):
            return "rtf"
        return "mail" if essence not in RTF_TYPES and is_mail(body) else None
    return None


def _has_stray_nul(body: bytes) -> bool:
    """True for what is called text and holds a NUL, as no text does but UTF-16, which is full of them (section 7)."""
    head = body[:SNIFFED]
    return 0 < head.count(0) < len(head) / _LEAST_WIDE and not head.startswith(tuple(mark for mark, _ in _MARKS))


def _sniffed(essence: str, body: bytes) -> str | None:
    start = _start(body, SNIFFED)
    if essence in XML_TYPES or _XML.match(start):
        return _kind_of_xml(_start(body, _ROOT_WITHIN))
    if _TAG.match(start[:_TAGS_WITHIN]):
        return "html"
    return None if is_binary(body) or not start.strip() else "text"


def is_mail(body: bytes) -> bool:
    """True for a body that begins with the head of a mail: fields alone, among them those that no other text has."""
    end = _HEAD_END.search(body, 0, MAIL_HEAD)
    if end is None or not _MAIL_STARTS.match(body):
        return False
    lines = body[: end.start()].lstrip().replace(b"\r", b"").split(b"\n")
    if len(lines) < 3 or not all(_FIELD.fullmatch(line) for line in lines):
        return False
    names = {line.partition(b":")[0].lower() for line in lines}
    return any(names >= some for some in _OF_MAILS) or (lines[0].startswith(b"From ") and names >= {b"from", b"date"})


def is_binary(body: bytes) -> bool:
    """True where the first bytes are none of a text (section 7.2)."""
    return not body.startswith(tuple(mark for mark, _ in _MARKS)) and _BINARY.search(body, 0, SNIFFED) is not None


def _is_text(essence: str) -> bool:
    return essence.startswith("text/") and essence not in CODE_AND_DATA


def _start(body: bytes, size: int) -> str:
    """The first bytes as text, without a byte order mark: whoever writes one has not said less than who writes none."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) : size].decode(encoding, "ignore")
    return body[:size].decode("latin-1")


def _kind_of_xml(start: str) -> str | None:
    """By the root element: that of a page, or of a paper."""
    at = 0
    while found := _BEFORE_ROOT.match(start, at):
        at = found.end()
    if _HTML_ROOT.match(start, at) is not None:
        return "html"
    return next((kind for kind, root in _PAPERS if root.match(start, at)), None)
