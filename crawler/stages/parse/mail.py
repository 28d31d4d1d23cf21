"""A mail, or a page saved as one (MHTML), becomes its text or its HTML, with subject, name of the sender and date.

RFC 5322 and RFC 2045 to 2049, read by Python's `email`; RFC 2557 for saved pages. Attachments are left out.
"""

from __future__ import annotations

import email
import email.policy
import re
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime

from crawler.stages.text.charset import decode

MOST_PARTS = 1_000
_MARKED = ("text/markdown", "text/x-markdown", "text/x-rst", "text/asciidoc", "text/x-asciidoc")
"""Texts that a reader of mail shows as they are."""


@dataclass(frozen=True, slots=True)
class Mail:
    """What a mail says; `text` is HTML where `is_markup`."""

    text: str = ""
    is_markup: bool = False
    subject: str | None = None
    sender: str | None = None
    date: str | None = None
    """ISO 8601 date."""


def read_mail(body: bytes) -> Mail:
    """What a mail says; an empty text where it has none that can be read."""
    try:
        message: EmailMessage = email.message_from_bytes(body.lstrip(), policy=email.policy.default)
        text, is_markup = _text(message)
        return Mail(text, is_markup, _line(message["subject"]), _sender(message), _date(message))
    except (ValueError, LookupError, TypeError, AttributeError, IndexError, RecursionError):
        return Mail()  # a head or a part that is none; `email` says so in many ways


def _text(message: EmailMessage) -> tuple[str, bool]:
    """The plain text, or the HTML where there is no other or the mail is a saved page, or a text with a markup."""
    parts = [part for _, part in zip(range(MOST_PARTS), message.walk(), strict=False) if _is_shown(part)]
    order = (
        ("text/html", "text/plain")
        if message.get_content_type() == "multipart/related"
        else ("text/plain", "text/html")
    )
    for kind in (*order, *_MARKED):
        texts = [text for part in parts if part.get_content_type() == kind and (text := _decoded(part)).strip()]
        if texts:
            return (texts[0], True) if kind == "text/html" else ("\n\n".join(texts), False)
    return "", False


def _is_shown(part: EmailMessage) -> bool:
    return not part.is_multipart() and part.get_content_disposition() != "attachment"


def _decoded(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    found = decode(payload, part.get_content_charset()) if isinstance(payload, bytes) else None
    text = found[0].replace("\r\n", "\n") if found else ""
    return _unfolded(text) if part.get_param("format") == "flowed" else text


def _unfolded(text: str) -> str:
    """Lines that end in a blank go on in the next one (RFC 3676, section 4.1)."""
    return re.sub(r"(?<!^--) \n(?=[^\s>])", " ", text, flags=re.MULTILINE)


def _line(value: object) -> str | None:
    return " ".join(str(value).split())[:1_000] or None if value else None


def _sender(message: EmailMessage) -> str | None:
    """The name alone: an address is nobody's name."""
    name = parseaddr(str(message["from"] or ""))[0]
    return _line(name) if name and "@" not in name else None


def _date(message: EmailMessage) -> str | None:
    try:
        return parsedate_to_datetime(str(message["date"])).date().isoformat()
    except (TypeError, ValueError):
        return None
