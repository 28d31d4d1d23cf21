"""`Words` finds a name, or other words, in a text: as it was given, in another order, with endings, with initials.

What the personal-data stage takes for the same person is found here, too (`crawler/stages/pii/known.py`), but the
surname alone. Sure is the whole name in any writing, order and known ending; the rest may be another's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from crawler.stages.pii.known import WORD, WORD_SETS, Known, fold
from crawler.stages.pii.page import Hit
from crawler.stages.pii.scripts import is_unspaced

AROUND = 100
"""Characters that are shown on each side."""
_CORE = 20
HOW = (
    "Looked for without regard to case, accents, white space, hyphens and soft hyphens. Sure: the whole name, also as"
    " “Surname, Given”, with ö as oe, and with an ending that the personal-data stage knows. Perhaps, as it may be "
    "another's: with an initial, with more or fewer names between, with an ending of the given name or one that is "
    "not known. Not found: the surname or the given name alone, a name that begins inside a longer word, a nickname, "
    "another script, a name that changes inside (Karel, Karlem), a misspelling, a picture."
)
"""What is found and what is not, for whoever has to answer for it."""
_ALIKE = str.maketrans("ς’ʼ‘`´‐‑‒–—", "σ'''''-----")
_UNSEEN = dict.fromkeys((
    *map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff\u0640\u0670"), *range(0x591, 0x5C8), *range(0x64B, 0x653),
))  # fmt: skip
"""Soft hyphens and the like; the vowel signs of Hebrew and Arabic, which most texts leave out."""
_BETWEEN_UNSPACED = "[ ・·=-]?"
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "ß": "ss", "æ": "ae"})
_PART = re.compile(r"[a-z0-9а-яα-ω]+")
_MOST_WORDS = 6
"""Words of a name; longer texts are looked for as they are."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a text has the words, with what stands around them. sure: False where they may be another's."""

    before: str
    name: str
    after: str
    sure: bool

    @property
    def core(self) -> tuple[str, str, str]:
        """Tells it from another one, whatever else a raw page has around the text."""
        return self.before.strip()[-_CORE:], self.name, self.after.strip()[:_CORE]


class Words:
    """What is looked for. Raises: ValueError where it is nothing."""

    def __init__(self, words: str) -> None:
        given = plain(words)
        if not given:
            raise ValueError("expected words")
        ways = dict.fromkeys(way for text in (given, given.lower().translate(_UMLAUTS)) for way in _orders(_even(text)))
        self._sure = re.compile("|".join(map(_pattern, ways)))
        self._parts = {tuple(sorted(_PART.findall(way))) for way in ways}
        self._known = Known([(given, Hit(0, len(given), "PERSON", given))]) if len(given.split()) > 1 else None

    def passages(self, text: str, *, forms: bool = True) -> list[Passage]:
        """Every place in a text that is `plain`. forms: also where it may be another's."""
        even = _even(text)
        found = []
        if any(all(part in even for part in parts) for parts in self._parts):  # most texts have not even that
            found = [(match.start(), match.end(), _is_whole(even, match.end())) for match in self._sure.finditer(even)]
        ends = {at for start, end, _ in found for at in range(start, end)}
        if forms and self._known and self._known.may_be_in(even):
            hits = self._known.among(text, alone=False)
            found += [(hit.start, hit.end, False) for hit in hits if not ends & {hit.start, hit.end - 1}]
        return [
            Passage(text[max(0, start - AROUND) : start], text[start:end], text[end : end + AROUND], sure)
            for start, end, sure in sorted(found)
        ]


def plain(text: str) -> str:
    """A text as words are looked for in it: composed letters, single spaces, nothing that nobody sees."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_UNSEEN).split())


def _even(text: str) -> str:
    """Every character at its place."""
    return fold(text).translate(_ALIKE)


def _orders(text: str) -> Iterator[str]:
    """The words as they stand, and with the last ones first."""
    yield text
    words = text.split()
    if 1 < len(words) <= _MOST_WORDS and all(WORD.fullmatch(part) for word in words for part in word.split("-")):
        for at in range(1, len(words)):
            last, first = " ".join(words[at:]), " ".join(words[:at])
            yield f"{last}, {first}"
            if at == len(words) - 1:
                yield f"{last} {first}"


def _pattern(text: str) -> str:
    parts = []
    for at, char in enumerate(text):
        before, behind = text[at - 1 : at], text[at + 1 : at + 2]
        if char in " -":
            between = is_unspaced(before or " ") and is_unspaced(behind or " ")
            parts.append(_BETWEEN_UNSPACED if between else "[ -]")
        else:
            parts.append(re.escape(char))
            if is_unspaced(char) and behind and is_unspaced(behind):
                parts.append(_BETWEEN_UNSPACED)
    begin = r"(?:(?<![^\W_])|(?<=\\[bfnrt]))" if _is_spaced(text[0]) else ""
    return begin + "".join(parts)


def _is_spaced(char: str) -> bool:
    """True for a letter or digit of a script whose words begin and end at spaces, with nothing joined to them."""
    return char.isalnum() and (ord(char) < 0x530 or 0x1E00 <= ord(char) < 0x2000)


def _is_whole(even: str, end: int) -> bool:
    """Whether the word ends here, or with an ending that stands behind names."""
    if not _is_spaced(even[end - 1]):
        return True
    behind = WORD.match(even, end)
    if behind is None:
        return not even[end : end + 1].isdecimal()
    return behind[0].partition("'")[0] in WORD_SETS["endings"]
