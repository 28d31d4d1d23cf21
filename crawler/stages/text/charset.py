"""Bytes to characters for the parse and extraction stages: which character set is it really?

The order is that of the WHATWG encoding sniffing algorithm (HTML standard, section 13.2.3): byte order mark, HTTP
header, declaration in the page, then detection. Real pages add corrections: bytes that are valid UTF-8 beyond ASCII are
UTF-8 whatever a label says; a label whose reading is no language is held against the page's own declaration and a
detector (`charset_doubt.py`); UTF-8 with bytes of another character set in it is repaired (`charset_mixed.py`).
"""

from __future__ import annotations

import re
from itertools import islice

from w3lib.encoding import read_bom

from crawler.stages.text.charset_doubt import (
    DOUBTFUL,
    HOPELESS,
    guess,
    is_foreign,
    language_of,
    oddness,
    sample_of,
    speaks,
)
from crawler.stages.text.charset_labels import is_single_byte, of_header, of_page, read
from crawler.stages.text.charset_mixed import is_mostly_utf8, repaired
from crawler.stages.text.normal import unmixed

MAX_REPLACED = 0.05
"""Share of U+FFFD above which the bytes count as unreadable."""
MAX_BINARY = 0.01
"""Share of binary data bytes above which the bytes are no text; of single ones browsers read the page all the same."""
_BINARY = bytes({*range(0x20)} - {*b"\t\n\f\r\x1b"})
"""NUL among them (WHATWG MIME Sniffing, section 3: binary data byte)."""
_BETTER = 0.5
"""Share of another reading's odd characters that the better one may have."""
_FEW = 3
"""Characters of UTF-8, up to which a label of two bytes a character may be right about the same bytes."""
_SERVERS_OWN = "cp1252"
"""What servers say of every page where nobody has told them: the page and its bytes know better together."""
_TWICE = re.compile(
    rb"\xc3[\x82-\xb4](?:\xc2[\x80-\xbf]|\xc5[\x92\x93\xa0\xa1\xb8\xbd\xbe]|\xc6\x92|\xcb[\x86\x9c]|\xe2(?:\x80[\x93-\xba]|\x82\xac|\x84\xa2))"
)
"""What a lead byte of UTF-8 and one that continues it become where somebody took them for windows-1252."""
_MARKUP_BYTES = 4_096
_ESCAPES = (b"\x1b$B", b"\x1b$@", b"\x1b$(")
_WIDE_SHARE = 0.2


def decode(body: bytes, charset: str | None = None) -> tuple[str, str] | None:
    """Text and the name of the encoding that read it, or None where no character set reads the bytes.

    `charset` is the label of the HTTP header (or a whole Content-Type value); unknown labels are ignored. Text that was
    encoded as UTF-8 twice comes back as it was before, wherever in the page it stands. The same again for the name
    that was found.
    """
    found = _read(body, charset)
    if found is None:
        return None
    text, encoding = found
    if text.count("\ufffd") > MAX_REPLACED * max(len(text), 1):
        return None
    if _binary_bytes(body, text, encoding) > max(MAX_BINARY * len(text), 1):
        return None
    text = text.replace("\0", "")
    return (unmixed(text) if encoding == "utf-8" and _is_twice(body) else text), encoding


def _binary_bytes(body: bytes, text: str, encoding: str) -> int:
    return text.count("\0") if encoding.startswith("utf-16") else len(body) - len(body.translate(None, _BINARY))


def _is_twice(body: bytes) -> bool:
    """True where UTF-8 was read as another character set and encoded again, somewhere in the page."""
    return sum(1 for _ in islice(_TWICE.finditer(body), _FEW)) == _FEW


def _read(body: bytes, charset: str | None) -> tuple[str, str] | None:
    marked, mark = read_bom(body)
    if marked and mark is not None:
        return body[len(mark) :].decode(marked, "replace"), marked
    header = of_header(charset)
    if wide := _wide(body, header):
        return body.decode(wide, "replace"), wide
    if body.isascii():
        return _of_ascii(body, header or of_page(body))
    return _beyond_ascii(body, header)


def _of_ascii(body: bytes, declared: str | None) -> tuple[str, str]:
    """ISO-2022-JP is written with ASCII bytes alone, and starts its own with an escape."""
    if b"\x1b" in body and any(escape in body for escape in _ESCAPES):
        try:
            return read(body, "iso2022_jp"), "iso2022_jp"
        except UnicodeDecodeError:
            return body.decode("iso2022_jp_ext", "replace"), "iso2022_jp"
    return body.decode("ascii"), declared if declared and is_single_byte(declared) else "utf-8"


def _beyond_ascii(body: bytes, header: str | None) -> tuple[str, str] | None:
    utf8 = _strictly(body, "utf-8")
    declared = header or of_page(body)
    if utf8 is not None and (declared is None or is_single_byte(declared) or declared == "utf-8"):
        return utf8, "utf-8"
    if utf8 is not None and sum(byte >= 0xC2 for byte in body) > _FEW:
        return utf8, "utf-8"
    sample, language = sample_of(body), language_of(body)
    for encoding in _candidates(body, sample, language, [header, of_page(body)]):
        text = _mixed(body, sample, language) if encoding == "utf-8" else _strictly(body, encoding)
        if text is not None:
            return text, encoding
    return _with_losses(body, sample, language, declared)


def _candidates(body: bytes, sample: bytes, language: str, declared: list[str | None]) -> list[str]:
    """Encodings in the order in which they are believed: the first that reads all of the bytes is the one."""
    named = list(dict.fromkeys(one for one in declared if one))
    mixed = ["utf-8"] if is_mostly_utf8(body, _FEW if "utf-8" in named else 0) else []
    named = [one for one in named if one != "utf-8"]
    if mixed and not named:
        return mixed
    odd = {one: oddness(sample, one) for one in (*named, *mixed)}
    is_doubted = not named or len(named) > 1 or odd[named[0]] > DOUBTFUL or is_foreign(named[0], language)
    guessed = guess(sample, language) if is_doubted else None
    if guessed is not None:
        odd.setdefault(guessed, oddness(sample, guessed))
        if not named and not mixed and odd[guessed] > HOPELESS:
            return []
        if named[:1] == [_SERVERS_OWN] and guessed in named[1:] and odd[guessed] <= odd[_SERVERS_OWN]:
            odd = {guessed: odd[guessed], **odd}
    return _ordered(odd, language)


def _ordered(odd: dict[str, float], language: str) -> list[str]:
    """The first named, unless a later one reads much better, or as well and is the language's own."""
    if not odd:
        return []
    best = next(iter(odd))
    for one, oddness_of_it in odd.items():
        is_better = odd[best] > DOUBTFUL and oddness_of_it < _BETTER * odd[best]
        is_own = is_foreign(best, language) and speaks(one, language) and oddness_of_it <= odd[best]
        if is_better or is_own:
            best = one
    return [best, *sorted((one for one in odd if one != best), key=odd.__getitem__)]


def _mixed(body: bytes, sample: bytes, language: str) -> str | None:
    other = guess(re.sub(rb"(?:[\xc2-\xf4][\x80-\xbf]{1,3})+", b" ", sample), language) or "cp1252"
    return repaired(body, other if is_single_byte(other) else "cp1252")


def _with_losses(body: bytes, sample: bytes, language: str, declared: str | None) -> tuple[str, str] | None:
    """With U+FFFD for what the best of the encodings cannot read."""
    guessed = guess(sample, language)
    named = [one for one in (declared, guessed) if one and (one == declared or oddness(sample, one) < HOPELESS)]
    if not named:
        return None
    best = min(named, key=lambda one: oddness(sample, one))
    return read(body, best, "replace"), best


def _strictly(body: bytes, encoding: str) -> str | None:
    try:
        return read(body, encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _wide(body: bytes, header: str | None) -> str | None:
    """The UTF-16 of bytes without a mark that are in it: every other byte of markup is NUL."""
    head = body[:_MARKUP_BYTES]
    if len(body) % 2 and len(body) < _MARKUP_BYTES:
        head = head[:-1]
    half = len(head) // 2
    if half and b"\0" in head:
        even, odd = head[0::2].count(0), head[1::2].count(0)
        if max(even, odd) > _WIDE_SHARE * half and min(even, odd) < _WIDE_SHARE / 2 * max(even, odd):
            return "utf-16-be" if even > odd else "utf-16-le"
    if header is not None and header.startswith("utf-16") and _strictly(body, "utf-8") is None:
        return "utf-16-le" if header == "utf-16" else header
    return None
