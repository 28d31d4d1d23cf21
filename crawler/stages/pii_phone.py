"""In the personal-data stage: is this run of digits a telephone number, and where does the next one begin?

libphonenumber knows which numbers exist; the words around, the grouping and the regions of the page's language say
whether this one is meant. Presidio's own recogniser, which tries fixed regions and looks at no context, finds three in
five local numbers and takes Unix times for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import phonenumbers

from crawler.stages import pii_checks as checks
from crawler.stages import pii_words as words
from crawler.stages.pii_page import Hit, Page
from crawler.stages.pii_scan import Candidate


def judge_phone(page: Page, at: Candidate) -> Iterator[Hit]:
    """One number, or the numbers in a row of digits: the longest reading from the left wins, then the rest is read."""
    context = words.near(words.PHONE, page.lower, at.start, at.end)
    start = at.start
    while start < at.end:
        ends = [at.end, *(start + gap.start() for gap in reversed(list(_WORD_GAP.finditer(page.text[start : at.end]))))]
        hit = next((hit for end in ends if (hit := _phone_hit(page, start, end, context))), None)
        if hit:
            yield hit
        opening = _NUMBER_START.search(page.text[start : at.end], hit.end - start if hit else 1)
        start = start + opening.end() if opening else at.end


_WORD_GAP = re.compile(r"[\s/]+")
_NUMBER_START = re.compile(r"[\s/]+(?=[+0(])")


def _phone_hit(page: Page, start: int, end: int, context: bool) -> Hit | None:
    """International form and valid; or local with a telephone word near and valid; or labelled and possible."""
    raw = page.text[start:end]
    international = raw.lstrip("( ").startswith("+")
    if not 6 <= len(checks.digits(raw)) <= 16 or not (international or context or _looks_local(raw)):
        return None
    if raw.isdigit() and not raw.startswith("0") and not words.just_before(words.PHONE_LABEL, page.lower, start):
        return None  # a plain number, even on a page about telephones
    if (
        raw.count("(") != raw.count(")")
        or _NOT_DIALLED.match(raw)
        or words.just_before(words.NOT_A_PHONE, page.lower, start)
    ):
        return None
    if raw.startswith("00") and (context or re.search(r"[ .\-/]", raw[:6])):
        raw, international = "+" + raw[2:], True
    found = checks.phone(raw, page.regions)
    if found is None:
        return None
    number, valid = found
    grouped = international or context or _same_grouping(raw, number)
    if (valid and grouped) or words.just_before(words.PHONE_LABEL, page.lower, start):
        return page.hit(start, end, "PHONE_NUMBER", f"+{number.country_code}{number.national_number}")
    return None


_NOT_DIALLED = re.compile(
    r"(?:(?:18|19|20|21)\d\d[ ,./\-\u2013]*)+\Z"  # years
    r"|(?:18|19|20|21)\d\d[-./]\d\d[-./]\d\d(?!\d)|\d\d?[./]\d\d?[./](?:19|20)\d\d(?!\d)"  # dates, times behind them
    r"|\d(?: \d){3}"  # a sequence of small numbers
)
_TRUNK_FORM = re.compile(r"(?:\d ?)?(?:0\d{1,5}|\(\d{2,5}\))[ .\-/\u00a0\u2011]{0,3}\d[\d .\-/\u00a0\u2011]{4,14}\Z")
_DASHED_FORM = re.compile(r"(?:1[-. ])?\(?\d{3}[-.)] ?\d{3}[-.]\d{4}\Z")
_SEPARATORS = re.compile(r"[\s().\-/\u00a0\u2010-\u2013]+")


def _looks_local(raw: str) -> bool:
    """Written the way people write telephone numbers: trunk zero, or an area code in brackets or dashes."""
    return bool(_TRUNK_FORM.match(raw) or _DASHED_FORM.match(raw))


def _same_grouping(raw: str, number: phonenumbers.PhoneNumber) -> bool:
    """The digits stand in the groups of the country's own format: data columns and dates do not."""
    national = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    written = _SEPARATORS.sub(" ", raw).strip().removeprefix("1 ")
    return written == _SEPARATORS.sub(" ", national).strip()
