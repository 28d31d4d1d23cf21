"""The repetition rules find n-grams here: tokens are numbers and hashes, and equal n-grams stand together once sorted.

Which n-gram is most frequent is decided by numbers alone, so exactly. Which runs of tokens can be repeated at all is
decided by hashes; whoever counts them compares their characters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
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
    keys, places, longest = numbers, np.arange(len(numbers)), max(sizes, default=0)
    for n in range(1, min(longest, len(numbers)) + 1):
        if n == 2:  # two of the tokens; from here on two of the repeated runs
            keys, places = numbers[:-1] * (int(numbers.max()) + 1) + numbers[1:], np.arange(len(numbers) - 1)
        elif n > 2:
            keys, places = _longer(keys, places)
        if n == 1 and 1 not in sizes:
            continue
        groups = _Groups(keys, places)
        if n in sizes:
            yield groups.top(n)
        if n < longest:
            keys, places = groups.repeated()


class _Groups:
    """Equal keys, put together."""

    def __init__(self, keys: Ints, places: Ints) -> None:
        """`places`: where the keys stand, in ascending order."""
        self._places, self._order = places, np.argsort(keys)
        ordered = keys[self._order]
        begins = np.empty(len(keys) + 1, np.bool_)
        begins[:1] = begins[-1:] = True
        np.not_equal(ordered[1:], ordered[:-1], out=begins[1:-1])
        self._ends = begins.nonzero()[0]
        self._times = np.diff(self._ends)
        self._most = int(self._times.max()) if len(keys) else 1

    def top(self, n: int) -> Top:
        """The most frequent key, as a run of n; of several the one that stands first."""
        if self._most == 1:
            return Top(n, 0, 1)
        begins = self._ends[:-1][self._times == self._most]
        members = self._order[(begins[:, None] + np.arange(self._most)).ravel()]
        return Top(n, int(self._places[members.min()]), self._most)

    def repeated(self) -> tuple[Ints, Ints]:
        """The keys that stand more than once, numbered anew from 0, and where they stand, in ascending order."""
        if self._most == 1:
            return self._order[:0], self._places[:0]
        many = np.flatnonzero(self._times > 1)
        times = self._times[many]
        numbered = np.full(len(self._order), -1)
        members = np.repeat(self._times > 1, self._times)
        numbered[self._order[members]] = np.repeat(np.arange(len(many)), times)
        kept = np.flatnonzero(numbered >= 0)
        return numbered[kept], self._places[kept]


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
        at_ends = self.ends[: int(np.searchsorted(self.ends, len(joined) - WINDOW, side="right"))]
        at_ends = at_ends[: len(lengths)]
        self._sums, behind = _sums_at(joined, self.ends, at_ends + WINDOW)
        self._shifts = _powers_at(_INVERSES, self.ends)
        self._may_be_long = np.zeros(len(lengths), np.bool_)
        windows = (behind - self._sums[: len(at_ends)]) * self._shifts[: len(at_ends)]
        self._may_be_long[: len(at_ends)] = _have_twins(windows)

    def repeated(self, sizes: Sequence[int]) -> Iterator[Ints]:
        """For each n, the tokens at which a run of n begins whose hash another run has, too, in order.

        All runs are sorted together; a run whose hash only one of another size has may be among them.
        """
        sums, shifts = self._sums, self._shifts
        found = [self._that_may_be(n) for n in sizes]
        hashes = [
            ((sums[n:] - sums[:-n]) * shifts[:-n])[places] + np.uint64(row * _BASE % 2**64)
            for row, (n, places) in enumerate(zip(sizes, found, strict=True))
        ]
        have_twins = _have_twins(np.concatenate(hashes)) if hashes else np.zeros(0, np.bool_)
        ends = list(accumulate(map(len, found)))
        return (places[have_twins[end - len(places) : end]] for places, end in zip(found, ends, strict=True))

    def _that_may_be(self, n: int) -> Ints:
        """The tokens at which a run of n begins that is short, or begins like another one."""
        if n >= len(self.ends):
            return np.zeros(0, np.int64)
        may_be = self.ends[n:] - self.ends[:-n] < WINDOW
        may_be |= self._may_be_long[: len(may_be)]
        return may_be.nonzero()[0]


def _have_twins(hashes: Hashes) -> npt.NDArray[np.bool_]:
    """Which of the numbers stand more than once."""
    order = np.argsort(hashes)
    ordered = hashes[order]
    twins = (ordered[1:] == ordered[:-1]).nonzero()[0]
    found = np.zeros(len(hashes), np.bool_)
    found[order[twins]] = found[order[twins + 1]] = True
    return found


BLOCK = 16_384
"""Characters hashed at once: what a text takes grows with its tokens, not with eight bytes for each character."""


def _sums_at(joined: str, *places: Ints) -> Iterator[Hashes]:
    """The polynomial hash (Karp and Rabin 1987) of what stands before each place, modulo 2^64. places: ascending."""
    found = [np.empty(len(each), np.uint64) for each in places]
    sums = np.zeros(min(len(joined), BLOCK) + 1, np.uint64)
    for start in range(0, len(joined) + 1, BLOCK):
        piece = joined[start : start + BLOCK].encode("utf-32-le", "surrogatepass")
        codes = np.frombuffer(piece, dtype="<u4").astype(np.uint64)
        codes *= _POWERS[: len(codes)]
        if start:
            codes *= _power(_BASE, start)
        np.cumsum(codes, out=sums[1 : len(codes) + 1])
        sums[1 : len(codes) + 1] += sums[0]
        for each, answers in zip(places, found, strict=True):
            first, last = np.searchsorted(each, (start, start + BLOCK))
            answers[first:last] = sums[each[first:last] - start]
        sums[0] = sums[len(codes)]
    return iter(found)


def _powers_at(powers: Hashes, places: Ints) -> Hashes:
    """The power that each place asks for; powers: the first `BLOCK` of a number. places: ascending."""
    if not len(places) or places[-1] < BLOCK:
        return powers[places]
    whole, rest = np.divmod(places, BLOCK)
    of_blocks = np.array([1, *_multiples(powers, int(whole[-1]))], np.uint64)
    found: Hashes = powers[rest] * of_blocks[whole]
    return found


def _multiples(powers: Hashes, count: int) -> Iterator[int]:
    step, value = int(powers[BLOCK - 1]) * int(powers[1]) % 2**64, 1
    for _ in range(count):
        value = value * step % 2**64
        yield value


def _power(base: int, exponent: int) -> np.uint64:
    return np.uint64(pow(base, exponent, 2**64))


def _first_powers(base: int) -> Hashes:
    factors = np.full(BLOCK, base, dtype=np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)


_POWERS, _INVERSES = _first_powers(_BASE), _first_powers(_INVERSE)
