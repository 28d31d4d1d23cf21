"""The repetition rules find n-grams here: tokens are numbers and hashes, and equal n-grams stand together once sorted.

Which n-gram is most frequent is decided by numbers alone, so exactly. Which runs of tokens can be repeated at all is
decided by hashes; whoever counts them compares their characters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15  # any odd number has an inverse
_INVERSE = pow(_BASE, -1, 2**64)


WINDOW = 20
"""Characters: a run as long as that is only repeated where its first `WINDOW` characters are, so few are left to sort.
Shorter runs are always looked at."""


class Top(NamedTuple):
    """The most frequent run of n tokens: where it stands first, and how often; of several the one that stands first."""

    n: int
    first: int
    times: int


def most_frequent(numbers: Ints, sizes: Collection[int]) -> Iterator[Top]:
    """The most frequent run of each size up to the number of tokens; `numbers` are equal for equal tokens.

    A run of n + 1 can only be repeated where the two runs of n in it are: few are left to sort after the first step.
    """
    keys, places = numbers, np.arange(len(numbers))
    for n in range(1, min(max(sizes, default=0), len(numbers)) + 1):
        if n == 2:  # two of the tokens; from here on two of the repeated runs
            keys, places = numbers[:-1] * (int(numbers.max()) + 1) + numbers[1:], np.arange(len(numbers) - 1)
        elif n > 2:
            keys, places = _longer(keys, places)
        if n == 1 and 1 not in sizes:
            continue
        top, keys, places = _repeated(n, keys, places)
        if n in sizes:
            yield top


def _repeated(n: int, keys: Ints, places: Ints) -> tuple[Top, Ints, Ints]:
    """The most frequent key; the repeated keys, numbered from 0; and where they stand, in ascending order."""
    if not len(keys):
        return Top(n, 0, 1), keys, places
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    times = np.diff(np.append(starts, len(ordered)))
    count = int(times.max())
    if count == 1:
        return Top(n, 0, 1), keys[:0], places[:0]
    first = int(places[order[np.repeat(times == count, times)].min()])
    many = times > 1
    numbered = np.full(len(keys), -1)
    numbered[order] = np.repeat(np.where(many, np.cumsum(many) - 1, -1), times)
    kept = np.flatnonzero(numbered >= 0)
    return Top(n, first, count), numbered[kept], places[kept]


def _longer(keys: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Runs of one token more: two repeated runs, one token apart."""
    beside = np.flatnonzero(places[1:] == places[:-1] + 1)
    most = int(keys.max()) + 1 if len(keys) else 1
    return keys[beside] * most + keys[beside + 1], places[beside]


class Runs:
    """Which runs of tokens can stand more than once, by hashes of the characters in them."""

    def __init__(self, joined: str, lengths: Ints) -> None:
        """`joined`: the tokens with nothing between them; `lengths`: their characters."""
        self.joined, self.ends = joined, np.concatenate(([0], np.cumsum(lengths)))
        """`ends`: where the tokens begin in `joined`, and where the last one ends."""
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
        powers, self._shifts = _powers(len(codes))
        self._sums = np.concatenate(([np.uint64(0)], np.cumsum(codes * powers[:-1])))
        begins = self.ends[:-1]
        begins = begins[begins <= len(joined) - WINDOW]
        beginnings = np.flatnonzero(_have_twins(self._hashes(begins, begins + WINDOW)))
        self._may_be_long = np.zeros(len(lengths), np.bool_)
        self._may_be_long[beginnings] = True

    def repeated(self, n: int) -> Ints:
        """The tokens at which a run of n begins whose hash another run has, too, in order."""
        begins, ends = self.ends[:-n], self.ends[n:]
        if len(begins) <= 1:
            return np.zeros(0, np.int64)
        places = np.flatnonzero(self._may_be_long[: len(begins)] | (ends - begins < WINDOW))
        return places[_have_twins(self._hashes(begins[places], ends[places]))]

    def _hashes(self, begins: Ints, ends: Ints) -> Hashes:
        found: Hashes = (self._sums[ends] - self._sums[begins]) * self._shifts[begins]
        return found


def _have_twins(hashes: Hashes) -> npt.NDArray[np.bool_]:
    """Which of the numbers stand more than once."""
    order = np.argsort(hashes)
    ordered = hashes[order]
    twins = np.flatnonzero(ordered[1:] == ordered[:-1])
    found = np.zeros(len(hashes), np.bool_)
    found[order[twins + 1]] = found[order[twins]] = True
    return found


def _powers(count: int) -> tuple[Hashes, Hashes]:
    """The powers 0 … count of the base and of its inverse, modulo 2^64; those of a usual text are kept."""
    if count >= len(_POWERS[0]):
        return _first_powers(_BASE, count + 1), _first_powers(_INVERSE, count + 1)
    return _POWERS[0][: count + 1], _POWERS[1][: count + 1]


def _first_powers(base: int, count: int) -> Hashes:
    factors = np.full(count, base, dtype=np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)


_POWERS = (_first_powers(_BASE, 16_384), _first_powers(_INVERSE, 16_384))
