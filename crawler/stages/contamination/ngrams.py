"""The decontamination stage and its index hash the n-grams of a text here, all at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from crawler.stages.text.units import readings
from crawler.stages.text.words import CJK_CHARS_A_WORD, SOUTH_EAST_CHARS_A_WORD

Hashes = NDArray[np.uint64]

_CHARS_A_WORD = (1, CJK_CHARS_A_WORD, SOUTH_EAST_CHARS_A_WORD)
_BASE = 0x9E3779B97F4A7C15  # odd: no position of an n-gram is multiplied away


@dataclass(frozen=True, slots=True)
class Grams:
    """One text, cut. units: hash of each unit; size: units an n-gram; script: as `readings` says."""

    units: Hashes
    size: int
    script: int

    @property
    def hashes(self) -> Hashes:
        """The hash of the n-gram that begins at each unit; empty where the text is shorter than one."""
        return rolling(self.units, self.size)


def cut(text: str, words: int) -> list[Grams]:
    """Every reading of the text that is long enough: n-grams of so many words, or of the characters of as many words.

    Scripts without spaces are read by characters.
    """
    found = []
    for units, script in readings(text):
        size = words * _CHARS_A_WORD[script]
        if len(units) >= size:
            found.append(Grams(_hashed(units), size, script))
    return found


def rolling(units: Hashes, size: int) -> Hashes:
    """Polynomial hashes (Karp and Rabin 1987) modulo 2^64 of all runs of `size` unit hashes."""
    count = len(units) - size + 1
    if count <= 0:
        return np.empty(0, np.uint64)
    total = units[:count].copy()
    for offset in range(1, size):
        total *= np.uint64(_BASE)
        total += units[offset : offset + count]
    return total


def distinct_units(units: Hashes, size: int) -> NDArray[np.int64]:
    """How many different units each run of `size` has."""
    count = len(units) - size + 1
    if count <= 0:
        return np.empty(0, np.int64)
    order = np.argsort(units, kind="stable")
    same = units[order[1:]] == units[order[:-1]]
    before, here = order[:-1][same], order[1:][same]  # a unit and where it stood last
    close = here - before < size
    before, here = before[close], here[close]
    repeated = np.zeros(len(units) + 1, np.int64)  # how many more windows begin than end to hold both
    np.add.at(repeated, np.maximum(here - size + 1, 0), 1)
    np.add.at(repeated, before + 1, -1)
    return size - np.cumsum(repeated)[:count]


def _hashed(units: list[str]) -> Hashes:
    try:
        return np.fromiter(map(xxhash.xxh3_64_intdigest, map(str.encode, units)), np.uint64, count=len(units))
    except UnicodeEncodeError:  # half a surrogate pair has no UTF-8
        return _hashed([unit.encode("utf-8", "replace").decode() for unit in units])
