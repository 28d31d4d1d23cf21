"""The language stage asks here whether a text is in a language that no identifier knows.

An identifier answers with a language that it knows, and of a neighbour it does not know with certainty: Yiddish is
Hebrew to it, Tswana Northern Sotho. Profiles of some 400 languages (the most frequent trigrams of their translation of
one declaration, in the manner of Cavnar and Trenkle 1994) say whether such a neighbour is nearer. They name no
language: ten thousand characters of one text are enough for a doubt, and not for a name.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import regex
from scipy.sparse import csr_array

from crawler.stages.language.scripts import script_of
from crawler.stages.text.tables import sections

UNKNOWN = "und"
"""ISO 639-2 code of a language that is not determined."""
CHARACTERS = 500
"""Characters of a text that are looked at."""
LEAST_TRIGRAMS = 40
"""Under so many nothing is said."""
MARGIN = 0.10
"""Log odds a trigram by which a neighbour has to be nearer; and more in a short text (`SHORT_MARGIN`)."""
SHORT_MARGIN = 15.0
"""Added to the margin, divided by the number of trigrams: a sentence of 100 needs 0.15 more."""

_SIZE = 3
_WORDS = regex.compile(r"[\p{L}\p{M}'’ʼ]+")
_RANKS, _SHARES, _FLOOR = (1, 11, 51, 150), (-4.0, -4.81, -5.58, -6.44), -7.94
"""Natural logarithm of the share of the trigram of a rank, the mean of the translations, and of those in no list."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A language in one script, and its most frequent trigrams, the most frequent first."""

    language: str
    script: str
    trigrams: tuple[str, ...]


def trigrams(text: str) -> list[str]:
    """Three letters in a row, in order; one space stands for what is between words and around the text."""
    words = f" {' '.join(_WORDS.findall(unicodedata.normalize('NFC', text).lower()))} "
    return [words[start : start + _SIZE] for start in range(len(words) - _SIZE + 1)]


class OpenSet:
    """The profiles beside each other, those of known languages and of others."""

    def __init__(self, known: Collection[str], profiles: Iterable[Profile] | None = None) -> None:
        """`known`: codes that the identifiers can answer. `profiles`: None = those of `profiles.txt`."""
        by_script: dict[str, list[Profile]] = defaultdict(list)
        for profile in read_profiles() if profiles is None else profiles:
            by_script[profile.script].append(profile)
        self._tables = {script: _Table(some, known) for script, some in by_script.items()}

    def is_unknown(self, text: str, language: str) -> bool:
        """True where a language that no identifier knows is clearly nearer to the text than the one they named."""
        head = text[:CHARACTERS]
        table = self._tables.get(script_of(head).code)
        return table is not None and table.is_unknown(trigrams(head), language)


class _Table:
    """The profiles of one script."""

    def __init__(self, profiles: list[Profile], known: Collection[str]) -> None:
        self._numbers: dict[str, int] = {}
        for profile in profiles:
            for gram in profile.trigrams:
                self._numbers.setdefault(gram, len(self._numbers))
        self._gains = _gains(profiles, self._numbers)
        self._languages = np.array([profile.language for profile in profiles])
        self._are_known = np.array([profile.language in known for profile in profiles])

    def is_unknown(self, grams: list[str], language: str) -> bool:
        if len(grams) < LEAST_TRIGRAMS or self._are_known.all():
            return False
        counts = Counter(number for gram in grams if (number := self._numbers.get(gram)) is not None)
        row = np.zeros(len(self._numbers))
        row[list(counts)] = list(counts.values())
        nearness: npt.NDArray[np.float64] = self._gains @ row / len(grams)
        mine = self._languages == language
        own = nearness[mine] if mine.any() else nearness[self._are_known]
        best = float(own.max()) if len(own) else 0.0
        return float(nearness[~self._are_known].max()) - best > MARGIN + SHORT_MARGIN / len(grams)


def _gains(profiles: list[Profile], numbers: dict[str, int]) -> Any:
    """What a trigram says more for each profile than one that is in no list."""
    rows = [row for row, profile in enumerate(profiles) for _ in profile.trigrams]
    columns = [numbers[gram] for profile in profiles for gram in profile.trigrams]
    values = [gain for profile in profiles for gain in _curve(len(profile.trigrams))]
    return csr_array((values, (rows, columns)), shape=(len(profiles), len(numbers)))


@cache
def _curve(size: int) -> tuple[float, ...]:
    shares = np.interp(np.log(np.arange(1, size + 1)), np.log(_RANKS), _SHARES)
    return tuple((shares - _FLOOR).tolist())


@cache
def read_profiles() -> tuple[Profile, ...]:
    """The profiles of `profiles.txt`."""
    lines = map(str.split, sections(__package__, "profiles.txt")[""])
    return tuple(
        Profile(language, script, tuple(grams[i : i + _SIZE].replace("_", " ") for i in range(0, len(grams), _SIZE)))
        for language, script, grams in lines
    )
