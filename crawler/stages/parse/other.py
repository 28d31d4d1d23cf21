"""Bytes become a text or a page: plain text, HTML in whatever carries it, RTF, mail."""

from __future__ import annotations

from crawler.document import Document, Drop, DropReason
from crawler.stages.documents.model import Facts
from crawler.stages.documents.said import plausible_author, plausible_title
from crawler.stages.parse.files import tell
from crawler.stages.parse.mail import read_mail
from crawler.stages.parse.raw import markup_in
from crawler.stages.parse.rtf import read_rtf
from crawler.stages.text.charset import decode


def read_text(doc: Document, kind: str) -> tuple[str, str] | Drop:
    """The text of a page or of a plain text, and which of both it is. Drops: undecodable."""
    decoded = decode(doc.html, doc.charset)
    if decoded is None:
        return Drop("parse", DropReason.UNDECODABLE, f"declared character set: {str(doc.charset)[:40]!r}")
    text, doc.charset = decoded
    markup = markup_in(text, is_page=kind == "html")
    return (text, kind) if markup is None else as_page(doc, markup)


def read_other(doc: Document, kind: str) -> tuple[str, str]:
    """The text or the HTML of what is neither, and what it says of itself; "text" or "html"."""
    if kind == "rtf":
        read = read_rtf(doc.html)
        tell(doc, Facts(plausible_title(read.title), plausible_author(read.author), read.date, reader="rtf"))
        return read.text, "text"
    mail = read_mail(doc.html)
    doc.title, doc.author, doc.pub_date = mail.subject, mail.sender, mail.date
    if mail.is_markup:
        return as_page(doc, mail.text)
    doc.extractor = "mail"
    return mail.text, "text"


def as_page(doc: Document, markup: str) -> tuple[str, str]:
    """HTML that stood in something else is the body from here on, as that of a record is."""
    doc.html, doc.charset = markup.encode("utf-8", "replace"), "utf-8"
    return markup, "html"
