"""Sections of a decision or an enactment: what stands below each of its numbered headings, as spans of the text.

A number counts where it follows from the one before (1, 2, 3; I, II; A, B; 2.1, 2.2), so that an initial, a date or a
list of two items in a paragraph begins nothing. Of enactments the headings have words of their own (`[headings]` of
`legal_forms.txt`). All expressions are bounded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from crawler.document import Span
from crawler.stages.text.tables import alternatives, sections

_FORMS = sections(__package__, "legal_forms.txt")
_MARKS = " \t#*>|"
_LONGEST_TITLE = 120
"""Characters of a heading behind its number; more is running text."""

_NAMED = re.compile(rf"{alternatives(_FORMS['named_headings'])}\s?[:.]?", re.IGNORECASE)
_OUTLINE = re.compile(r"(?P<number>[IVX]{1,7}|[A-Z]|\d{1,2}|[a-z]{1,2})(?:[.)](?:\s|$)|\s?[–—]\s|$)")
_NUMBERED = re.compile(
    r"(?:¶\s?|\[¶?\s?|R[nz]\.?\s|\()?(?P<number>\d{1,4}(?:\.\d{1,3}){0,4})(?:[.)\]]|\.\])?(?=\s|$)\s*"
)
_ROMAN = re.compile(r"(?P<tens>X{0,3})(?P<ones>IX|IV|V?I{0,3})")
_BARE_SECTION = re.compile(r"(?P<number>\d{1,3}[A-Z]?)\s(?=[A-Z])")

_LEVELS = ("part", "chapter", "section", "article")
_LATEST_FIRST, _MOST_OPEN = 3, 4
"""The chapter in which paragraphs may begin ("3.1"), and how many sequences of them are followed side by side."""
_PARAGRAPH = 50
"""Rank of numbered paragraphs: below all headings."""


class _Heading(NamedTuple):
    """rank: of two headings the lower number is the outer one. run: the sequence that it belongs to; 0: of none."""

    start: int
    rank: int
    label: str
    run: int = 0


def sections_in(text: str, kind: str) -> list[Span]:
    """The sections of a legal document, by start, the longer first; each ends where the next of its rank begins.

    kind: its document type. Labels: part, chapter, section, article (of enactments), heading (of decisions), paragraph.
    """
    found = list((_of_decision if kind in {"opinion", "order"} else _of_enactment)(text))
    members = Counter(heading.run for heading in found)
    return list(_spans(text, [heading for heading in found if heading.run == 0 or members[heading.run] > 1]))


def _spans(text: str, headings: Sequence[_Heading]) -> Iterator[Span]:
    ends = dict[int, int]()
    open_ones: list[int] = []
    for at, heading in enumerate(headings):
        while open_ones and headings[open_ones[-1]].rank >= heading.rank:
            ends[open_ones.pop()] = heading.start
        open_ones.append(at)
    for at, heading in enumerate(headings):
        end = ends.get(at, len(text))
        while end > heading.start and text[end - 1].isspace():
            end -= 1
        yield heading.start, end, heading.label


def _lines(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in text.split("\n"):
        bare = line.lstrip(_MARKS)
        if bare:
            yield at + len(line) - len(bare), bare.rstrip(_MARKS)
        at += len(line) + 1


# --- decisions --------------------------------------------------------------------------------------------------------
def _of_decision(text: str) -> Iterator[_Heading]:
    runs = count(1)
    outline, numbers = _Outline(runs), _Numbers(runs)
    for start, line in _lines(text):
        if len(line) <= _LONGEST_TITLE and _NAMED.fullmatch(line):
            outline.restart()
            numbers.heading()
            yield _Heading(start, 0, "heading")
            continue
        numbered = _NUMBERED.match(line)
        run = numbers.follow(numbered["number"]) if numbered and not _is_title(line, numbered) else None
        behind = line[numbered.end() :] if numbered and run is not None else line
        if (found := outline.follow(behind)) is not None:
            numbers.heading()
            yield _Heading(start, *found)
        if run is not None and numbered:
            yield _Heading(start, _PARAGRAPH + numbered["number"].count("."), "paragraph", run)


def _is_title(line: str, numbered: re.Match[str]) -> bool:
    """ "1. The facts": a heading; "1. The facts are not in dispute.", "1" and "[1] …": a paragraph."""
    title = line[numbered.end() :]
    has_mark = line[numbered.end("number") : numbered.end("number") + 1] in {".", ")"}
    return bool(title) and has_mark and "." not in numbered["number"] and _reads_as_title(title)


def _reads_as_title(words: str) -> bool:
    return len(words) <= _LONGEST_TITLE and words[-1:] not in {".", ",", ";", "?", "!"} and not words[:1].islower()


class _Outline:
    """I., A., 1., a), aa): which style is outer says the order in which they begin."""

    def __init__(self, runs: Iterator[int]) -> None:
        self._runs = runs
        self._open: list[tuple[str, int, int]] = []  # style, last number, run

    def restart(self) -> None:
        self._open = []

    def follow(self, line: str) -> tuple[int, str, int] | None:
        """Rank, label and run of the heading that a line begins with; None where it begins with none."""
        match = _OUTLINE.match(line)
        if (
            match is None
            or line.endswith(",")
            or (match["number"][0].isdigit() and not _reads_as_title(line[match.end() :].strip() or "."))
        ):
            return None
        styles = list(_readings(match["number"]))
        for style, number in styles:
            for depth, (name, last, run) in enumerate(self._open):
                if name == style and number == last + 1:
                    self._open[depth:] = [(style, number, run)]
                    return depth + 1, "heading", run
        for style, number in styles:
            depth = next((depth for depth, (name, _, _) in enumerate(self._open) if name == style), len(self._open))
            if number == 1 and depth in {0, len(self._open)}:
                is_titled = style == "roman" and _reads_as_title(line[match.end() :].strip() or ".")
                run = 0 if is_titled else next(self._runs)  # "I. THE FACTS" may be alone
                self._open[depth:] = [(style, 1, run)]
                return depth + 1, "heading", run
        return None


def _readings(number: str) -> Iterator[tuple[str, int]]:
    """Styles in which a number can be read, and which it is there."""
    if number.isdigit():
        yield "number", int(number)
    elif number.isupper():
        roman = _ROMAN.fullmatch(number)
        if roman:
            ones = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX").index(roman["ones"])
            yield "roman", 10 * len(roman["tens"]) + ones
        if len(number) == 1:
            yield "letter", ord(number) - ord("A") + 1
    elif len(number) == 1:
        yield "small", ord(number) - ord("a") + 1
    elif number[0] == number[1]:
        yield "double", ord(number[0]) - ord("a") + 1


class _Numbers:
    """Numbers of paragraphs, which run through the whole text, or begin anew below a heading."""

    def __init__(self, runs: Iterator[int]) -> None:
        self._runs = runs
        self._open: list[tuple[tuple[int, ...], int]] = []  # last number and run, the latest first
        self._is_fresh = True

    def heading(self) -> None:
        self._is_fresh = True

    def follow(self, text: str) -> int | None:
        """The run of the paragraph with this number; None where it follows from nothing."""
        number = tuple(map(int, text.split(".")))
        at = next((at for at, (last, _) in enumerate(self._open) if _follows(number, last)), None)
        if at is not None:
            run = self._open.pop(at)[1]
        elif number[-1] == 1 and max(number) <= _LATEST_FIRST and (self._is_fresh or not self._open):
            run = next(self._runs)
        else:
            return None
        self._open = [(number, run), *self._open[: _MOST_OPEN - 1]]
        self._is_fresh = False
        return run


def _follows(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    """3 after 2, 2.2 after 2.1, 2.1 after 2, 3 and 3.1 after 2.4."""
    if number == (*last, 1):
        return True
    shared = next((at for at, (a, b) in enumerate(zip(number, last, strict=False)) if a != b), -1)
    return shared >= 0 and number[shared] == last[shared] + 1 and number[shared + 1 :] in {(), (1,)}


# --- enactments -------------------------------------------------------------------------------------------------------
_HEADINGS = {
    label: re.compile(alternatives(_FORMS[f"{label}_headings"]) + r"(?=$|[\s.:–—-])", re.IGNORECASE)
    for label in _LEVELS
}
_GREAT_ARTICLE = re.compile(r"article\s[IVX]+\b", re.IGNORECASE)


def _of_enactment(text: str) -> Iterator[_Heading]:
    lines = list(_lines(text))
    if not any(_HEADINGS[label].match(line) for _, line in lines for label in ("section", "article")):
        yield from _of_bare_numbers(lines)
        return
    last, runs = 0, count(1)
    run = next(runs)
    for start, line in lines:
        label = next((label for label in _LEVELS if _HEADINGS[label].match(line)), None)
        if label is not None and (label not in {"part", "chapter"} or len(line) <= _LONGEST_TITLE):
            last, run = 0, next(runs)
            is_great = label == "article" and _GREAT_ARTICLE.match(line) is not None
            yield _Heading(start, 1 if is_great else _LEVELS.index(label), label)
        elif (numbered := _NUMBERED.match(line)) and numbered["number"] == str(last + 1):
            last += 1
            yield _Heading(start, _PARAGRAPH, "paragraph", run)


def _of_bare_numbers(lines: Iterable[tuple[int, str]]) -> Iterator[_Heading]:
    """As the United Kingdom prints its Acts: "12 Power to make regulations", below it "(1) …"."""
    last, below, runs = 0, 0, count(1)
    outer, run = next(runs), next(runs)
    for start, line in lines:
        label = next((label for label in ("part", "chapter") if _HEADINGS[label].match(line)), None)
        bare = _BARE_SECTION.match(line)
        if label is not None and len(line) <= _LONGEST_TITLE:
            yield _Heading(start, _LEVELS.index(label), label)
        elif bare and _reads_as_title(line[bare.end() :]) and 0 <= int(bare["number"].rstrip("ABCDEFGH")) - last <= 1:
            last, below, run = int(bare["number"].rstrip("ABCDEFGH")), 0, next(runs)
            yield _Heading(start, _LEVELS.index("section"), "section", outer)
        elif (numbered := _NUMBERED.match(line)) and line[0] == "(" and numbered["number"] == str(below + 1):
            below += 1
            yield _Heading(start, _PARAGRAPH, "paragraph", run)
