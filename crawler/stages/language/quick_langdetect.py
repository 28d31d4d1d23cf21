"""langdetect's answers, to the last bit, in a tenth of its time.

It looks the block of every character up, and multiplies the chances of 55 languages one by one, some hundred times for
a text. Here a character is normalised once, and the chances are rows of one table. The same numbers are drawn in the
same order from the same seed, and each is multiplied and added in the same order, so that no answer differs.
Another release of langdetect runs as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from itertools import islice, repeat
from operator import add
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from langdetect.detector import Detector
from langdetect.lang_detect_exception import LangDetectException
from langdetect.utils.ngram import NGram
from langdetect.utils.unicode_block import UNICODE_LATIN_EXTENDED_ADDITIONAL, unicode_block

RELEASE = "1.0.9"
"""Whose inner workings this module has."""
MOST_CHARACTERS = 20_000
"""Normalised characters that are kept: more than the texts of all languages have."""
_SPACES = re.compile("  +")
_TRIALS, _STEPS = 7, 5
"""`n_trial`, and the n-grams between two looks at the chances."""

Chances = npt.NDArray[np.float64]


def quick_or_plain(factory: Any) -> Any:
    """What answers `best(text)`: (language, probability), or None where nothing is probable."""
    return QuickDetector(factory) if version("langdetect") == RELEASE else PlainDetector(factory)


class PlainDetector:
    """langdetect as it is."""

    def __init__(self, factory: Any) -> None:
        self._factory = factory

    def best(self, text: str) -> tuple[str, float] | None:
        """The most probable language of a text."""
        detector = self._factory.create()
        detector.append(text)
        try:
            found = detector.get_probabilities()
        except LangDetectException:
            return None
        return (found[0].lang, found[0].prob) if found else None


class QuickDetector:
    """The same in rows of numbers; the factory's own lists are emptied, so that its profiles are in memory once."""

    def __init__(self, factory: Any) -> None:
        profiles: dict[str, list[float]] = factory.word_lang_prob_map
        self._languages: list[str] = factory.get_lang_list()
        self._seed: int = factory.seed
        self._numbers = {gram: number for number, gram in enumerate(profiles)}
        self._chances: Chances = np.fromiter(profiles.values(), np.dtype((np.float64, len(self._languages))))
        self._normal = _Normal()
        profiles.clear()

    def best(self, text: str) -> tuple[str, float] | None:
        """The most probable language of a text of up to 10,000 characters."""
        grams = self._grams(_cleaned(text))
        if not grams:
            return None
        chances = self._probabilities(grams)
        first = int(chances.argmax())
        return (self._languages[first], float(chances[first])) if chances[first] > Detector.PROB_THRESHOLD else None

    def _grams(self, text: str) -> list[int]:
        """The known n-grams that end at each character, shorter ones first; none inside of words in capitals.

        Behind a space a word begins anew, so that no n-gram reaches over one: the profiles have none that does.
        """
        line = _SPACES.sub(" ", " " + text.translate(self._normal))
        size = len(line) - 1
        pairs = list(map(add, line, line[1:]))
        found = np.full((size, 3), -1)
        found[:, 0] = self._numbered(line[1:], size)
        found[:, 1] = self._numbered(pairs, size)
        found[1:, 2] = self._numbered(map(add, pairs, line[2:]), max(size - 1, 0))
        capitals = np.fromiter(map(str.isupper, line), np.bool_, size + 1)
        found[capitals[1:] & capitals[:-1]] = -1
        known: list[int] = found[found >= 0].tolist()
        return known

    def _numbered(self, grams: Iterable[str], count: int) -> npt.NDArray[np.int64]:
        return np.fromiter(map(self._numbers.get, grams, repeat(-1)), np.int64, count)

    def _probabilities(self, grams: list[int]) -> Chances:
        random, count = Random(self._seed), len(self._languages)
        total: Chances = np.zeros(count)
        one, several = _Product(self._chances, 1), _Product(self._chances, _STEPS)
        drawn = _drawn(random, grams)
        for _ in range(_TRIALS):
            weight = (Detector.ALPHA_DEFAULT + random.gauss(0.0, 1.0) * Detector.ALPHA_WIDTH) / Detector.BASE_FREQ
            chances = one(np.full(count, 1.0 / count), [next(drawn)], weight)
            steps = 0
            while chances[chances.argmax()] <= Detector.CONV_THRESHOLD and steps < Detector.ITERATION_LIMIT:
                chances = several(chances, list(islice(drawn, _STEPS)), weight)
                steps += _STEPS
            total += chances / _TRIALS
        return total


def _drawn(random: Random, grams: list[int]) -> Iterator[int]:
    """What `random.choice` would give, call after call, without the calls: a quarter of the time."""
    count, bits = len(grams), random.getrandbits
    size = count.bit_length()
    while True:
        if (number := bits(size)) < count:
            yield grams[number]


class _Product:
    """The chances of the languages after so many n-grams, with one buffer for all calls: half of their time."""

    def __init__(self, table: Chances, size: int) -> None:
        self._table = table
        self._rows: Chances = np.empty((size + 1, table.shape[1]))
        self._before, self._drawn = self._rows[0], self._rows[1:]

    def __call__(self, chances: Chances, grams: list[int], weight: float) -> Chances:
        """`chances` times those of each n-gram, one after the other; together they are 1."""
        self._before[:] = chances
        self._table.take(grams, axis=0, out=self._drawn, mode="clip")
        np.add(self._drawn, weight, out=self._drawn)
        product: Chances = np.multiply.reduce(self._rows)
        product /= sum(product.tolist())  # one after the other: numpy adds in another order
        return product


def _cleaned(text: str) -> str:
    """Without addresses, and without Latin letters where those of other scripts are many."""
    if "http" in text:
        text = Detector.URL_RE.sub(" ", text)
    if "@" in text:
        text = Detector.MAIL_RE.sub(" ", text)
    if text.isascii():
        return text
    text = NGram.normalize_vi(text)
    latin = sum(map(len, _LATIN.findall(text)))
    return _LATIN.sub("", text) if latin * 2 < sum(map(_is_foreign, _BEYOND_LATIN.findall(text))) else text


_LATIN = re.compile("[A-z]+")
_BEYOND_LATIN = re.compile("[\u0300-\U0010ffff]")


def _is_foreign(char: str) -> bool:
    return bool(unicode_block(char) != UNICODE_LATIN_EXTENDED_ADDITIONAL)


class _Normal(dict[int, str]):
    """langdetect's normal form of each character, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        if len(self) >= MOST_CHARACTERS:
            self.clear()
        self[code] = normal = str(NGram.normalize(chr(code)))
        return normal
