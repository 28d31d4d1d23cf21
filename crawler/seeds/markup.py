"""The text of an XML file as its author meant it, so that no parser's recovery makes up or drops a part of a URL.

Sitemaps and feeds are written by programs that know no XML: with bare `&`, under a wrong label, cut in the middle. What
is certain is put right here; what stands behind the last complete entry of a cut file is left out. Linear time.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from html.entities import html5

from w3lib.encoding import http_content_type_encoding, resolve_encoding

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WIDE = {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
_LABEL = re.compile(rb"\s*<\?xml[^>]{1,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})")
_DECLARATION = re.compile(r"\s*<\?xml[^<>]*\?>")
_ODD = re.compile(
    r"<!\[CDATA\[(?:.*?\]\]>|.*\Z)|<!--(?:.*?-->|.*\Z)"
    r"|&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)(?:([A-Za-z][A-Za-z0-9]{1,31};))?"
    r"|<(?![A-Za-z_:/!?])|[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]",
    re.DOTALL,
)
_OPEN_LOC = re.compile(r"(<((?:[\w.-]{1,40}:)?loc)>[^<]{0,9000})(?=</(?!\2))")
MAX_ODD = 500_000
"""Places of a file that are put right, CDATA and comments among them."""
_NO_URL = "\x7f"
"""Stands for a character that XML forbids: XML admits it, and no URL has it."""


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no UTF-8, as the encoding in which such a program writes: the others stay UTF-8."""
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    return bad.decode("cp1252", "replace"), error.end


codecs.register_error("gristmill-windows", _as_windows)


def decoded(data: bytes, content_type: str = "") -> str:
    """The characters of a file: by its mark, its label where the bytes agree, else UTF-8 with what is none in it.

    content_type: value of the header, whose charset goes before the label of the file (RFC 7303 section 3).
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if wide := _WIDE.get(data.lstrip()[:2]):
        return data.decode(wide, "replace")
    found = _LABEL.match(data)
    labels = http_content_type_encoding(content_type), resolve_encoding(found[1].decode()) if found else None
    label = next((name for name in labels if name and not name.startswith(("utf-16", "utf-32"))), "utf-8")
    is_ascii = data.isascii()
    for encoding in (label,) if is_ascii else ("utf-8", label):  # as pages are read (stages/text/charset.py)
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("utf-8", "gristmill-windows")


def repaired(text: str) -> tuple[str, int]:
    """The text with `&` and `<` that begin nothing written as XML wants them, `loc` closed where its entry ends, and
    how many such places there were.

    Names of HTML (`&eacute;`) become their characters. Without the XML declaration, which no longer says the truth, and
    without what follows `MAX_ODD` such places.
    """
    if declaration := _DECLARATION.match(text):
        text = "\n" * declaration[0].count("\n") + text[declaration.end() :]
    pieces, at, odd = list[str](), 0, 0
    for number, found in enumerate(_ODD.finditer(text)):
        pieces.append(text[at : found.start()])
        at = found.end()
        if number == MAX_ODD:
            return "".join(pieces), odd
        pieces.append(_put_right(found))
        odd += not found[0].startswith("<!")
    text, closed = _OPEN_LOC.subn(r"\1</\2>", "".join([*pieces, text[at:]]) if pieces else text)
    return text, odd + closed


def _put_right(found: re.Match[str]) -> str:
    what, name = found[0], found[1]
    if what.startswith("<!"):
        return what
    if what == "<":
        return "&lt;"
    if what[0] != "&":
        return _NO_URL
    return html5.get(name, f"&amp;{name}") if name else "&amp;"


def whole(text: str, roots: Iterable[str], items: Iterable[str]) -> tuple[str, bool]:
    """The text up to its last whole item, where the file ends before its root does; and whether one was cut.

    A parser that recovers would close the item for us, and take half a URL for one.
    """
    if re.search(_closing(roots), text, re.IGNORECASE):
        return text, False
    end = 0
    for found in re.finditer(_closing(items), text, re.IGNORECASE):
        end = found.end()
    begun = re.search(rf"<(?:[\w.-]{{1,40}}:)?(?:{'|'.join(items)})[\s>]", text[end:], re.IGNORECASE)
    return (text[: end + begun.start()], True) if begun else (text, False)


def _closing(names: Iterable[str]) -> str:
    return rf"</(?:[\w.-]{{1,40}}:)?(?:{'|'.join(names)})\s{{0,20}}>"
