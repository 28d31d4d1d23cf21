"""Does a value follow from a passage? By a named rule, or not at all: what is open to doubt is not derived.

`verbatim`: the words stand there. `number`: a number is written there, read by the separators of the page's language.
`date`: a date is written there, with the month by name, or in an order that leaves no doubt. `unit`: a number with its
unit, in the unit that was asked for or one that is an exact multiple of it.
Source of separators, month names and orders: CLDR, https://cldr.unicode.org
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any

from crawler.llm.fields import DATE, NUMBER, UNIT, VERBATIM, Field
from crawler.llm.spans import Span, span_of

_DIGITS = re.compile(r"(?<![\d.,/-])(?<!\d[ \u00a0\u202f'’])([-−]?)(\d+(?:[.,'’٫٬\u00a0\u202f ]\d+)*)(?!\d)")
_GROUPS = " '’\u00a0\u202f٬"
_FAMILIES = (
    {"mm": "1", "cm": "10", "dm": "100", "m": "1000", "km": "1000000"},
    {"mg": "1", "g": "1000", "kg": "1000000", "t": "1000000000"},
    {"ml": "1", "mL": "1", "cl": "10", "dl": "100", "l": "1000", "L": "1000"},
    {"s": "1", "min": "60", "h": "3600"},
    {"W": "1", "kW": "1000", "MW": "1000000"},
    {"Wh": "1", "kWh": "1000", "MWh": "1000000"},
    {"EUR": "1", "€": "1"},
    {"GBP": "1", "£": "1"},
    {"USD": "1", "US$": "1"},
)
_BEFORE = ("€", "£", "US$", "$", "EUR", "GBP", "USD", "CHF", "¥")
"""Units that may stand before their number."""
_YMD = re.compile(r"(?<!\d)(\d{4})(?:-(\d\d)-(\d\d)|/(\d{1,2})/(\d{1,2})|年\s?(\d{1,2})月\s?(\d{1,2})日)(?!\d)")
_NUMERIC = re.compile(r"(?<![\d./-])(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})(?!\d)")


@dataclass(frozen=True, slots=True)
class Derived:
    """A value and the characters of the text that it follows from."""

    value: Any
    span: Span


def derived(field: Field, value: Any, within: Span, text: str, language: str | None) -> Derived | None:
    """The value with the narrowest span inside `within` that gives it; None where none does.

    language: of the page (ISO 639-1); where nobody knows it, what depends on it is in doubt.
    """
    rules: dict[str, Callable[[], Iterator[Span]]] = {
        VERBATIM: lambda: _verbatim(field, value, within, text),
        NUMBER: lambda: _numbers(value, within, text, language),
        DATE: lambda: _dates(value, within, text, language),
        UNIT: lambda: _units(field.unit, value, within, text, language),
    }
    found = next(rules[field.by](), None)
    return None if found is None else Derived(value, found)


def _verbatim(field: Field, value: str, within: Span, text: str) -> Iterator[Span]:
    begin, end = within
    if not value.strip():
        return
    places: Iterator[Span]
    if field.choices:
        pattern = re.compile(r"\s+".join(map(re.escape, value.split())), re.IGNORECASE)
        places = (match.span() for match in pattern.finditer(text, begin, end))
    else:
        places = _places(text[:end], value, begin)
    for place in places:
        if _stands_alone(text, place):
            yield place


def _places(text: str, value: str, start: int) -> Iterator[Span]:
    while (found := span_of(text, value, start)) is not None:
        yield found
        start = found[0] + 1


def _stands_alone(text: str, span: Span) -> bool:
    """True where the words are whole: no letter goes on beside them, in scripts that part words by spaces."""
    begin, end = span
    before = begin > 0 and _joins(text[begin - 1]) and _joins(text[begin])
    after = end < len(text) and _joins(text[end - 1]) and _joins(text[end])
    return not (before or after)


def _joins(character: str) -> bool:
    code = ord(character)
    spaceless = 0x0E00 <= code < 0x0F00 or 0x1000 <= code < 0x10A0 or 0x1780 <= code < 0x1800 or 0x2E80 <= code < 0xA000
    return character.isalnum() and not spaceless and code < 0x20000


def _tokens(within: Span, text: str, language: str | None) -> Iterator[tuple[Decimal, Span]]:
    """Each number inside a passage, as it is to be read; it may not be cut out of a longer one."""
    begin, end = within
    line = max(text.rfind("\n", 0, begin) + 1, begin - 200)
    for match in _DIGITS.finditer(text, line):
        if match.start() >= end:
            return
        span = match.start(), match.end()
        read = _reading(match[2], language)
        if span[0] < begin or span[1] > end or read is None or _is_in_word(text, span):
            continue
        yield (-read if match[1] else read), span


def _is_in_word(text: str, span: Span) -> bool:
    """True for the digits of a name such as A4 or 3D, or of a version, a date or a range of digits."""
    begin, end = span
    before, after = text[begin - 1 : begin], text[end : end + 2]
    return (before.isalpha() and _joins(before)) or (after[:1] in ("/", "-") and after[1:2].isdigit())


def _reading(digits: str, language: str | None) -> Decimal | None:
    """What a written number is; None where its separators leave a doubt."""
    marks = [each for each in digits if not each.isdigit()]
    groups = re.split(r"\D", digits)
    in_groups = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    if not marks:
        return _decimal(digits)
    last = marks[-1]
    if len(set(marks)) == 2 and marks.count(last) == 1 and last in ".,٫":
        whole = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:-1])
        return _decimal("".join(groups[:-1]) + "." + groups[-1]) if whole else None
    if len(marks) > 1 or last in _GROUPS:
        return _decimal("".join(groups)) if in_groups and len(set(marks)) == 1 else None
    separator = _decimal_separator(language) if in_groups and groups[0] != "0" else last
    if separator is None:
        return None
    return _decimal(("." if last in (separator, "٫") else "").join(groups))


def _decimal(digits: str) -> Decimal | None:
    try:
        return Decimal(digits)
    except InvalidOperation:
        return None


@cache
def _locale(language: str | None) -> Any:
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(language) if language else None
    except (UnknownLocaleError, ValueError):
        return None


@cache
def _decimal_separator(language: str | None) -> str | None:
    locale = _locale(language)
    found = None if locale is None else locale.number_symbols.get("latn", {}).get("decimal")
    return found if found in (".", ",") else None


def _numbers(value: float, within: Span, text: str, language: str | None) -> Iterator[Span]:
    wanted = Decimal(str(value))
    return (span for read, span in _tokens(within, text, language) if read == wanted)


def _units(unit: str, value: float, within: Span, text: str, language: str | None) -> Iterator[Span]:
    wanted = Decimal(str(value))
    family = next((each for each in _FAMILIES if unit in each), {unit: "1"})
    for read, (begin, end) in _tokens(within, text, language):
        for symbol in sorted(family, key=len, reverse=True):
            if (span := _with_unit(symbol, (begin, end), text)) is None:
                continue
            factor = Decimal(family[symbol]) / Decimal(family[unit])
            if read * factor == wanted and within[0] <= span[0] and span[1] <= within[1]:
                yield span
            break


def _with_unit(symbol: str, number: Span, text: str) -> Span | None:
    """The number with its unit behind it, or before it where units of this kind stand there."""
    begin, end = number
    at = end + (text[end : end + 1] in (" ", "\u00a0", "\u202f"))
    if text.startswith(symbol, at) and _stands_alone(text, (at, at + len(symbol))):
        return begin, at + len(symbol)
    at = begin - (text[begin - 1 : begin] in (" ", "\u00a0", "\u202f"))
    start = at - len(symbol)
    if symbol in _BEFORE and start >= 0 and text.startswith(symbol, start) and not text[start - 1 : start].isalpha():
        return start, end
    return None


def _dates(value: str, within: Span, text: str, language: str | None) -> Iterator[Span]:
    try:
        wanted = date.fromisoformat(value)
    except ValueError:
        return
    begin, end = within
    for found, span in _written_dates(text, max(0, begin - 20), min(len(text), end + 20), language):
        if found == wanted and begin <= span[0] and span[1] <= end:
            yield span


def _written_dates(text: str, begin: int, end: int, language: str | None) -> Iterator[tuple[date, Span]]:
    for match in _YMD.finditer(text, begin, end):
        yield from _valid([int(part) for part in match.groups() if part], match.span())
    for match in _NUMERIC.finditer(text, begin, end):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        day_first = first > 12 or first == second or (second <= 12 and (match[2] == "." or _is_day_first(language)))
        if day_first or second > 12:
            day, month = (first, second) if day_first else (second, first)
            yield from _valid([year, month, day], match.span())
    for language_of_name in dict.fromkeys((language, "en")):
        for pattern in _named(language_of_name):
            for match in pattern.finditer(text, begin, end):
                month = _months(language_of_name)[match["month"].casefold().rstrip(".")]
                yield from _valid([int(match["year"]), month, int(match["day"])], match.span())


def _valid(parts: list[int], span: Span) -> Iterator[tuple[date, Span]]:
    try:
        yield date(*parts), span
    except ValueError:
        return


@cache
def _is_day_first(language: str | None) -> bool:
    """True where all who write the language put the day first; English is written both ways."""
    locale = _locale(language)
    if locale is None or locale.language == "en":
        return False
    pattern = str(locale.date_formats["short"].pattern)
    return -1 < pattern.find("d") < pattern.find("M") and pattern.find("y") > pattern.find("d")


@cache
def _months(language: str | None) -> dict[str, int]:
    """Month by name in lower case; names of two months are left out."""
    locale = _locale(language)
    found: dict[str, int] = {}
    twice = set[str]()
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in () if locale is None else locale.months[context][width].items():
                word = str(name).casefold().rstrip(".")
                if found.setdefault(word, number) != number:
                    twice.add(word)
    return {word: number for word, number in found.items() if word not in twice and not word[:1].isdigit()}


@cache
def _named(language: str | None) -> tuple[re.Pattern[str], ...]:
    """A day, a month by name and a year; and the month first."""
    if not (months := _months(language)):
        return ()
    month = f"(?P<month>{'|'.join(sorted(map(re.escape, months), key=len, reverse=True))})"
    day, year = r"(?<!\d)(?P<day>\d{1,2})(?:\.|st|nd|rd|th|er|º|ª)?", r"(?P<year>\d{4})(?!\d)"
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"{day}\s+(?:de\s+|of\s+)?{month}\.?,?\s+(?:de\s+|del\s+)?{year}",
            rf"(?<!\w){month}\.?\s+{day},?\s+{year}",
        )
    )
