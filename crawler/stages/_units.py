"""Shared by fingerprints and decontamination: a text as the units it is compared by.

Words after datatrove's normalisation, characters in scripts without spaces. Whoever changes what `tokens` answers
raises `fingerprint.FINGERPRINT_VERSION` and `_eval_index.VERSION`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import regex

_PUNCTUATION = regex.compile(r"\p{P}+")
_NUMBER = regex.compile(r"\p{Nd}+(?:[.,،٬٫]\p{Nd}+)*+")
_MARKS = regex.compile(r"\p{Mn}+")
_IDEOGRAPHS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_UNSPACED = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")
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


def readings(text: str) -> Iterator[tuple[list[str], str, int]]:
    """Every way to read a text as units: as words, and where it has them, as characters of scripts without spaces.

    Answers as `tokens`. A page of one script may hold a passage of the other, so no script decides for the whole.
    """
    plain = _plain(text)
    words = plain.split()
    yield words, " ", 1
    if not plain.isascii():
        for pattern, chars_a_word in ((_IDEOGRAPHS, 1), (_UNSPACED, 2)):
            if pattern.search(plain):
                yield list("".join(words)), "", chars_a_word


def places(text: str, joiner: str) -> Iterator[tuple[int, int]]:
    """Where in `text` each unit of `tokens` comes from, as the start and end of the chunk between white space.

    Slower than `tokens` (each chunk is normalised on its own): for the few texts of which somebody wants to know.
    """
    for chunk in _CHUNK.finditer(text):
        units = _plain(chunk[0]).split()
        for _ in range(len(units) if joiner else sum(map(len, units))):
            yield chunk.span()


def _plain(text: str) -> str:
    plain = _PUNCTUATION.sub(" ", _NUMBER.sub("0", text.lower()))
    return str(_MARKS.sub("", unicodedata.normalize("NFD", plain)))
