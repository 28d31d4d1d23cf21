"""Written forms of telephone numbers, and of the dates, times, addresses and lists that look like them.

Everything here sees a stretch of digits and marks only; the words around it are judged in `phone`. Expressions are
bounded and linear.
"""

from __future__ import annotations

import re
from itertools import pairwise

import phonenumbers

from crawler.stages.pii.scripts import JOINING, UNSPACED
from crawler.stages.text.tables import alternatives, sections

_SEPARATORS = re.compile(r"[\s().\-/\u00a0\u2010-\u2013]+")
_DATE = r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:[01]\d|2[0-3])[0-5]\d"

NEVER_DIALLED = re.compile(
    r"(?:(?:18|19|20|21)\d\d[ ,./\-\u2013]*)+\Z"  # years
    r"|(?:18|19|20|21)\d\d[-./]\d\d[-./]\d\d(?!\d)|\d\d?[-./]\d\d?[-./](?:19|20)\d\d(?!\d)"  # dates, times behind them
    r"|[\d ]{1,12} (?:19|20)\d\d-(?:0\d|1[0-2])-[0-3]\d(?!\d)"  # a column before a date, a listing of files
    rf"|{_DATE}[ \-]?{_TIME}(?:[0-5]\d\d{{0,3}})?\Z"  # a date and a time without marks
    r"|(?:\d[ ./\-]){3}(?:\d{1,2}(?:[ ./\-]|\Z))*\Z|(?:\d ){2}(?:\d\d?(?: |\Z))+\Z"  # a sequence of small numbers
)
"""Whatever stands before it, this is no telephone number."""

_TIMESTAMP = re.compile(
    rf"1[0-9]{{9}}(?:\d{{3}})?\Z"  # seconds or milliseconds since 1970
    rf"|{_DATE}\Z"
    rf"|{_TIME} ?[\-\u2013/] ?{_TIME}\Z"  # from nine to half past five
)
_QUAD = re.compile(r"((?:0|[1-9]\d{0,2})\.(?:0|[1-9]\d{0,2})\.(?:0|[1-9]\d{0,2})\.(?:0|[1-9]\d{0,2}))(?:/\d{1,2})?\Z")


def is_network(raw: str) -> bool:
    """Four numbers of an IPv4 address, perhaps with the length of a prefix: 192.168.1.5/32."""
    match = _QUAD.match(raw) if raw.count(".") == 3 else None
    return match is not None and all(int(part) < 256 for part in match[1].split("."))


def is_timestamp(raw: str) -> bool:
    """Seconds since 1970, a date without marks, or opening hours."""
    return bool(_TIMESTAMP.match(raw))


def is_range(raw: str) -> bool:
    """Two groups of the same length: 040-049."""
    groups = _SEPARATORS.sub(" ", raw).split()
    return len(groups) == 2 and len(groups[0]) == len(groups[1]) < 5


def is_listing(raw: str, least: int = 4) -> bool:
    """Groups of two digits in even steps (01 02 03 04 05), or round numbers that grow (300 1200 2400 9600).

    least: groups from which it can be a list.
    """
    groups = _SEPARATORS.sub(" ", raw.strip("()+ ")).split()
    if len(groups) < least:
        return False
    numbers = list(map(int, groups))
    steps = {b - a for a, b in pairwise(numbers)}
    if all(len(group) == 2 for group in groups) and len(steps) == 1 and max(steps) <= 10:
        return True
    return min(steps) > 0 and all(number and number % 10 == 0 for number in numbers)


_TRUNK_FORM = re.compile(
    r"(?:0\d{1,5}\)?|0 ?[1-9]\d{1,2} ?[/ ]|\(?0(?: ?\d{2}){2}[/)]|(?:[178][ -]?)?\(\d{2,5}\))[ .\-/\u00a0\u2011]{0,3}"
    r"\d[\d .\-/\u00a0\u2011]{4,14}\Z"
)
_DASHED_FORM = re.compile(
    r"(?:1[-. ])?\(?\d{3}[-.)] ?\d{3}[-.]\d{4}\Z|8[- ]\d{3}[- ]\d{3}[- ]\d\d[- ]\d\d\Z"  # America; Russia
)


def looks_local(raw: str) -> bool:
    """Written the way people write telephone numbers: trunk zero, or an area code in brackets or dashes."""
    return bool(_TRUNK_FORM.match(raw) or _DASHED_FORM.match(raw))


def same_grouping(raw: str, number: phonenumbers.PhoneNumber) -> bool:
    """The digits stand in the groups of the country's own format: data columns and dates do not."""
    national = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    written = _SEPARATORS.sub(" ", raw).strip().removeprefix("1 ")
    return written == _SEPARATORS.sub(" ", national).strip()


THOUSANDS = re.compile(r"\d{1,3}(?:[ .\u00a0\u202f]\d{3})+\Z")
"""What may be a quantity: 612 345 067."""

FICTIONAL_LOCAL = re.compile(r"555[-. ]\d{4}\Z")
"""Seven digits that American films and handbooks use."""

_EXTENSION_WORDS = alternatives(sections(__package__, "phone_words.txt")["extensions"])
EXTENSION = re.compile(
    rf"[ \u00a0]{{0,2}}[,;(/\-\u2013]?[ \u00a0]{{0,2}}(?:{_EXTENSION_WORDS}(?![^\W\d_{UNSPACED}])[.:]?|#)"
    rf"[ \u00a0]{{0,2}}(?:no\.? |nr\.? |n° )?[(:\-]?\d{{1,6}}(?!{JOINING})\)?"
    rf"|[ \u00a0]?[~\uff5e\u301c*]\d{{1,4}}(?!{JOINING})"
    r"|[ \u00a0](?:or|oder|ou|o|of|lub|bis)[ \u00a0]\d{2,5}"
    r"(?!\w|[.,:/\- \u00a0]\d|[ \u00a0]?[^\W\d_]|[ \u00a0]?[%€$£])",
    re.IGNORECASE,
)
"""Right behind a number: its extension, or the last digits of a second number."""

_AND = alternatives(sections(__package__, "phone_words.txt")["and"])
_SECOND = re.compile(
    rf"[ \u00a0]{{0,2}}(?:,(?= )|[/、]|(?<=[ \u00a0])[-\u2013](?=[ \u00a0])|{_AND})[ \u00a0]{{0,2}}(?=\d)",
    re.IGNORECASE,
)
_LEAST_SECOND = 5  # digits of a number without its area code


def second(text: str, start: int, end: int) -> int:
    """End of a second number behind the one at `[start:end]`, written like the end of it: "(495) 123-45-67, 123-45-68".

    `end` where none follows.
    """
    joint = _SECOND.match(text, end)
    if joint is None:
        return end
    for at in range(start + 1, end):
        if text[at].isdigit() and not text[at - 1].isdigit() and _shape(text[at:end]).count("0") >= _LEAST_SECOND:
            last = joint.end() + end - at
            if _shape(text[joint.end() : last]) == _shape(text[at:end]) and not _GOES_ON.match(text, last):
                return last
    return end


_GOES_ON = re.compile(rf"{JOINING}|[.,]\d")


def _shape(written: str) -> str:
    return "".join("0" if char.isdigit() else char for char in written)


ABROAD = re.compile(r"00[1-9]\d{0,2}[ .\-/]{0,3}\(0\)")
"""The prefix of a call abroad, a country, and the zero that is left out then: nothing else is written so."""

_AREA = re.compile(r"\(?(0[\d ]{1,7}\d)(?:\)|[ ]?/)")


def same_area(raw: str, number: phonenumbers.PhoneNumber) -> bool:
    """A bracket or a slash stands behind the area code as the country's own format has it: "0 44 42/93 17-26"."""
    area = _AREA.match(raw)
    if area is None:
        return False
    national = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    return _SEPARATORS.sub("", area[1]) == _SEPARATORS.sub(" ", national).split()[0]
