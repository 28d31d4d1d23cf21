"""A suffix array finds the runs of at least k tokens that stand more than once (`dataset substrings`).

Suffix array by libdivsufsort (Mori; `pydivsufsort`) over the tokens as big-endian bytes, common prefixes by Kasai et
al. 2001: linear, or nearly so, in the input. Suffixes that share k tokens lie side by side, so the occurrences of a
repeated run are a group of neighbours (Lee et al. 2022, "Deduplicating Training Data Makes Language Models Better").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Tokens = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Passage:
    """Tokens that stand `count` times. start: the first occurrence; all agree for `length` tokens, to both sides."""

    start: int
    length: int
    count: int


@dataclass(frozen=True, slots=True)
class Passages:
    """Columns of all passages of a text: first occurrence, tokens and occurrences of each."""

    starts: Ints
    lengths: Ints
    counts: Ints

    def __len__(self) -> int:
        return len(self.starts)


class Repeats:
    """The runs of `k` tokens that stand more than once. What must not be crossed has to be a token of its own.

    A group is all occurrences of one run: `positions` has them group by group, `counts` how many there are, `first`
    the first of each, `lengths` for how many tokens they agree.
    """

    def __init__(self, tokens: Tokens, k: int) -> None:
        self.k, self.tokens = k, tokens
        suffixes, alike = _suffixes_alike(tokens)
        same = alike >= k  # as the next suffix
        joined = same.copy()
        joined[1:] |= same[:-1]
        ranks = np.flatnonzero(joined)
        self.positions: Ints = suffixes[ranks].astype(np.int64)
        begins = np.ones(len(ranks), bool)
        begins[1:] = ~same[ranks[1:] - 1]
        self._starts: Ints = np.flatnonzero(begins)
        self.counts: Ints = np.diff(np.append(self._starts, len(ranks)))
        self.first = self._of_groups(np.minimum, self.positions)
        inner = np.where(same[ranks], alike[ranks], np.iinfo(alike.dtype).max)
        self.lengths = self._of_groups(np.minimum, inner)

    def covered(self) -> NDArray[np.bool_]:
        """For each token: is it part of a run that stands more than once?"""
        return _windows(self.positions, self.k, len(self.tokens))

    def surplus(self) -> NDArray[np.bool_]:
        """For each token: is it part of a run that stood before? The first occurrence stays, whole."""
        first = np.repeat(self.first, self.counts)
        return _windows(self.positions[self.positions >= first + self.k], self.k, len(self.tokens))

    def passages(self) -> Passages:
        """Every repeated passage once: groups that are not another group moved by one token."""
        lefts = np.where(self.positions > 0, self.tokens[self.positions - 1], -1)
        same_left = self._of_groups(np.minimum, lefts) == self._of_groups(np.maximum, lefts)
        group_at = np.full(len(self.tokens), -1, np.int32)
        group_at[self.positions] = np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)
        moved = same_left & (self.counts[group_at[self.first - 1]] == self.counts)
        return Passages(self.first[~moved], self.lengths[~moved], self.counts[~moved])

    def whole(self, start: int, length: int) -> Passage:
        """The passage that begins at `start`, extended to the left for as long as all its occurrences agree."""
        places = self.occurrences(start)
        left = 0
        while left < places[0] and len(set(self.tokens[places - left - 1].tolist())) == 1:
            left += 1
        return Passage(start - left, length + left, len(places))

    def occurrences(self, start: int) -> Ints:
        """Positions of all runs equal to the one that has its first occurrence at `start`, in order."""
        group = int(np.flatnonzero(self.first == start)[0])
        begin = self._starts[group]
        return np.sort(self.positions[begin : begin + self.counts[group]])

    def _of_groups(self, function: np.ufunc, values: NDArray[np.integer]) -> Ints:
        if not len(self._starts):
            return np.empty(0, np.int64)
        return np.asarray(function.reduceat(values, self._starts), np.int64)


def _suffixes_alike(tokens: Tokens) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """The suffix array, and for each suffix how many tokens it shares with the next one."""
    from pydivsufsort import kasai

    if len(tokens) < 2:
        return np.zeros(len(tokens), np.int32), np.zeros(len(tokens), np.int32)
    suffixes = _suffix_array(tokens)
    alike = kasai(tokens, suffixes)
    alike[-1] = 0
    return suffixes, alike


def _suffix_array(tokens: Tokens) -> NDArray[np.integer]:
    """Positions of the suffixes in their order. Tokens are from 0 up."""
    from pydivsufsort import divsufsort

    width = max(1, (int(tokens.max()).bit_length() + 7) // 8)
    as_bytes = tokens.astype(">u4").view(np.uint8).reshape(-1, 4)[:, 4 - width :]
    suffixes = divsufsort(np.ascontiguousarray(as_bytes).ravel())
    aligned: NDArray[np.integer] = suffixes[suffixes % width == 0]
    aligned //= width
    return aligned


def _windows(starts: Ints, k: int, size: int) -> NDArray[np.bool_]:
    """True for the k tokens from each of these starts on."""
    change = np.zeros(size + 1, np.int32)
    change[starts] += 1
    np.subtract.at(change, starts + k, 1)
    return np.asarray(np.cumsum(change[:-1]) > 0)
