"""Perplexity by interpolated modified Kneser-Ney, trained and asked in numpy: what KenLM's lmplz estimates.

Chen and Goodman, "An empirical study of smoothing techniques for language modeling" (1998), section 3; with the
conventions of Heafield et al. (2013): no probability falls on the begin of a sentence, and the share that unigrams give
away is spread over all words, `<unk>` among them. A line of a text is a sentence. N-grams of one length stand in one
sorted array; each is named by the n-gram without its last word, and that word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crawler.stages.classify.words import words

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"
SPECIAL = (UNKNOWN, BEGIN, END)
UNITS = ("words", "characters")
SPACE = "▁"
"""Stands for a space among characters, because ARPA parts by spaces."""
_FALLBACK = (0.5, 1.0, 1.5)
"""Discounts where a text is too small to estimate them, as lmplz has them."""
NEVER = -99.0
"""The log10 probability that ARPA files give to what is never predicted."""


@dataclass(frozen=True, slots=True)
class Grams:
    """N-grams of one length. keys: context · V + word, ascending; logp and backoff: log10."""

    keys: Ints
    logp: Floats
    backoff: Floats


@dataclass(frozen=True, slots=True)
class Said:
    """What a model says of a text: log10 probability, predicted units (ends of lines among them), unknown ones."""

    logp: float
    units: int
    unknown: int

    @property
    def perplexity(self) -> float:
        """How many units it hesitates between, in the geometric mean; infinite for a text without any."""
        return float(10.0 ** min(300.0, -self.logp / self.units)) if self.units else float("inf")


@dataclass(frozen=True)
class Model:
    """words: by number, the special ones first. orders: n-grams of length 1, 2, …"""

    words: tuple[str, ...]
    orders: tuple[Grams, ...]
    unit: str = "words"
    _numbers: dict[str, int] = field(init=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers.update((word, number) for number, word in enumerate(self.words))

    def score(self, text: str) -> Said:
        """The longest n-gram that is known decides each unit; each that is not costs the backoff of its context."""
        number = self._numbers.get
        line = [one for said in sentences(text, self.unit) for one in (1, *(number(unit, 0) for unit in said), 2)]
        if not line:
            return Said(0.0, 0, 0)
        units, size = np.array(line, np.int64), len(self.words)
        where = np.arange(len(units))
        begin = np.maximum.accumulate(np.where(units == 1, where, 0))
        logp, ending = self.orders[0].logp[units], units
        for length, grams in enumerate(self.orders[1:], 2):
            context = np.concatenate([[-1], ending[:-1]])
            asked = (context >= 0) & (where - begin >= length - 1)
            place, known = _find(grams.keys, np.where(asked, context * size + units, -1))
            known &= asked
            lost = np.where(asked, self.orders[length - 2].backoff[np.maximum(context, 0)], 0.0)
            logp = np.where(known, grams.logp[place] if len(grams.keys) else 0.0, logp + lost)
            ending = np.where(known, place, -1)
        predicted = units != 1
        return Said(float(logp[predicted].sum()), int(predicted.sum()), int((units == 0).sum()))


def _find(keys: Ints, wanted: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    if not len(keys):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return place, keys[place] == wanted


def sentences(text: str, unit: str) -> Iterator[list[str]]:
    """The units of each line that has any."""
    for line in text.split("\n"):
        said = words(line) if unit == "words" else list(" ".join(line.lower().split()).replace(" ", SPACE))
        if said:
            yield said


def train(texts: Iterable[str], order: int = 3, unit: str = "words", least: int = 2) -> Model:
    """A model of these texts; units that occur fewer than `least` times are `<unk>`.

    Raises: ValueError where the texts have no units.
    """
    lines = [said for text in texts for said in sentences(text, unit)]
    counted = Counter(one for said in lines for one in said)
    names = [*SPECIAL, *sorted(one for one, count in counted.items() if count >= least and one not in SPECIAL)]
    if not lines:
        raise ValueError("the texts have no words")
    number = {name: at for at, name in enumerate(names)}
    units = np.array([one for said in lines for one in (1, *(number.get(x, 0) for x in said), 2)], np.int64)
    return Model(tuple(names), _estimated(_Counts.of(units, len(names), order), len(names)), unit)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Of one length: keys; how often each occurs, its first unit, and the number of the n-gram without the first."""

    keys: Ints
    times: Ints
    first: Ints
    tail: Ints

    @classmethod
    def of(cls, units: Ints, size: int, order: int) -> list[_Counts]:
        """Of every length from 1 on."""
        every = np.arange(size)
        found = [cls(every, np.bincount(units, minlength=size), every, every)]
        line, at = np.cumsum(units == 1), units.copy()
        for length in range(2, order + 1):
            starts = np.arange(max(0, len(units) - length + 1))
            starts = starts[(at[starts] >= 0) & (line[starts] == line[starts + length - 1])]
            keys, which, times = np.unique(
                at[starts] * size + units[starts + length - 1], return_inverse=True, return_counts=True
            )
            first, tail = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
            first[which], tail[which] = units[starts], at[starts + 1]
            found.append(cls(keys, times, first, tail))
            at = np.full(len(units), -1, np.int64)
            at[starts] = which
        return found


def _estimated(counts: list[_Counts], size: int) -> tuple[Grams, ...]:
    adjusted = [_adjusted(counts, at) for at in range(len(counts))]
    grams: list[Grams] = []
    before: Floats = np.zeros(0)
    for at, one in enumerate(counts):
        times = adjusted[at]
        taken = np.array([0.0, *_discounts(times)])[np.minimum(times, 3)]
        if at == 0:
            total = float(times.sum())
            chance = (times - taken) / total + float(taken.sum()) / total / (size - 1)
            chance[1] = 0.0
        else:
            context, many = one.keys // size, len(counts[at - 1].keys)
            whole = np.bincount(context, times, many)
            given = np.divide(np.bincount(context, taken, many), whole, out=np.ones(many), where=whole > 0)
            chance = (times - taken) / whole[context] + given[context] * before[one.tail]
            last = grams[-1]
            grams[-1] = Grams(last.keys, last.logp, np.log10(np.maximum(given, 1e-99)))
        before = chance
        logp = np.log10(np.maximum(chance, 10.0**NEVER))
        grams.append(Grams(one.keys, logp, np.zeros(len(one.keys))))
    return tuple(grams)


def _adjusted(counts: list[_Counts], at: int) -> Ints:
    """How many units stand before an n-gram; of the longest, and of those that begin a line, how often it is."""
    one = counts[at]
    if at == len(counts) - 1:
        times = one.times.copy()
    else:
        times = np.where(one.first == 1, one.times, np.bincount(counts[at + 1].tail, minlength=len(one.keys)))
    if at == 0:
        times[1] = 0
    return times


def _discounts(times: Ints) -> tuple[float, ...]:
    """D1, D2 and D3+ of Chen and Goodman, from how many n-grams occur once, twice, three and four times."""
    n1, n2, n3, n4 = (int((times == many).sum()) for many in (1, 2, 3, 4))
    if not min(n1, n2, n3, n4):
        return _FALLBACK
    y = n1 / (n1 + 2 * n2)
    found = 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3
    return found if all(0 <= one <= most for most, one in enumerate(found, 1)) else _FALLBACK
