"""Bytes to characters for the parse and extraction stages: which character set is it really?

The order is that of the WHATWG encoding sniffing algorithm (HTML standard, section 13.2.3): byte order mark, HTTP
header, declaration in the page, then detection. Two corrections come from real pages: a declaration that breaks more
than it reads is not believed, and bytes that are valid UTF-8 beyond ASCII are UTF-8 whatever a single-byte label says.
"""

from __future__ import annotations

import codecs

from resiliparse.parse.encoding import detect_encoding
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
    to_unicode,
)

MAX_REPLACED = 0.05
"""Share of U+FFFD above which the bytes count as unreadable."""
MIN_BROKEN = 8
"""Broken characters from which a declaration may be wrong: fewer bytes are not enough to detect another one."""
_DETECT_BYTES = 131_072
_NO_CHARSETS = frozenset(
    {"undefined", "idna", "punycode", "unicode_escape", "unicode-escape", "raw_unicode_escape", "raw-unicode-escape"}
    | {"utf_7", "utf-7", "mbcs", "oem"}
)
"""Codecs of Python that no page is written in: `<meta charset=undefined>` is an empty variable of a template."""


def decode(body: bytes, charset: str | None = None) -> tuple[str, str] | None:
    """Text and the name of the encoding that read it, or None where no character set reads the bytes.

    `charset` is the label of the HTTP header (or a whole Content-Type value); unknown labels are ignored.
    """
    bom_encoding, bom = read_bom(body)
    if bom_encoding and bom is not None:
        return _checked(to_unicode(body[len(bom) :], bom_encoding), bom_encoding)
    declared = _known(_header_encoding(charset)) or _known(html_body_declared_encoding(body))
    for encoding in _candidates(body, declared):
        try:
            return _checked(body.decode(encoding), encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    for fallback in _fallbacks(body, declared):
        if checked := _checked(to_unicode(body, fallback), fallback):
            return checked
    return None


def _candidates(body: bytes, declared: str | None) -> list[str]:
    """Encodings to try strictly, best first."""
    if declared is None or _is_single_byte(declared):
        first = ["utf-8"] if declared is None or not body.isascii() else []
        return [*first, *filter(None, (declared, None if declared else _detected(body)))]
    return [declared, "utf-8"]


def _fallbacks(body: bytes, declared: str | None) -> list[str]:
    """Encodings to try with U+FFFD for what they cannot read, best first."""
    encodings = [encoding for encoding in (declared, _detected(body)) if encoding]
    if declared and _is_wrong(to_unicode(body, declared)):
        encodings.reverse()
    return encodings


def _is_wrong(text: str) -> bool:
    """True where so much beyond ASCII is broken, and less is read, that another character set wrote these bytes.

    A UTF-8 page with a few broken bytes in it stays UTF-8; a Latin-1 page does not lose each umlaut to a wrong label.
    """
    broken = text.count("\ufffd")
    return broken >= MIN_BROKEN and 2 * broken > len(text) - len(text.encode("ascii", "ignore"))


def _header_encoding(charset: str | None) -> str | None:
    if not charset:
        return None
    if "=" in charset:
        return http_content_type_encoding(charset)
    return resolve_encoding(charset.partition(",")[0].strip().strip("\"'"))  # a proxy may have joined two headers


def _known(encoding: str | None) -> str | None:
    return None if encoding is None or encoding.lower() in _NO_CHARSETS else encoding


def _detected(body: bytes) -> str | None:
    """Statistical guess (uchardet) over the first 128 KiB."""
    if _is_utf8_sample(body):
        return "utf-8"
    guess = detect_encoding(body, max_len=_DETECT_BYTES, html5_compatible=True)
    return resolve_encoding(guess) if guess else None


def _is_utf8_sample(body: bytes) -> bool:
    """True where the beginning is valid UTF-8: one broken byte far down does not make a page Latin-1."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body[:_DETECT_BYTES])
    except UnicodeDecodeError:
        return False
    return True


def _is_single_byte(encoding: str) -> bool:
    return encoding.startswith(("cp125", "iso8859", "koi8", "cp874", "mac", "latin", "ascii"))


def _checked(text: str, encoding: str) -> tuple[str, str] | None:
    if text.count("\ufffd") > MAX_REPLACED * max(len(text), 1) or "\0" in text[:1024]:
        return None
    return text, encoding
