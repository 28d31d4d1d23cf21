"""Dates as people write them, in the words and the order of their language: "4 de marzo de 2021", "令和3年3月4日".

What could be two days is none: 3/4/2021 on a page of which nobody knows where it is written, a word that is a month's
name in several languages. Digits are those of any script; years of the Buddhist calendar, of Japanese eras and of the
Republic of China are counted over, those of other calendars are no dates here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

MAX_CHARS = 400
"""Characters of a text that are read."""
_YEAR = r"((?:19|20|25)\d\d)(?!\d)"
_DAY = r"(?<![\d.,:/-])(\d{1,2})"
_WORD = r"([^\W\d_][^\d\s,;:|()/\[\]]{0,15}(?:\s(?:الثاني|الأول))?)"
_OF = r"(?:\s?(?:de|del|of|den|da|dne)\s|\sd['’])?"
_PATTERNS = (
    (
        "dmy",
        re.compile(
            rf"{_DAY}(?:st|nd|rd|th|er|[ºª°.]|-?го)?\s?[-/]?{_OF}\s?{_WORD}[\s.,/-]{{0,3}}{_OF}\s?(?:พ\.ศ\.\s?)?{_YEAR}",
            re.IGNORECASE,
        ),
    ),
    (
        "dmy",
        re.compile(rf"{_DAY}\s?(tháng\s\d{{1,2}}|tháng\s\w+(?:\s(?:một|hai))?)\s?(?:,|năm)?\s?{_YEAR}", re.IGNORECASE),
    ),
    ("mdy", re.compile(rf"\b{_WORD}\s?(\d{{1,2}})(?:st|nd|rd|th|[º.])?,?\s{_OF}?\s?{_YEAR}", re.IGNORECASE)),
    ("ymd", re.compile(rf"(?<!\d){_YEAR}(?:\.|e?ko|\sm\.)?\s?{_WORD}\s(\d{{1,2}})(?!\d)", re.IGNORECASE)),
    ("ydm", re.compile(rf"(?<!\d){_YEAR}\.?\s?gada\s(\d{{1,2}})\.\s?{_WORD}", re.IGNORECASE)),
)
_BY_YEAR = re.compile(r"(?<!\d)((?:19|20|25)\d\d)\s?[-/.年년]\s?(\d{1,2})\s?[-/.月월]\s?(\d{1,2})(?!\d)")
_BY_DAY = re.compile(r"(?<![\d.,:/-])(\d{1,2})\s?([-/.|])\s?(\d{1,2})\s?\2\s?((?:19|20|25)\d\d|\d\d)(?![\d:])")
_BY_ERA = re.compile(r"(令和|平成|昭和|民國|民国)\s?(\d{1,3}|元)\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日")
_MAY_HAVE_ONE = re.compile(r"(?:19|20|25)\d\d(?!\d)|\d\s?[-/.|]\s?\d\d(?![\d:])|令和|平成|昭和|民國|民国")
"""What each of these needs: nearly every text with a number has none of it."""
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}
_BUDDHIST = 543
_MONTH_FIRST = frozenset({"us", "ph", "fm", "pr"})
_DAY_FIRST_ENGLISH = frozenset({"gb", "uk", "au", "ie", "nz", "in", "za", "sg", "my", "hk", "ng", "ke", "pk", "mt"})
_FEW_LETTERS = 2


class Found(NamedTuple):
    """A date in a text. day: ISO 8601."""

    day: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page is written. language: two letters, or ""; is_month_first: of 3/4/2021; None where nobody knows."""

    language: str
    is_month_first: bool | None

    @classmethod
    def of(cls, lang: str, url: str) -> Place:
        """By the language that a page states ("en-GB"), and the country of its host."""
        language, _, rest = lang.strip().lower().replace("_", "-").partition("-")
        region = rest.rpartition("-")[2] or (urlsplit(url).hostname or "").rpartition(".")[2]
        if region in _MONTH_FIRST:
            return cls(language, is_month_first=True)
        is_known = (
            region in _DAY_FIRST_ENGLISH or language not in {"en", ""} or (len(region) == 2 and region not in _MIXED)
        )
        return cls(language, is_month_first=False if is_known else None)


_MIXED = frozenset({"ca", "tv", "io", "co", "me", "cc", "ai", "ly", "to", "fm", "gg"})
"""Countries with both orders, and those whose domains belong to everybody."""


def dates_in(text: str, place: Place) -> Iterator[Found]:
    """The dates in a text, those with words first."""
    plain = _with_ascii_digits(text[:MAX_CHARS])
    return _found_in(plain, place) if _MAY_HAVE_ONE.search(plain) else iter(())


def _found_in(plain: str, place: Place) -> Iterator[Found]:
    for order, pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            parts = dict(zip(order, match.groups(), strict=True))
            month = _month(parts["m"], place.language)
            if month and (day := _iso(int(parts["y"]), month, int(parts["d"]))):
                yield Found(day, *match.span())
    for match in _BY_ERA.finditer(plain):
        year = 1 if match[2] == "元" else int(match[2])
        if day := _iso(_ERAS[match[1]] + year, int(match[3]), int(match[4])):
            yield Found(day, *match.span())
    for match in _BY_YEAR.finditer(plain):
        if day := _iso(*map(int, match.groups())):
            yield Found(day, *match.span())
    for match in _BY_DAY.finditer(plain):
        if day := _numeric(int(match[1]), match[2], int(match[3]), match[4], place):
            yield Found(day, *match.span())


def _numeric(first: int, mark: str, second: int, year: str, place: Place) -> str | None:
    if len(year) == _FEW_LETTERS:
        if mark != ".":
            return None
        year = f"20{year}"
    is_month_first = False if mark in ".|" else place.is_month_first
    if first > 12 or first == second:
        is_month_first = False
    elif second > 12:
        is_month_first = True
    if is_month_first is None:
        return None
    month, day = (first, second) if is_month_first else (second, first)
    return _iso(int(year), month, day)


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year - _BUDDHIST if year > 2400 else year, month, day).isoformat()
    except ValueError:
        return None


def _with_ascii_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text.replace("\xa0", " "))


def _month(words: str, language: str) -> int | None:
    name = " ".join(unicodedata.normalize("NFC", words.casefold()).split()).strip(".,-’' ")
    own = _months().get(_ALIKE.get(language, language), {})
    if language in {"he", "iw"}:
        name = name.removeprefix("ב")
    return own.get(name) or (None if name in own else _months()[""].get(name))


_ALIKE = {"no": "nb", "nn": "nb", "bs": "sr", "cnr": "sr", "sh": "sr", "iw": "he", "in": "id", "mo": "ro"}


@cache
def _months() -> dict[str, dict[str, int]]:
    """Names by language; under "" those that are one month's in all languages that have them."""
    found: dict[str, dict[str, int]] = {}
    for line in Path(__file__).with_name("month_names.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            language, *months = line.split("\t")
            found[language] = {
                unicodedata.normalize("NFC", name.casefold()): number
                for number, names in enumerate(months, 1)
                for name in names.split("|")
            }
    said: dict[str, set[int]] = {}
    for names in found.values():
        for name, number in names.items():
            said.setdefault(name, set()).add(number)
    found[""] = {name: numbers.pop() for name, numbers in said.items() if len(numbers) == 1}
    return found
