"""Fingerprints and decontamination compare texts by these units.

Words after datatrove's normalisation, characters in scripts without spaces. Whoever changes what `tokens` answers
raises `fingerprint.FINGERPRINT_VERSION` and `contamination.index.VERSION`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

import regex

_PUNCTUATION = regex.compile(r"\p{P}")
_ASCII_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*+")
_NUMBER = regex.compile(r"\p{Nd}+(?:[.,،٬٫]\p{Nd}+)*+")
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
    if sample.isascii():
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
    """
    plain = _plain(_folded(text))
    yield plain.split(), 0
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
        for _ in _ALONE[script].findall(plain) if script else plain.split():
            yield chunk.span()


def _folded(text: str) -> str:
    """Without letter case. Turkish capital I may be a dotless ı: both are i here."""
    return text.casefold().replace("ı", "i")


def without_punctuation(text: str, instead: str) -> str:
    """The text with `instead` for each mark: Unicode's category P."""
    for mark in filter(_is_punctuation, set(text)):
        text = text.replace(mark, instead)
    return text


@cache
def _is_punctuation(char: str) -> bool:
    return _PUNCTUATION.match(char) is not None


def _plain(text: str) -> str:
    lower = text.lower()
    number = _ASCII_NUMBER if lower.isascii() else _NUMBER
    plain = without_punctuation(number.sub("0", lower), " ")
    return plain if plain.isascii() else str(_MARKS.sub("", unicodedata.normalize("NFD", plain)))
