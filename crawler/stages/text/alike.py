"""Ways to write the same text are made one here, before texts are compared; what changes its meaning stays.

Ligatures, half and full width and the presentation forms of Arabic are their letters (Unicode's compatibility mappings
but those of superscripts, fractions and circled numbers: `x²` is not `x2`). Persian and Arabic yeh and kaf are one
letter, tatweel, soft hyphens and joiners are none, but a joiner behind a virama or between pictures says something. The
sign of a number, its decimal point and operators are kept where punctuation is left out: `-5` is not `5`, `a/b` is not
`ab`. Sources: UAX #15 (compatibility mappings), UAX #31 section 2.3 (joiners).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_WIDE_MARKS = frozenset("．－／％＊＃＆")
_DASHES = frozenset("-‐‑‒–—―−﹘﹣－")
_POINT = re.compile(r"[.,:·٫٬](?=\d)")
_SIGN = re.compile("[-‐-―−﹘﹣－/*&%‰٪#!]")
_OPENS = frozenset("([{<=+-*/^|~ \n\t")
_MARKS = ".,:/·٫٬*&%‰٪#!"
_KEPT = {mark: chr(0x2400 + number) for number, mark in enumerate(_MARKS, 1)}
"""Signs that stand for marks which are kept: pictures of controls, which no text has."""
_DASH = "\u2400"
_SAME = {
    "ی": "ي",
    "ک": "ك",
    "ـ": "",
    "\u00ad": "",
    "\u200b": "",
    "\u200e": "",
    "\u200f": "",
    "\u061c": "",
    "\ufe0e": "",
    "\ufe0f": "",
}
_TAGS = frozenset(
    f"<{tag}>"
    for tag in (
        "wide",
        "narrow",
        "initial",
        "medial",
        "final",
        "isolated",
        "compat",
        "square",
        "vertical",
        "font",
        "noBreak",
    )
)
_JOINERS = re.compile("[\u200c\u200d]")
_VIRAMA = 9
"""Canonical combining class of viramas."""


def alike(text: str) -> str:
    """The text with one way of writing where there are several."""
    if text.isascii():
        return text
    for expression in _expressions():
        text = expression.sub(_written_alike, text)
    return _JOINERS.sub(_joiner, text) if "\u200d" in text or "\u200c" in text else text


def with_signs(text: str) -> str:
    """The text with stand-ins for those marks of punctuation that numbers and formulas need."""
    return _SIGN.sub(_sign, _POINT.sub(_point, text))


def _point(match: re.Match[str]) -> str:
    """A mark before a digit: kept behind another digit (1.5, 10:30), and at the beginning of a number (.5)."""
    before = match.string[match.start() - 1 : match.start()]
    mark: str = match[0]
    is_meant = before.isdigit() or (mark in ".,٫" and (not before or before in _OPENS))
    return _KEPT[mark] if is_meant else mark


def _sign(match: re.Match[str]) -> str:
    mark, at, text = match[0], match.start(), match.string
    before, after = text[max(0, at - 3) : at], text[at + 1 : at + 4]
    if mark in _DASHES:
        return _DASH if _is_minus(before, after) else mark
    if mark in "%‰٪":
        is_meant = before.rstrip(" ")[-1:].isdigit() or _is_between(before, after)
    elif mark == "#":
        is_meant = before[-1:].isalnum() and not after[:1].isalnum()  # C#
    elif mark == "!":
        is_meant = after[:1] == "="
    else:
        is_meant = _is_between(before, after)
    return _KEPT[mark] if is_meant else mark


def _is_minus(before: str, after: str) -> bool:
    """-5, 3-x, a - b, f(-x), -> and 5 - 3; not the hyphens and dashes of words."""
    last, first = before[-1:], after[:1]
    if (
        first.isdigit()
        or (first and first in "=>")
        or (last and first.isalnum() and (last.isdigit() or last in "=<(+*/^"))
    ):
        return True
    if first.isalnum() and before.endswith(("= ", "< ", "+ ", "( ")):
        return True
    spaces = last == first == " "
    one, other = (before[:-1], after[1:]) if spaces else (before, after)
    return _is_term(one[::-1]) and _is_term(other) and (not spaces or one[-1:].isdigit() == other[:1].isdigit())


def _is_term(side: str) -> bool:
    """True for a digit, and for a letter that is a word by itself; `side` begins at the sign."""
    return side[:1].isdigit() or (side[:1].isalpha() and not side[1:2].isalnum())


def _is_between(before: str, after: str) -> bool:
    """True between two operands, with a blank on both sides or on none."""
    last, first = before[-1:], after[:1]
    if last == first == " ":
        last, first = before[-2:-1], after[1:2]
    elif last == "*" or first == "*":  # 2**8
        last, first = before[-2:-1] if last == "*" else last, after[1:2] if first == "*" else first
    return (last.isalnum() or (last != "" and last in ")]")) and (first.isalnum() or (first != "" and first in "(["))


def _written_alike(match: re.Match[str]) -> str:
    return _forms().get(match[0], match[0])


def _joiner(match: re.Match[str]) -> str:
    text, at = match.string, match.start()
    before, behind = text[at - 1 : at], text[at + 1 : at + 2]
    is_meant = before and (unicodedata.combining(before) == _VIRAMA or (_is_picture(before) and _is_picture(behind)))
    return match[0] if is_meant else ""


def _is_picture(char: str) -> bool:
    return bool(char) and unicodedata.category(char) in {"So", "Sk"}


@cache
def _forms() -> dict[str, str]:
    """Characters that have another form, and these forms."""
    same = dict(_SAME)
    for char in map(chr, (*range(0xA0, 0xFFFE), *range(0x1D400, 0x1D800))):
        tag, _, codes = unicodedata.decomposition(char).partition(" ")
        if tag in _TAGS and not codes.startswith("0020 "):
            plain = unicodedata.normalize("NFKC", char)
            same[char] = "".join(_SAME.get(one, one) for one in plain)
    return same


@cache
def _expressions() -> tuple[re.Pattern[str], ...]:
    """What finds them; marks of punctuation are left out anyway, and stand in every line of Chinese."""
    near = [
        char
        for char in _forms()
        if char < "\U00010000" and (char < "\u3000" or char in _WIDE_MARKS or unicodedata.category(char)[0] != "P")
    ]
    return re.compile(f"[{''.join(map(re.escape, near))}]"), re.compile("[\U0001d400-\U0001d7ff]")
