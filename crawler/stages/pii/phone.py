"""`judge_phone` decides whether a run of digits is a telephone number, where it ends and where the next one begins.

libphonenumber knows which numbers exist; the words around, the grouping and the regions of the page's language say
whether this one is meant. Presidio's own recogniser, which tries fixed regions and looks at no context, finds three in
five local numbers and takes Unix times for the rest. What touches a number that was found belongs to it: half a number
is a leak.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property

from phonenumbers import PhoneNumber

from crawler.stages.pii import checks, phone_forms, phone_words
from crawler.stages.pii.context_words import just_before, near, word_before
from crawler.stages.pii.page import Hit, Page, column_heading, line_above
from crawler.stages.pii.scan import Candidate

_LEAST_DIGITS, _MOST_DIGITS = 6, 16  # of a telephone number


def judge_phone(page: Page, at: Candidate) -> Iterator[Hit]:
    """One number, or the numbers in a row of digits, each with everything that touches it."""
    if len(checks.digits(page.text[at.start : at.end])) < _LEAST_DIGITS:
        return
    end = _own_end(page, at.start, at.end)
    hits = list(_numbers(page, at.start + _open_bracket(page.text[at.start : at.end]), end))
    limits = [*(hit.start for hit in hits), end][1:]
    for hit, limit in zip(hits, limits, strict=True):
        yield replace(hit, end=_touched(page, hit.start, hit.end, limit))


def _numbers(page: Page, start: int, end: int) -> Iterator[Hit]:
    """The longest reading from the left wins, then the rest is read."""
    row = _Row(page, start, end)
    while start < end:
        hit = _longest_reading(page, start, end, _Evidence(row, start))
        if hit:
            yield hit
        opening = (_NEXT_NUMBER if hit else _FRESH_NUMBER).search(page.text, hit.end if hit else start + 1, end)
        start = opening.end() if opening else end


_GAP = re.compile(r"[\s/]+|[-.\u2013](?=\d{1,4}\Z)")
_NEXT_NUMBER = re.compile(r"[\s/]+(?=[+0(])")
_FRESH_NUMBER = re.compile(r"[\s/]+(?=[+(])|(?<!\d)[\s/]+(?=0)")
"""Where a number may start behind something that was none: not at a zero that goes on with groups of digits."""


_LAST_GROUP = re.compile(r"[ \u00a0]\(?\d{1,2}(?:[ \u00a0]?[-\u2013][ \u00a0]?\d{1,2})?\Z|[ \u00a0]\d{1,6}\Z")
_HOUR = re.compile(r":\d|[ \u00a0]?(?:uhr|h|hrs|hours|am|pm|a\.m|p\.m)(?!\w)")


def _own_end(page: Page, start: int, end: int) -> int:
    """The end without a last group that is an hour or a quantity: "… 8-12 Uhr", "… 25 Euro"; `start` where all is."""
    if not (counted := _is_counted(page, end)) and not _HOUR.match(page.lowered(end, end + 10)):
        return end
    last = _LAST_GROUP.search(page.text[start:end])
    if last is None or (counted and phone_forms.is_listing(page.text[start:end], least=3)):
        return start if counted and not page.text.startswith("+", start) else end
    return start + last.start()


def _open_bracket(raw: str) -> int:
    """1 where the candidate starts with a bracket that it does not close: "(ring 954 55 01 23)"."""
    return int(raw.startswith("(") and ")" not in raw.split("(")[1])


class _Row:
    """The words around a row of digits, read when they are asked for: most rows are no number by their form alone."""

    def __init__(self, page: Page, start: int, end: int) -> None:
        self.page, self._start, self._end = page, start, end

    @cached_property
    def above(self) -> bool:
        """A label stands on the line above."""
        return _labelled_above(self.page, self._start)

    @cached_property
    def context(self) -> bool:
        """A word about telephones is near."""
        return self.above or _in_context(self.page, self._start, self._end)


class _Evidence:
    """What the words around a number of a row say, from the strongest to the weakest, read when they are asked for."""

    def __init__(self, row: _Row, start: int) -> None:
        self._row, self._start = row, start

    @cached_property
    def named(self) -> bool:
        """A label, "Tel.", stands before the number or on the line above its row."""
        return self._row.above or self.follows(phone_words.PHONE_LABEL)

    @cached_property
    def told(self) -> bool:
        """ "Call" or "reach me at" does, or a label."""
        return self.named or self.follows(phone_words.CALL_LABEL)

    @cached_property
    def cued(self) -> bool:
        """A verb of calling or the name of a desk stands before the number, or one of the above."""
        return self.told or self.follows(phone_words.PHONE_CUE, 60)

    @cached_property
    def context(self) -> bool:
        """A word about telephones is near, or one of the above."""
        return self.cued or self._row.context

    def follows(self, words: re.Pattern[str], reach: int = 40) -> bool:
        """One of these expressions, which all end in a word, stands right before the number."""
        return self._word_before and just_before(words, self._row.page, self._start, reach)

    @cached_property
    def _word_before(self) -> bool:
        return word_before(self._row.page.text, self._start)


def _in_context(page: Page, start: int, end: int) -> bool:
    """A telephone word is near or heads the column.

    Behind what may be a quantity ("612 345 067 calls") the word must stand apart from it.
    """
    if (heading := column_heading(page, start)) and phone_words.PHONE.search(heading):
        return True
    if not phone_forms.THOUSANDS.match(page.text[start:end]):
        return near(phone_words.PHONE, page, start, end)
    apart = page.text[end : end + 2].strip()[:1] in {"(", ",", "|", ";"}
    return near(phone_words.PHONE, page, start, end, after=25 if apart else 0)


def _labelled_above(page: Page, start: int) -> bool:
    """The number begins its line, and the line above, or above other numbers, is a telephone label and nothing else."""
    line = line_above(page, start)
    return bool(line and phone_words.LABEL_LINE.fullmatch(line))


def _longest_reading(page: Page, start: int, end: int, evidence: _Evidence) -> Hit | None:
    """The whole stretch; else the longest beginning that is a number, if the whole does not look like one by itself."""
    hit = _phone_hit(page, start, end, evidence)
    if hit:
        return hit
    if phone_forms.is_listing(page.text[start:end]) and not evidence.named:
        return None
    strict: Callable[[], bool] | None = None
    for gap in reversed(list(_GAP.finditer(page.text, start, end))):
        strict = strict or cache(lambda: checks.phone(page.text[start:end], page.regions) is not None)
        hit = _phone_hit(page, start, gap.start(), evidence, strict=strict)
        if hit:
            return hit
    return None


def _phone_hit(
    page: Page, start: int, end: int, evidence: _Evidence, *, strict: Callable[[], bool] = lambda: False
) -> Hit | None:
    """International form and valid; or local with a telephone word near and valid; or labelled and possible.

    strict: only in the country's own grouping, because more digits follow that would make a number, too; asked last,
    as libphonenumber is slow.
    """
    raw = page.text[start:end]
    if not _LEAST_DIGITS <= len(checks.digits(raw)) <= _MOST_DIGITS or _is_other_number(raw, evidence):
        return None
    international = raw.startswith(("+", "(+"))
    if raw.startswith("00") and (evidence.context or re.search(r"[ .\-/]", raw[:6])):
        raw, international = "+" + raw[2:], True
    found = checks.phone(raw, page.regions)
    if found is None:
        return None
    number, valid = found
    if valid:
        sure = international or (evidence.context and not strict()) or _is_grouped(raw, number)
    else:
        sure = (_is_told(raw, evidence) or _is_dialled(raw, evidence.context)) and not strict()
    return page.hit(start, end, "PHONE_NUMBER", f"+{number.country_code}{number.national_number}") if sure else None


def _is_grouped(raw: str, number: PhoneNumber) -> bool:
    return phone_forms.same_grouping(raw, number) or phone_forms.same_area(raw, number)


_HALF_BRACKET = re.compile(r"0\d{1,4}\)[^()]+\Z")  # 02)123-4567, as Korea writes


def _is_other_number(raw: str, evidence: _Evidence) -> bool:
    """A date, years, half a bracket; or the words around say what else it is: an order, an article, so many euros.

    What costs least is asked first; the words that a number may follow are the last.
    """
    if (
        (raw.count("(") != raw.count(")") and not _HALF_BRACKET.match(raw))
        or phone_forms.NEVER_DIALLED.match(raw)
        or phone_forms.is_network(raw)
    ):
        return True
    if raw.startswith(("+", "(+")) or phone_forms.ABROAD.match(raw):
        return False
    if (phone_forms.is_timestamp(raw) or phone_forms.is_listing(raw)) and not evidence.named:
        return True
    return not _written_as_number(raw, evidence) or evidence.follows(phone_words.NOT_A_PHONE)


def _is_counted(page: Page, end: int) -> bool:
    """A unit, or what is counted, stands right behind."""
    return bool(phone_words.QUANTITY.match(page.lowered(end, end + 20)))


def _written_as_number(raw: str, evidence: _Evidence) -> bool:
    """Announced, or grouped as people group telephone numbers, or with a trunk zero: not a plain count or a range."""
    if raw.isdigit() and not raw.startswith("0"):
        return evidence.cued  # a word about telephones on the page is not enough
    return (phone_forms.looks_local(raw) and not phone_forms.is_range(raw)) or evidence.context


def _is_told(raw: str, evidence: _Evidence) -> bool:
    """Possible, not assigned, but the words call it a telephone number; behind a verb it has seven digits or more."""
    return evidence.named or (evidence.told and len(checks.digits(raw)) > 6)


def _is_dialled(raw: str, context: bool) -> bool:
    """Possible, not assigned: enough for the international form, a trunk zero in context, and 555-0142 in context."""
    count = len(checks.digits(raw))
    if raw.startswith(("+", "(+")):
        return count >= 10
    return context and bool((count >= 9 and raw.lstrip("(").startswith("0")) or phone_forms.FICTIONAL_LOCAL.match(raw))


_MORE = re.compile(r"(?:[ \u00a0]?(?:\(\d{1,6}\)|[-.,/)\u2010-\u2013]{0,2}[ \u00a0]?\d{1,6})){1,4}")
_YEAR = re.compile(r"\W*(?:19|20)\d\d\Z")


def _touched(page: Page, start: int, end: int, limit: int) -> int:
    """Where a number that was found at `[start:end]` ends: groups, a bracket and an extension that follow belong to it.

    limit: where the next number begins. A year is something else.
    """
    more = _MORE.match(page.text, end, limit)
    if more and not _YEAR.match(more[0]):
        end = more.end()
    extension = phone_forms.EXTENSION.match(page.text, end)
    return phone_forms.second(page.text, start, end) if extension is None else extension.end()
