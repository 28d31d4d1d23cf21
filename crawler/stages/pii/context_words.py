"""Words around a number tell an address of a machine, a card or a wallet from any other number.

Context words are matched as whole words in a window of the lower-cased text around a hit. Words of all languages are
tried on every page: "Tel." and "Fax" travel, and the verdict must not hang on the language identifier. They stand in
`context_words.txt`.
"""

from __future__ import annotations

import re
import unicodedata

from crawler.stages.pii.page import Page
from crawler.stages.text.tables import alternatives, sections

_LINES = sections(__package__, "context_words.txt")
_WORDS = {name: " ".join(lines) for name, lines in _LINES.items()}

COVERED = frozenset({"en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "fi", "da", "no"})
"""Languages with context words here. Others get the structured set only and are flagged."""

REGIONS: dict[str, tuple[str, ...]] = {
    language: tuple(regions) for language, *regions in map(str.split, _LINES["regions"])
}
"""Regions whose local telephone numbers a page in this language may carry, the largest first."""


def any_of(text: str, *more: str) -> str:
    """Alternatives of a word list, longer ones before those they begin with, then ready-made expressions.

    Words with the same first letter stand together behind it: a search compares one letter, not a hundred words.
    """
    rests: dict[str, list[str]] = {}
    for word in sorted(set(text.split()), key=lambda word: (-len(word), word)):
        rests.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join([*(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in rests.items()), *more])


NETWORK = re.compile(rf"(?<!\w){alternatives(_LINES['network'])}(?!\w)")
CARD = re.compile(rf"(?<!\w){alternatives(_LINES['card'])}(?!\w)|カード|卡|카드")
CARD_LABEL = re.compile(
    rf"(?:(?<!\w)(?:{any_of(_WORDS['card_nouns'])})|カード|卡|카드)"
    rf"(?:[ .,-]{{0,2}}(?:{any_of(_WORDS['card_fillers'])})(?!\w)){{0,4}}"
    r"(?:番号|号码|号|號碼|號|번호)?[.:：,#= \u00a0(]{0,3}\Z"
)
"""A label directly before the number of a payment card."""

WALLET = re.compile(rf"(?<!\w){alternatives(_LINES['wallet'])}(?!\w)")
VERSION = re.compile(
    rf"(?<!\w)(?:{any_of(_WORDS['numbered'])})[.:/= \u00a0\u202f-]{{0,3}}v?\Z|§ ?\Z"
    r"|(?<!\w)lib[\w+-]{1,30} \Z|[<>=~!]= ?\Z|[<>] \Z"
)
"""Words and signs before four numbers with dots that make them a version or a section, not an address."""

RELEASED = re.compile(
    rf"(?<![\w-])(?:{any_of(_WORDS['released'])}|new in|moved from|changes (?:in|since|between)|introduced in|à partir)"
    r"(?![\w-])(?!.{0,60}(?:by|via|durch|par|por|door|przez) \Z)"
)
"""On the line before four numbers with dots, and no word about networks near: what was released, not an address."""

SEE = re.compile(r"(?<!\w)(?:see|siehe|vgl|voir|véase|vea|ver|veja|vedi|zie|zob|viz|se|cf)[.:]? ?\Z")
"""Words before a section number."""


def near(pattern: re.Pattern[str], page: Page, start: int, end: int, *, before: int = 60, after: int = 25) -> bool:
    """True where a context word stands on the same line, within `before` or `after` characters of the hit."""
    left = page.lowered(start - before, start)
    right = page.lowered(end, end + after)
    return bool(pattern.search(left[left.rfind("\n") + 1 :]) or pattern.search(right.split("\n", 1)[0]))


def just_before(pattern: re.Pattern[str], page: Page, start: int, reach: int = 40) -> bool:
    """True where the text right before `start` ends with the pattern (which ends in `\\Z`)."""
    return bool(pattern.search(page.lowered(start - reach, start)))


def word_before(text: str, start: int) -> bool:
    """True where a letter, a digit or the sign of "n°" stands before `start`, spaces and the marks of a label between.

    No label and no noun ends in anything else, so this spares most numbers the search for one. A word may end in a
    vowel sign (फ़ोन) and a sign be the label (☎).
    """
    last = text[max(0, start - 10) : start].rstrip(" \u00a0.,:：=#'’")[-1:]
    return last.isalnum() or (last > "\x7f" and unicodedata.category(last)[0] in "MS")
