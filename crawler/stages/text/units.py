"""Fingerprints and decontamination compare texts by these units.

Words after datatrove's normalisation, characters in scripts without spaces. Whoever changes what `tokens` answers
raises `fingerprint.FINGERPRINT_VERSION`; what `readings` answers, `contamination.index.VERSION`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import regex

from crawler.stages.text import folded
from crawler.stages.text.marks import without_punctuation

_ASCII_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*+")
_NUMBER = regex.compile(r"\p{Nd}+(?:[.,،٬٫]\p{Nd}+)*+")
_NUMBER_OF_TEN_DIGITS = re.compile(r"[0-9]+(?:[.,،٬٫][0-9]+)*+")
_MAY_BE_OTHER_DIGIT = re.compile("[\u0660-\u1fff\ua620-\U0010ffff]")
"""Where Unicode has decimal digits beside 0 to 9: not among signs and East Asian letters."""
_MAY_STAND_ALONE = re.compile("[\u0e00-\u1fff\u2e80-\U0010ffff]")
"""Where Unicode has the scripts of `_ALONE`."""
_MARKS = regex.compile(r"\p{Mn}+")
_IDEOGRAPHS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_UNSPACED = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")
_ALONE = {1: _IDEOGRAPHS, 2: _UNSPACED}
_LETTER = regex.compile(r"\p{L}")
_CHUNK = regex.compile(r"\S+")
_SAMPLE = 2_000


def tokens(text: str) -> tuple[list[str], str, int]:
    """The units a text is compared by: (units, joiner, units for one word).

    Words after datatrove's normalisation (lower case, numbers to 0, punctuation to space, no marks). Where most letters
    belong to a script without spaces the units are characters: one for a word of Chinese or Japanese, whose characters
    carry as much, two for a word of Thai, Lao, Khmer, Burmese or Tibetan. The script decides, not the identified
    language, so that twins never get different units from a doubtful verdict.
    """
    plain = _plain(text)
    sample = plain[:_SAMPLE]
    if not _MAY_STAND_ALONE.search(sample):
        return plain.split(), " ", 1
    half = len(_LETTER.findall(sample)) / 2
    if len(_IDEOGRAPHS.findall(sample)) > half:
        return list("".join(plain.split())), "", 1
    if len(_UNSPACED.findall(sample)) > half:
        return list("".join(plain.split())), "", 2
    return plain.split(), " ", 1


def readings(text: str) -> Iterator[tuple[list[str], int]]:
    """Every way to read a text: as words (0), and by the characters of the scripts without spaces that it has.

    The number says which: 1 for Chinese and Japanese, 2 for Thai, Lao, Khmer, Burmese and Tibetan. A page of one script
    may hold a passage of another, so no script decides for the whole. Letter case is folded: "STRASSE" is "Straße".
    The signs of tables, quotes and code in Markdown and in our own texts are no units.
    """
    plain = _plain(_folded(text))
    yield _words(plain), 0
    if not plain.isascii():
        for script, pattern in _ALONE.items():
            if characters := pattern.findall(plain):
                yield characters, script


def places(text: str, script: int) -> Iterator[tuple[int, int]]:
    """Where in `text` each unit of that reading comes from, as the start and end of the chunk between white space.

    Slower than `readings` (each chunk is normalised on its own): for the few texts of which somebody wants to know.
    """
    for chunk in _CHUNK.finditer(text):
        plain = _plain(_folded(chunk[0]))
        for _ in _ALONE[script].findall(plain) if script else _words(plain):
            yield chunk.span()


_SIGNS = str.maketrans("|`", "  ")
_QUOTE = ">"


def _words(plain: str) -> list[str]:
    """The words of a text without punctuation, and without the signs that say how it is laid out.

    Cells stand between "|", code between "`", a quoted line behind ">"; bullets and headings are punctuation.
    """
    if "|" in plain or "`" in plain:
        plain = plain.translate(_SIGNS)
    words = plain.split()
    return [word for word in words if word.strip(_QUOTE)] if _QUOTE in plain else words


def _folded(text: str) -> str:
    """Without letter case. Turkish capital I may be a dotless ı: both are i here."""
    return text.casefold().replace("ı", "i")


def _plain(text: str) -> str:
    found = folded.plain(text)
    return plain_at_length(text) if found is None else found


def plain_at_length(text: str) -> str:
    """What `folded.plain` answers, of any text; white space stays as it is."""
    lower = text.lower()
    plain = without_punctuation(_number_of(lower).sub("0", lower), " ")
    return plain if plain.isascii() else str(_MARKS.sub("", unicodedata.normalize("NFD", plain)))


def _number_of(text: str) -> Any:
    """The quickest expression that finds every number of a text."""
    if text.isascii():
        return _ASCII_NUMBER
    return _NUMBER if _MAY_BE_OTHER_DIGIT.search(text) else _NUMBER_OF_TEN_DIGITS
