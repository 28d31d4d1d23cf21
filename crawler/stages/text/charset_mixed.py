"""UTF-8 with some bytes of another character set in it: a page's template is in one, what was pasted in the other.

Such bytes are read by the other character set where that makes a letter or a mark of punctuation; halves of a character
that was cut off, and what is neither, are left out. No U+FFFD remains of them.
"""

from __future__ import annotations

import re
import unicodedata

_SEQUENCE = (
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
"""Unicode 16, table 3-7: well-formed byte sequences beyond ASCII."""
_WELL_FORMED = re.compile(rb"(?:" + _SEQUENCE + rb")")
_BEYOND = re.compile(rb"[\x80-\xff]")
_PARTS = re.compile(rb"([\x00-\x7f]++|(?:" + _SEQUENCE + rb")++)|([\x80-\xff])")
_CUT = re.compile(
    rb"(?:[\xe1-\xef][\x80-\xbf]|\xe0[\xa0-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{0,1}|[\xf1-\xf4][\x80-\xbf]{1,2})(?![\x80-\xbf])"
)
"""Two or three bytes of a character that had one more."""
_ENDS = b"\"'<.&\xe2 \n"
_OF_THREE_BYTES = "\u0e00"
"""From here on letters have three bytes each; what begins one behind another is one that was cut off."""
MOST_LEFT_OUT = 0.05
"""Share of characters left out, above which nobody can read the bytes."""


def is_mostly_utf8(body: bytes, few: int = 0) -> bool:
    """True where well-formed sequences are more than the bytes beyond ASCII that belong to none, or these are few."""
    rest, formed = _WELL_FORMED.subn(b"", body)
    stray = len(_BEYOND.findall(rest))
    return stray <= few or formed > stray


def repaired(body: bytes, other: str) -> str | None:
    """Text of mixed bytes; None where too much of it can be read by neither. `other`: codec of the stray bytes."""
    found, at, lost = list[str](), 0, 0
    while at < len(body):
        match = _PARTS.match(body, at)
        if match is None:  # no byte is none of both
            break
        if match[1] is not None:
            found.append(match[1].decode())
            at = match.end()
            continue
        cut = _CUT.match(body, at)
        if cut is not None and _is_cut_off(body, cut.end(), found):
            at, lost = cut.end(), lost + 1
            continue
        if match[2] >= b"\xe0" and found and found[-1][-1:] >= _OF_THREE_BYTES:
            at, lost = at + 1, lost + 1
            continue
        char = _read(match[2], other, body, at, found)
        found.append(char)
        lost += not char
        at += 1
    text = "".join(found)
    return None if lost > max(MOST_LEFT_OUT * len(text), 1) else text


def _is_cut_off(body: bytes, end: int, before: list[str]) -> bool:
    """True for the beginning of a character in a text of such characters, or before the end of a text."""
    last = before[-1][-1:] if before else ""
    return last >= _OF_THREE_BYTES or end >= len(body) or body[end] in _ENDS


def _read(byte: bytes, other: str, body: bytes, at: int, before: list[str]) -> str:
    """The sign that the other character set has for a byte, where it fits what stands around it; else none."""
    char = byte.decode(other, "ignore")
    follows = body[at + 1 : at + 2]
    if not char or (byte in (b"\xc2", b"\xc3") and (not follows or follows in (bytes((one,)) for one in _ENDS))):
        return ""
    if not char.isalpha():
        return char if unicodedata.category(char)[0] in "PSZN" else ""
    last = before[-1][-1:] if before else ""
    if char > "\u024f":  # of another alphabet
        return char
    return (
        char if last.isalpha() or follows.isalpha() or (follows and follows[0] >= 0x80) or _stands_alone(char) else ""
    )


def _stands_alone(char: str) -> bool:
    """Letters that are words: à, é, è, ó, y with accents of Romance and Nordic languages."""
    return char.lower() in "àáâèéêìíòóôùúåæøöäü"
