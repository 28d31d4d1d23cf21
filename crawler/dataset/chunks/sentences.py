"""Where a line may be cut: behind sentences, else behind words, else between characters as people see them.

What is no certain end is none: the sentence is only longer then. Sources: UAX #29 (grapheme clusters; rules SB6 to SB8
for full stops), `crawler/stages/quality/punctuation.py` (marks of every script).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import regex

from crawler.stages.quality.punctuation import CLOSING, OTHER_ENDS, UNMARKED

_OF_LANGUAGE = {"el": ";", "hy": ":", "am": "፡፡", "ti": "፡፡"}
"""Two Ethiopic word spaces are a full stop; Greek asks with a semicolon, Armenian ends with what looks like a colon."""
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")
_WIDE = frozenset("。！？｡．")
_CLOSING = regex.escape(CLOSING)
_ENDS = regex.escape("".join(sorted(OTHER_ENDS)))
_SPACES = regex.compile(r"\s+")
_WORDS = regex.compile(r"\s+|[\u200b\u0f0b\u1361]+|[、，；：､]+")
_GRAPHEMES = regex.compile(r"\X")
_BEFORE = regex.compile(rf"[^\s{_CLOSING}(\[{{«“‘„]*$")
_LONGEST_TITLE = 4
"""Letters of the longest word, such as Prof, whose full stop before a capital may be part of it."""


def sentence_starts(line: str, language: str = "") -> Iterator[int]:
    """Where a sentence of the line begins, but for the first, in order. language: ISO 639-1 code, may be empty."""
    if language in UNMARKED:
        yield from (match.end() for match in _SPACES.finditer(line) if match.start() > 0 and match.end() < len(line))
        return
    for match in _ends(language).finditer(line):
        if match.end() < len(line) and _is_end(line, match):
            yield match.end()


def word_starts(text: str, start: int, end: int) -> list[int]:
    """Places within text[start:end] that lie behind a word or a clause, in order."""
    return [match.end() for match in _WORDS.finditer(text, start, end) if start < match.end() < end]


def grapheme_starts(text: str, start: int, end: int) -> list[int]:
    """Places within text[start:end] between two grapheme clusters, in order."""
    return [match.start() for match in _GRAPHEMES.finditer(text, start, end) if match.start() > start]


@cache
def _ends(language: str) -> regex.Pattern[str]:
    own = _OF_LANGUAGE.get(language)
    marks = rf"(?:[{_ENDS}]|{regex.escape(own)})+" if own else rf"[{_ENDS}]+"
    return regex.compile(rf"(?P<marks>{marks})(?P<closing>[{_CLOSING}]*)(?P<space>\s*)")


def _is_end(line: str, match: regex.Match[str]) -> bool:
    """White space stands behind an end, but for scripts that have none between words."""
    if not match["space"]:
        is_wide = match["marks"][-1] in _WIDE or bool(_UNSPACED.match(line[max(0, match.start() - 1)]))
        return is_wide and not (match["marks"] == "．" and line[match.end()].isdigit())
    return match["marks"] != "." or not _is_doubtful(line, match)


def _is_doubtful(line: str, match: regex.Match[str]) -> bool:
    """True for a full stop that may belong to a number, a name or an abbreviation: whatever the language."""
    if line[match.end()].islower() or match["closing"]:
        return line[match.end()].islower()
    word = _BEFORE.search(line, max(0, match.start() - 40), match.start())
    before = word[0] if word else ""
    is_title = len(before) <= _LONGEST_TITLE and before[:1].isupper() and before.isalpha()
    return not before or before.isdigit() or len(before) == 1 or "." in before or is_title
