"""langdetect's answers, to `DIGITS` digits, in a tenth of its time.

It looks the block of every character up, and multiplies the chances of 55 languages one by one, some hundred times for
a text. Here a character is normalised once, and the chances are rows of one table. The same numbers are drawn in the
same order from the same seed. What is drawn is multiplied a few steps ahead; where that could make a difference, each
number is multiplied and added in langdetect's own order instead, so that no answer differs.
Another release of langdetect runs as it is.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import chain, islice, repeat
from operator import add
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from langdetect.detector import Detector
from langdetect.detector_factory import DetectorFactory
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

DIGITS = 4
"""Decimals of a probability that are answered."""
_AHEAD = 12
"""Looks at the chances that are made at once: the product of the chances of 60 n-grams is still over 1e-280."""
_TOO_CLOSE = 1e-9
"""Probabilities differ by less than a thousandth of this where their factors are multiplied in another order."""
_WORDS = 4_096
"""Random words that are kept: more than most texts use, which is one for each n-gram and a few that are left out."""

Chances = npt.NDArray[np.float64]


def quick_or_plain(profiles: Sequence[str], seed: int) -> Any:
    """What answers `best(text)`: (language, probability), or None where nothing is probable.

    `profiles`: langdetect's, a JSON text each, in the order that its answers depend on. `languages` names them.
    """
    return (QuickDetector if version("langdetect") == RELEASE else PlainDetector)(profiles, seed)


class PlainDetector:
    """langdetect as it is."""

    def __init__(self, profiles: Sequence[str], seed: int) -> None:
        self._factory: Any = DetectorFactory()
        self._factory.load_json_profile(profiles)
        self._factory.set_seed(seed)
        self.languages: list[str] = self._factory.get_lang_list()

    def best(self, text: str) -> tuple[str, float] | None:
        """The most probable language of a text."""
        detector = self._factory.create()
        detector.append(text)
        try:
            found = detector.get_probabilities()
        except LangDetectException:
            return None
        return (found[0].lang, round(found[0].prob, DIGITS)) if found else None


class QuickDetector:
    """The same in rows of numbers: the profiles are in memory once, and are there in a fifth of the time."""

    def __init__(self, profiles: Sequence[str], seed: int) -> None:
        read = [json.loads(profile) for profile in profiles]
        self.languages: list[str] = [profile["name"] for profile in read]
        grams = dict.fromkeys(chain.from_iterable(profile["freq"] for profile in read))
        self._numbers = {gram: number for number, gram in enumerate(grams)}
        self._chances: Chances = np.zeros((len(grams), len(read)))
        for profile, chances in zip(read, self._chances.T, strict=True):
            times = profile["freq"]
            of_its_length = np.array(profile["n_words"])[[len(gram) - 1 for gram in times]]
            chances[list(map(self._numbers.__getitem__, times))] = list(times.values()) / of_its_length
        self._seed = seed
        self._normal = _Normal()
        self._drawing = _Drawing(seed)

    def best(self, text: str) -> tuple[str, float] | None:
        """The most probable language of a text of up to 10,000 characters."""
        grams = self._grams(_cleaned(text))
        if not grams:
            return None
        chances = self._probabilities_ahead(np.array(grams))
        if chances is None or _is_doubtful(chances):
            chances = self._probabilities(grams)
        first = int(chances.argmax())
        if chances[first] <= Detector.PROB_THRESHOLD:
            return None
        return self.languages[first], round(float(chances[first]), DIGITS)

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

    def _probabilities_ahead(self, grams: npt.NDArray[np.int64]) -> Chances | None:
        """The probabilities but for the last bits; None where those decide, or where too few words are kept."""
        drawn = self._drawing.of(grams)
        total: Chances = np.zeros(len(self.languages))
        for _ in range(_TRIALS):
            weight = (Detector.ALPHA_DEFAULT + drawn.gauss() * Detector.ALPHA_WIDTH) / Detector.BASE_FREQ
            found = self._trial(drawn, weight)
            if found is None:
                return None
            total += found
        total /= _TRIALS
        return total

    def _trial(self, drawn: _Drawn, weight: float) -> Chances | None:
        ahead = drawn.ahead(1)
        if ahead is None:
            return None
        chances: Chances = self._chances[ahead[0]] + weight
        chances /= chances.sum()
        used, best = 1, chances.max()
        for _ in range(Detector.ITERATION_LIMIT // (_STEPS * _AHEAD)):
            if abs(best - Detector.CONV_THRESHOLD) < _TOO_CLOSE:
                return None
            if best > Detector.CONV_THRESHOLD:
                drawn.use(used)
                return chances
            ahead = drawn.ahead(used + _STEPS * _AHEAD)
            if ahead is None:
                return None
            factors = self._chances.take(ahead[used:], axis=0).reshape(_AHEAD, _STEPS, -1)
            factors += weight
            steps = np.multiply.accumulate(np.multiply.reduce(factors, axis=1))
            steps *= chances
            steps /= steps.sum(axis=1, keepdims=True)
            most = steps.max(axis=1)
            enough = np.flatnonzero(most > Detector.CONV_THRESHOLD - _TOO_CLOSE)
            at = int(enough[0]) if len(enough) else _AHEAD - 1
            chances, best, used = steps[at], most[at], used + (at + 1) * _STEPS
        return None

    def _probabilities(self, grams: list[int]) -> Chances:
        random, count = Random(self._seed), len(self.languages)
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


def _is_doubtful(chances: Chances) -> bool:
    """The last bits could decide which language is first, whether it is probable, or the last digit of the answer."""
    second, first = np.partition(chances, -2)[-2:].tolist()
    rest = first * 10**DIGITS % 1
    return (
        not first - second >= _TOO_CLOSE
        or abs(first - Detector.PROB_THRESHOLD) < _TOO_CLOSE
        or abs(rest - 0.5) < _TOO_CLOSE * 10**DIGITS
    )


class _Drawing:
    """The random words behind a seed: the same for every text."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.words = np.array([random.getrandbits(32) for _ in range(_WORDS)], dtype=np.uint32)

    def of(self, grams: npt.NDArray[np.int64]) -> _Drawn:
        """What is drawn of these n-grams."""
        numbers = self.words >> np.uint32(32 - len(grams).bit_length())
        places = np.flatnonzero(numbers < len(grams))
        return _Drawn(self.words, places, grams.take(numbers.take(places)))


class _Drawn:
    """What `random.gauss` and `random.choice` answer from the words on that nothing has used yet.

    A choice takes the upper bits of the next word, and another word where they are too large a number. A gauss takes
    four words and has the answer to the next one with it.
    """

    def __init__(self, words: npt.NDArray[np.uint32], places: npt.NDArray[np.int64], choices: Any) -> None:
        self._words, self._places, self._choices = words, places, choices
        self._at = 0
        self._gauss: float | None = None

    def gauss(self) -> float:
        """The next number of a normal distribution."""
        if (known := self._gauss) is not None:
            self._gauss = None
            return known
        angle, radius = self._uniform() * math.tau, math.sqrt(-2.0 * math.log(1.0 - self._uniform()))
        self._gauss = math.sin(angle) * radius
        return math.cos(angle) * radius

    def _uniform(self) -> float:
        upper, lower = self._words[self._at : self._at + 2].tolist()
        self._at += 2
        return float(((upper >> 5) * 67108864.0 + (lower >> 6)) / 9007199254740992.0)

    def ahead(self, count: int) -> npt.NDArray[np.int64] | None:
        """The next so many choices, which can be asked for again; None where the words end before."""
        first = int(np.searchsorted(self._places, self._at))
        found: npt.NDArray[np.int64] = self._choices[first : first + count]
        return found if len(found) == count else None

    def use(self, count: int) -> None:
        """So many choices were made."""
        first = int(np.searchsorted(self._places, self._at))
        self._at = int(self._places[first + count - 1]) + 1


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
