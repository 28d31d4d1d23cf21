"""`judge_phone` decides whether a run of digits is a telephone number, and where the next one begins.

libphonenumber knows which numbers exist; the words around, the grouping and the regions of the page's language say
whether this one is meant. Presidio's own recogniser, which tries fixed regions and looks at no context, finds three in
five local numbers and takes Unix times for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import phonenumbers

from crawler.stages.pii import checks, phone_words
from crawler.stages.pii.context_words import just_before, near
from crawler.stages.pii.page import Hit, Page, column_heading
from crawler.stages.pii.scan import Candidate


def judge_phone(page: Page, at: Candidate) -> Iterator[Hit]:
    """One number, or the numbers in a row of digits: the longest reading from the left wins, then the rest is read."""
    start = at.start + _open_bracket(page.text[at.start : at.end])
    context = _in_context(page, start, at.end)
    while start < at.end:
        hit = _longest_reading(page, start, at.end, context)
        if hit:
            yield hit
        opening = (_NEXT_NUMBER if hit else _FRESH_NUMBER).search(page.text, hit.end if hit else start + 1, at.end)
        start = opening.end() if opening else at.end


_WORD_GAP = re.compile(r"[\s/]+")
_NEXT_NUMBER = re.compile(r"[\s/]+(?=[+0(])")
_FRESH_NUMBER = re.compile(r"[\s/]+(?=[+(])|(?<!\d)[\s/]+(?=0)")
"""Where a number may start behind something that was none: not at a zero that goes on with groups of digits."""


def _open_bracket(raw: str) -> int:
    """1 where the candidate starts with a bracket that it does not close: "(ring 954 55 01 23)"."""
    return int(raw.startswith("(") and ")" not in raw.split("(")[1])


_THOUSANDS = re.compile(r"\d{1,3}(?:[ .\u00a0\u202f]\d{3})+\Z")


def _in_context(page: Page, start: int, end: int) -> bool:
    """A telephone word is near or heads the column.

    Behind what may be a quantity ("612 345 067 calls") the word must stand apart from it.
    """
    if (heading := column_heading(page, start)) and phone_words.PHONE.search(heading):
        return True
    if not _THOUSANDS.match(page.text[start:end]):
        return near(phone_words.PHONE, page.lower, start, end)
    apart = page.text[end : end + 2].strip()[:1] in {"(", ",", "|", ";"}
    return near(phone_words.PHONE, page.lower, start, end, after=25 if apart else 0)


def _longest_reading(page: Page, start: int, end: int, context: bool) -> Hit | None:
    """The whole stretch; else the longest beginning that is a number, if the whole does not look like one by itself."""
    hit = _phone_hit(page, start, end, context)
    if hit:
        return hit
    whole = checks.phone(page.text[start:end], page.regions)
    for gap in reversed(list(_WORD_GAP.finditer(page.text, start, end))):
        hit = _phone_hit(page, start, gap.start(), context, strict=whole is not None)
        if hit:
            return hit
    return None


def _phone_hit(page: Page, start: int, end: int, context: bool, *, strict: bool = False) -> Hit | None:
    """International form and valid; or local with a telephone word near and valid; or labelled and possible.

    strict: only in the country's own grouping, because more digits follow that would make a number, too.
    """
    raw = page.text[start:end]
    if not 6 <= len(checks.digits(raw)) <= 16 or _is_other_number(page, start, end):
        return None
    labelled = just_before(phone_words.PHONE_LABEL, page.lower, start)
    cued = labelled or just_before(phone_words.PHONE_CUE, page.lower, start, 60)
    international = raw.startswith("+")
    if not (international or cued) and not _written_as_number(raw, context):
        return None
    if raw.startswith("00") and (context or re.search(r"[ .\-/]", raw[:6])):
        raw, international = "+" + raw[2:], True
    found = checks.phone(raw, page.regions)
    if found is None:
        return None
    number, valid = found
    if valid:
        sure = international or ((context or cued) and not strict) or _same_grouping(raw, number)
    else:
        sure = not strict and (labelled or _is_dialled(raw, context or cued))
    return page.hit(start, end, "PHONE_NUMBER", f"+{number.country_code}{number.national_number}") if sure else None


def _written_as_number(raw: str, context: bool) -> bool:
    """Grouped as people group telephone numbers, or with a trunk zero: not a plain count, a range or a list."""
    if raw.isdigit() and not raw.startswith("0"):
        return False  # even on a page about telephones
    return context or (_looks_local(raw) and not _is_listing(raw))


def _is_other_number(page: Page, start: int, end: int) -> bool:
    """A date, years, half a bracket; or the words around say what else it is: an order, an article, so many euros."""
    raw = page.text[start:end]
    if raw.count("(") != raw.count(")") or _NOT_DIALLED.match(raw):
        return True
    if raw.startswith("+"):
        return False
    behind = phone_words.QUANTITY.match(page.lower, end, end + 20)
    return bool(behind) or just_before(phone_words.NOT_A_PHONE, page.lower, start)


def _is_dialled(raw: str, context: bool) -> bool:
    """Possible, not assigned: enough for the international form, a trunk zero in context, and 555-0142 in context."""
    count = len(checks.digits(raw))
    if raw.startswith(("+", "(+")):
        return count >= 10
    return context and bool((count >= 9 and raw.lstrip("(").startswith("0")) or _FICTIONAL_LOCAL.match(raw))


_FICTIONAL_LOCAL = re.compile(r"555[-. ]\d{4}\Z")
_NOT_DIALLED = re.compile(
    r"(?:(?:18|19|20|21)\d\d[ ,./\-\u2013]*)+\Z"  # years
    r"|(?:18|19|20|21)\d\d[-./]\d\d[-./]\d\d(?!\d)|\d\d?[./]\d\d?[./](?:19|20)\d\d(?!\d)"  # dates, times behind them
    r"|\d(?: \d){3}"  # a sequence of small numbers
)
_TRUNK_FORM = re.compile(
    r"(?:0\d{1,5}|0 ?[1-9]\d{1,2} ?[/ ]|(?:[178][ -]?)?\(\d{2,5}\))[ .\-/\u00a0\u2011]{0,3}"
    r"\d[\d .\-/\u00a0\u2011]{4,14}\Z"
)
_DASHED_FORM = re.compile(r"(?:1[-. ])?\(?\d{3}[-.)] ?\d{3}[-.]\d{4}\Z")
_SEPARATORS = re.compile(r"[\s().\-/\u00a0\u2010-\u2013]+")


def _is_listing(raw: str) -> bool:
    """A range (040-049), or groups of two digits in even steps: 01 02 03 04 05, rows of a table."""
    groups = _SEPARATORS.sub(" ", raw).split()
    if len(groups) == 2 and len(groups[0]) == len(groups[1]):
        return len(groups[0]) < 5
    steps = {int(b) - int(a) for a, b in pairwise(groups)}
    return len(groups) > 4 and all(len(g) == 2 for g in groups) and len(steps) == 1 and max(steps) <= 10


def _looks_local(raw: str) -> bool:
    """Written the way people write telephone numbers: trunk zero, or an area code in brackets or dashes."""
    return bool(_TRUNK_FORM.match(raw) or _DASHED_FORM.match(raw))


def _same_grouping(raw: str, number: phonenumbers.PhoneNumber) -> bool:
    """The digits stand in the groups of the country's own format: data columns and dates do not."""
    national = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    written = _SEPARATORS.sub(" ", raw).strip().removeprefix("1 ")
    return written == _SEPARATORS.sub(" ", national).strip()
