"""What stands above or below the line is written so that it reads as itself: 10⁶, log₂8, y^(1/2), C_d.

Unicode's signs where it has one for every character, else "^" and "_", with brackets around several characters. Numbers
of notes, ordinals (1st, nº) and abbreviations (Mme) are words that a page raises: they stay words.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from crawler.stages.text.shifted import AS_HIGH, AS_LOW, HIGH, LOW

LONGEST = 40
"""Characters of what is an exponent or an index; longer ones are small print."""
MOST_AROUND = 6
"""Elements that are left on the way to the text before one."""
_NUMBERS = frozenset("0123456789+-−–=()n")
_OF_NUMBERS = str.maketrans({sign: HIGH[sign] for sign in _NUMBERS})
_NOTES = re.compile(r"\s*[0-9+\-−–=()n][0-9+\-−–=()n,\s]*")
"""Numbers with commas or blanks between them."""
_DECIMAL = re.compile(r"\d+,\d+")
_YEAR = re.compile(r"\b[12]\d{3}$")
_RAISED_WORDS = re.compile(
    r"st|nd|rd|th|d|er|re|ère|e|è|ème|eme|de?|nde?|o|os|a|as|r|n|t|me|mes|mme|lle|lles|gr|le|ie|te|to|ta|ma|va|c|s|ed"
    r"|h|min|m|tm|sm|mc|bis|ter|vo|ro|ste?|ts|[°º*†‡§¶®™©]+",
    re.IGNORECASE,
)
"""Ends of ordinals and abbreviations, times of day, signs: letters that a page raises within a word."""
_EXPONENTS = frozenset("xyzkijpqnbfguvwT")
"""Letters that are no such end."""
_NOTE_LETTERS = frozenset("abcfgijk")
"""Letters by which tables mark their notes, and that end no abbreviation."""
_BLOCKS = frozenset(("body", "p", "div", "li", "td", "th", "dd", "dt", "pre", "blockquote", "section", "article"))
_FRACTION = re.compile(r"\s*[/⁄∕]\s*")


def write_raised(sup: Any) -> None:
    """The text of a <sup> becomes what it means, in place."""
    text = sup.text_content()
    flat = " ".join(text.split())
    if not flat or len(flat) > LONGEST or "[" in flat or "\\" in flat or flat[0] in ":;,.":
        return
    preceding = text_before(sup)
    base = preceding[-1:]
    is_note = next(sup.iter("a"), None) is not None or (sup.getparent() is not None and sup.getparent().tag == "a")
    is_decimal = _DECIMAL.fullmatch(flat) and base.isdigit() and not is_note and not _YEAR.search(preceding)
    if _NOTES.fullmatch(text) and not is_decimal:
        _translate(sup, _OF_NUMBERS)
    elif is_note:
        if base.isalnum() and flat in HIGH:
            _translate(sup, AS_HIGH)
        elif base.isalnum() and flat[0].isalnum() and len(flat) > 1:
            _enclose(sup, "[", "]")
    elif base and not base.isspace():
        _write_exponent(sup, flat, preceding)


def _write_exponent(sup: Any, flat: str, before: str) -> None:
    previous = sup.getprevious()
    is_formula = previous is not None and previous.tag == "sub" and not (previous.tail or "").strip()
    if flat.replace(" ", "").isalpha() or _RAISED_WORDS.fullmatch(flat):
        if not _RAISED_WORDS.fullmatch(flat) and (" " in flat or len(flat) > 3 or _is_label(flat, before)):
            if before[-1:].isalnum():
                sup.text = " " + (sup.text or "").lstrip()
            return
        if _is_word(flat, before) and not is_formula:
            _write_ordinal(sup, flat, before)
            return
    elif " " in flat and any(map(str.isalpha, flat)) and len(flat.split()) > 3:
        return
    if before[-1:].isalnum() or before[-1:] in ")]}⟩|’'′%" or is_formula:
        _write(sup, flat, AS_HIGH, HIGH, "^")


def _is_word(flat: str, before: str) -> bool:
    """True for letters that belong to the word before them, or mark a note of it."""
    last = before[-1:]
    if flat in _EXPONENTS and not _ends_in_a_word(before):
        return False
    if _RAISED_WORDS.fullmatch(flat) or last in ".":
        return True
    return _ends_in_a_word(before)


def _ends_in_a_word(before: str) -> bool:
    return len(before) > 1 and before[-1].isalpha() and before[-2].isalpha()


def _is_label(flat: str, before: str) -> bool:
    """True for "New" behind "Product"."""
    return len(flat) > 2 and flat[0].isupper() and before[-1:].islower()


def _write_ordinal(sup: Any, flat: str, before: str) -> None:
    """Unicode's own signs for the ordinals of Romance languages: nº, 3ª; and for the note of a whole word."""
    if flat in {"o", "a"} and (before[-1:].isdigit() or before[-1:] == "." or (flat == "o" and before[-1:] in "nN")):
        _set_text(sup, {"o": "º", "a": "ª"}[flat])
    elif flat in _NOTE_LETTERS and before[-3:].isalpha() and len(before[-3:]) > 2:
        _translate(sup, AS_HIGH)


def write_lowered(sub: Any) -> None:
    """The same of a <sub>; the lower half of a fraction whose upper half stands before it."""
    flat = " ".join(sub.text_content().split())
    if not flat or len(flat) > LONGEST or "\\" in flat:
        return
    if flat.isdigit() and _is_fraction(sub):
        _translate(sub, AS_LOW)
        return
    base = text_before(sub)[-1:]
    if not base or base.isspace():
        if flat.isdigit():
            _translate(sub, AS_LOW)
    elif " " in flat and any(map(str.isalpha, flat)) and len(flat.split()) > 2:
        if base.isalnum():
            sub.text = " " + (sub.text or "").lstrip()
    elif base.isalnum() or base in ")]}⟩|’'′→∑∏∫∆∇" or sub.getprevious() is not None:
        _write(sub, flat, AS_LOW, LOW, "_")


def _is_fraction(sub: Any) -> bool:
    """True behind a slash with a number above the line before it; the slash becomes that of a fraction."""
    previous = sub.getprevious()
    if previous is None or previous.tag != "sup" or not previous.text_content().strip().isdigit():
        return False
    if not _FRACTION.fullmatch(previous.tail or ""):
        return False
    previous.tail = "⁄"
    return True


def _write(element: Any, flat: str, signs: dict[int, str], known: dict[str, str], mark: str) -> None:
    if all(char in known or char.isspace() for char in flat):
        _translate(element, signs)
    elif len(flat) == 1:
        element.text = mark + (element.text or "")
    elif flat[0] == "(" and flat[-1] == ")" and flat.count("(") == 1:
        element.text = mark + (element.text or "").lstrip()
    else:
        _enclose(element, mark + "(", ")")


def _translate(element: Any, signs: dict[int, str]) -> None:
    for each in element.iter():
        each.text = each.text and each.text.translate(signs)
        if each is not element:
            each.tail = each.tail and each.tail.translate(signs)


def _enclose(element: Any, start: str, end: str) -> None:
    element.text = start + (element.text or "").lstrip()
    if len(element):
        element[-1].tail = (element[-1].tail or "").rstrip() + end
    else:
        element.text = element.text.rstrip() + end


def _set_text(element: Any, text: str) -> None:
    for child in list(element):
        element.remove(child)
    element.text = text


def text_before(element: Any) -> str:
    """The last characters before an element in its line; "" where there are none."""
    for _ in range(MOST_AROUND):
        previous, around = element.getprevious(), element.getparent()
        if around is None:
            return ""
        text = (previous.tail if previous is not None else around.text) or ""
        if text:
            return str(text[-12:])
        if previous is not None:
            if previous.tag == "br":
                return ""
            found = "".join(islice(previous.itertext(), 40))
            if found:
                return found[-12:]
            element = previous
            continue
        if around.tag in _BLOCKS:
            return ""
        element = around
    return ""
