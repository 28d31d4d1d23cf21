"""Paragraphs that a program has wrapped at one width become one line each: plain texts, mails, what OCR prints.

A line was wrapped where the first word of the next would not have fitted: that holds for every line of a filled
paragraph, and for hardly any of a verse, a listing, a table or an address, which stay as they are. The width is that
of the text's own paragraphs, for each depth of quotation (`>`) by itself.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median_low
from unicodedata import category, combining, east_asian_width

from crawler.stages.text.joins import SENTENCE_ENDS, UNSPACED, ends_in_hyphen, joined, words_of

_NARROWEST, _WIDEST = 40, 130
"""Columns of a wrapped paragraph."""
_LONGEST_LINE = 400
"""Columns of a line that is looked at."""
_BY_HAND = 60
"""Columns of paragraphs that may be wrapped by hand, a little before the width."""
_LEAST = 3
"""Line ends at the same width from which a text is wrapped at all."""
_NEAR = 12
"""Columns below the width within which a line may end that goes on in the middle of a sentence."""
_FIRST_INDENT = 8
"""Columns by which the first line of a paragraph stands further in."""
_LONGEST_WORD = 12
"""Columns of a word of a script without spaces, as far as the end of a line says."""
_HYPHENATES = 0.05
"""Share of the line ends that are hyphens, from which a text divides words."""
_QUOTED = re.compile(r" {0,3}((?:> ?)+)")
_ITEM = re.compile(r"(?:[-*+•·‣–—o]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\[\d{1,3}\])[ \t]+(?=\S)")
_GOES_ON = re.compile(r"[\w\"'(\[{<`“‘«„¿¡$€£&…]")
_SET_APART = re.compile(r"\t|\S {3,}\S| \| ")
"""What columns have, and sentences do not."""
_FIELD = re.compile(r"[A-Z][\w-]{1,30}:\s")
"""The name of a field, as heads of mails have them line by line."""
_CODE = re.compile(
    r"(?:^|\s)[-+*/!<>=]?=(?:\s|$)|::|->|=>|\(\)|[{}\\=]$|\);$|\w=[\w'\"]|\w<\w|^[#/*%@<|]|^[\w.]+\(|\w_\w.*\w_\w"
    r"|[\"'], ?[\"'].*[\"'], ?[\"']"
)
"""What lines of programs have, and those of sentences hardly ever."""


_PROGRAM = 0.3
"""Share of such lines from which the text is a program, whose comments keep their lines, too."""


@dataclass(slots=True)
class _Line:
    """quote: signs of quotation before it; indent: columns before its text; width: of both text and indent."""

    quote: str
    indent: int
    text: str
    item: int = 0
    """Columns of a sign or number of a list at its start."""
    width: int = 0
    first: int = 0
    """Columns of its first word."""


Measure = Callable[[str], int]
_Measured = tuple[list[_Line], list[list[int]], dict[str, tuple[int, int]]]
"""Lines, groups of those that may be one paragraph, and the widths of the text; none where it is not wrapped."""
_NOT_WRAPPED: _Measured = ([], [], {})


def unwrapped(text: str) -> str:
    """The text with each wrapped paragraph on one line, behind its indentation and its signs of quotation."""
    measures = (len,) if text.isascii() else (_columns, len)
    lines, groups, widths = next(filter(_has_width, (_measured(text, each) for each in measures)), _NOT_WRAPPED)
    if not widths:
        return text
    ends = [(a, b) for group in groups for a, b in pairwise(group) if _is_wrapped(lines[a], lines[b], widths)]
    if not ends:
        return text
    first = {after: before for before, after in ends}
    known = words_of(line.text for line in lines) if any(ends_in_hyphen(lines[a].text) for a, _ in ends) else Counter()
    hyphens = sum(ends_in_hyphen(lines[a].text) for a, _ in ends)
    divides = hyphens >= _LEAST and hyphens >= _HYPHENATES * len(ends)
    raw, written = text.split("\n"), list[str]()
    for number, line in enumerate(lines):
        if number in first:
            written[-1] = joined(_flat(written[-1]), _flat(line.text), False, known, divides=divides)
        else:
            written.append(raw[number])
    return "\n".join(written)


def _measured(text: str, measure: Measure) -> _Measured:
    lines = [_line(one, measure) for one in text.split("\n")]
    if sum(map(_is_code, lines)) > _PROGRAM * sum(bool(line.text) for line in lines):
        return _NOT_WRAPPED
    groups = [*_groups(lines)]
    return lines, groups, _widths(lines, groups)


def _has_width(measured: _Measured) -> bool:
    return bool(measured[2])


def _line(raw: str, measure: Measure) -> _Line:
    quoted = _QUOTED.match(raw)
    rest = raw[quoted.end() :] if quoted else raw
    text = rest.strip()
    indent = len(rest.expandtabs(8)) - len(rest.expandtabs(8).lstrip())
    line = _Line(">" * quoted[1].count(">") if quoted else "", indent, text)
    if text:
        item = _ITEM.match(text)
        line.item = item.end() if item else 0
        line.width = indent + measure(text)
        line.first = _first_word(text, measure)
    return line


def _is_code(line: _Line) -> bool:
    return line.text.endswith(";") or _CODE.search(line.text[:_LONGEST_LINE]) is not None


def _columns(text: str) -> int:
    """As a terminal shows them; many programs that wrap count characters instead."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(char) in "WF" else 0 if combining(char) else 1 for char in text)


def _first_word(text: str, measure: Measure) -> int:
    """Columns that the next line would have needed on the one before it."""
    word = text.split(None, 1)[0]
    if UNSPACED.match(word):
        return min(measure(word), 4 if east_asian_width(word[0]) in "WF" else _LONGEST_WORD)
    return measure(word)


def _groups(lines: Sequence[_Line]) -> Iterator[list[int]]:
    """Numbers of lines that may be one paragraph: of one quotation and, from the second on, one indentation."""
    group: list[int] = []
    for number, line in enumerate(lines):
        if group and not _belongs(line, lines[group[0]], lines[group[-1]], len(group)):
            yield group
            group = []
        if line.text:
            group.append(number)
    if group:
        yield group


def _belongs(line: _Line, first: _Line, last: _Line, size: int) -> bool:
    if not line.text or line.quote != last.quote or line.item or not _GOES_ON.match(line.text):
        return False
    if size > 1:
        return line.indent == last.indent
    if first.item:
        return line.indent > first.indent
    if line.indent <= first.indent:
        return first.indent - line.indent <= _FIRST_INDENT
    return not first.text.endswith((":", ";"))


def _widths(lines: Sequence[_Line], groups: Sequence[list[int]]) -> dict[str, tuple[int, int]]:
    """The width of half the paragraphs at least, and of the widest, by the signs of quotation; none where the text is
    not wrapped.

    Every block of three lines or more says whether it is filled to a width of its own; what ends a sentence may be
    short.
    """
    filled: dict[str, list[int]] = defaultdict(list)
    ragged: Counter[str] = Counter()
    for group in groups:
        some = [lines[number] for number in group]
        quote, width = some[0].quote, max(line.width for line in some)
        pairs = [(a, b) for a, b in pairwise(some) if a.text[-1] not in SENTENCE_ENDS and _is_prose(a)]
        if not _NARROWEST <= width <= _WIDEST:
            ragged[quote] += len(pairs)
        elif len(pairs) >= _LEAST - 1 and _is_filled(pairs, width):
            filled[quote] += [width] * len(pairs)
        else:
            for is_full, run in groupby(a.width + 1 + b.first > width for a, b in pairs):
                size = len([*run])
                ragged[quote] += 0 if is_full else size
                filled[quote] += [width] * size if is_full and size >= _LEAST else []
    found = {quote: each for quote, each in filled.items() if len(each) >= _LEAST and len(each) > ragged[quote]}
    if not found and len(both := [width for each in filled.values() for width in each]) >= _LEAST:
        found = {"": both} if len(both) > sum(ragged.values()) else {}
    return {quote: (median_low(each), max(each)) for quote, each in found.items()}


def _is_filled(pairs: Sequence[tuple[_Line, _Line]], width: int) -> bool:
    """True for lines that were filled to a width, by a program or by hand."""
    if all(a.width + 1 + b.first > width for a, b in pairs):
        return True
    go_on = sum(b.text[0].islower() for _, b in pairs)
    return width >= _BY_HAND and all(a.width + _NEAR > width for a, _ in pairs) and 2 * go_on > len(pairs)


def _is_prose(line: _Line) -> bool:
    """True for a line of words, as no listing, table or block of code signs has."""
    text = line.text
    if line.width > _LONGEST_LINE or _SET_APART.search(text) or _CODE.search(text):
        return False
    letters = sum(map(_is_letter, text))
    if letters < 0.6 * len(text):
        return False
    return text.count(" ") >= 2 or len(UNSPACED.findall(text)) >= 10


def _is_letter(char: str) -> bool:
    """Marks are letters, too: half of a line in Devanagari or Tamil are vowel signs."""
    return char.isalpha() or (char > "\x7f" and category(char)[0] == "M")


def _is_wrapped(line: _Line, after: _Line, widths: dict[str, tuple[int, int]]) -> bool:
    """True where the line goes on in the next one."""
    width, widest = widths.get(line.quote) or max(widths.values())
    if not _is_prose(line) or after.width > _LONGEST_LINE or _SET_APART.search(after.text) or _CODE.search(after.text):
        return False
    if _FIELD.match(line.text) and _FIELD.match(after.text):
        return False
    if line.width > widest or line.text.split(None, 1)[0] == after.text.split(None, 1)[0]:
        return False
    if line.width + 1 + after.first > width:
        return line.width >= _NARROWEST / 2
    if line.text[-1] in SENTENCE_ENDS:
        return False
    return line.width + (_NEAR if after.text[0].islower() else _NEAR // 2) >= width


def _flat(text: str) -> str:
    start = len(text) - len(text.lstrip())
    return text[:start] + " ".join(text[start:].split())
