"""Texts as vectors of their words, weighted by how rare these are in the same corpus (tf-idf), and those that are near.

Salton and Buckley, "Term-weighting approaches in automatic text retrieval" (1988), with 1 + ln tf. Order does not
count, so a text whose sentences were moved about and whose words were thinned out stays near. Candidates share rare
words; of these the cosine is exact. The rows lie in a temporary file: memory holds 0.3 kB a text and one block.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import methodcaller
from types import TracebackType
from typing import Any, Self

import numpy as np
import xxhash
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crawler.stages.text.units import tokens
from crawler.stages.text.words import CJK_CHARS_A_WORD, SOUTH_EAST_CHARS_A_WORD

BITS = 25
"""Words are counted in two to the power of so many buckets; of a million words three in a hundred share one."""
RAREST = 30
"""Words of a text by which others are found: those that the fewest texts have."""
COMMON = 60
"""A word in more texts than this is not one of them."""
SHARED = 3
"""Of these words a candidate has so many, too."""
_AT_ONCE = 2_000_000
"""Meetings of two texts in a word that are looked at together."""
_PAIRS_AT_ONCE = 20_000
_MOST_TIMES = 2**16 - 1
_ENCODED = methodcaller("encode", "utf-8", "surrogatepass")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bar:
    """What a pair has to reach. share: of the different words of the text with fewer, the other has so many."""

    cosine: float
    share: float


@dataclass(frozen=True, slots=True)
class Near:
    """Texts by their number, first < second, and the cosine of their vectors, 0–1."""

    first: int
    second: int
    cosine: float


class Vectors:
    """Collects texts, then answers which are near. Use as a context: the temporary file goes at its end."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="tfidf-")  # noqa: SIM115  # closed with this
        self._texts = np.zeros(1 << BITS, np.uint32)  # by bucket: how many texts have it
        self._ends = [0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, text: str) -> None:
        """Take the next text; its number is how many were before."""
        buckets, times = _counted(text)
        self._texts[buckets] += 1
        row = np.empty((len(buckets), 2), np.uint32)
        row[:, 0], row[:, 1] = buckets, np.minimum(times, _MOST_TIMES)
        self._file.write(row.tobytes())
        self._ends.append(self._ends[-1] + len(buckets))

    def near(self, bars: Sequence[Bar]) -> Iterator[Near]:
        """Pairs that reach one of the bars, ordered by the second, then the first.

        A word that one text alone has is part of no vector, but counts for the share.
        """
        self._file.flush()
        size = self._ends[-1]
        if not size:
            return
        rows: NDArray[np.uint32] = np.memmap(self._file, np.uint32, "r", shape=(size, 2))
        for pairs in self._candidates(rows):
            for start in range(0, len(pairs), _PAIRS_AT_ONCE):
                yield from self._exact(rows, pairs[start : start + _PAIRS_AT_ONCE], bars)

    def _candidates(self, rows: NDArray[np.uint32]) -> Iterator[Ints]:
        """Pairs (first, second) that share enough rare words: shape (n, 2), ordered by the second, then the first."""
        buckets, numbers = self._rare(rows)
        order = np.lexsort((numbers, buckets))
        buckets, numbers = buckets[order], numbers[order]
        starts = np.flatnonzero(np.diff(buckets, prepend=-1))
        before = np.arange(len(buckets)) - np.repeat(starts, np.diff(starts, append=len(buckets)))
        entry = np.argsort(numbers, kind="stable")  # entries text by text, each with `before` texts of the same word
        meetings, texts = np.cumsum(before[entry]), numbers[entry]
        begin = 0
        while begin < len(entry):
            done = int(meetings[begin - 1]) if begin else 0
            end = int(np.searchsorted(meetings, done + _AT_ONCE, side="right"))
            end = max(end, begin + 1)
            end = int(np.searchsorted(texts, texts[end - 1], side="right"))  # a text is never cut in two
            yield _meeting(entry[begin:end], before, numbers)
            begin = end

    def _rare(self, rows: NDArray[np.uint32]) -> tuple[Ints, Ints]:
        """Buckets and texts' numbers of the rarest words of each text that another one has, too."""
        found, numbers = [], []
        for number, (start, end) in enumerate(zip(self._ends[:-1], self._ends[1:], strict=True)):
            buckets = rows[start:end, 0].astype(np.int64)
            times = self._texts[buckets]
            wanted = np.flatnonzero((times >= 2) & (times <= COMMON))
            rarest = buckets[wanted[np.argsort(times[wanted], kind="stable")[:RAREST]]]
            found.append(rarest)
            numbers.append(np.full(len(rarest), number, np.int64))
        return np.concatenate(found), np.concatenate(numbers)

    def _exact(self, rows: NDArray[np.uint32], pairs: Ints, bars: Sequence[Bar]) -> Iterator[Near]:
        if not len(pairs):
            return
        known, places = np.unique(pairs, return_inverse=True)
        places = places.reshape(pairs.shape)
        vectors, different = self._matrix(rows, known)
        one, two = (different[places[:, side]] for side in (0, 1))
        common = np.asarray((one.multiply(two)).sum(axis=1), np.float64).ravel()
        least = np.minimum(one.sum(axis=1), two.sum(axis=1))
        said = np.asarray(vectors[places[:, 0]].multiply(vectors[places[:, 1]]).sum(axis=1), np.float64).ravel()
        reached = np.zeros(len(pairs), np.bool_)
        for bar in bars:
            reached |= (said >= bar.cosine) & (common >= bar.share * least)
        for at in np.flatnonzero(reached).tolist():
            yield Near(int(pairs[at, 0]), int(pairs[at, 1]), float(said[at]))

    def _matrix(self, rows: NDArray[np.uint32], known: Ints) -> tuple[Any, Any]:
        """Vectors of length 1, and which words a text has: both (texts, buckets), sparse."""
        parts = [rows[self._ends[number] : self._ends[number + 1]] for number in known.tolist()]
        ends = np.cumsum([0, *map(len, parts)])
        joined = np.concatenate(parts)
        buckets = joined[:, 0].astype(np.int64)
        times = self._texts[buckets]
        rarity = np.log((1 + len(self)) / (1 + times)) + 1
        weights = np.where(times >= 2, (1 + np.log(joined[:, 1])) * rarity, 0.0)
        lengths = np.sqrt(np.add.reduceat(np.append(weights * weights, 0.0), ends[:-1]) * (np.diff(ends) > 0))
        weights /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(ends))
        shape = (len(known), 1 << BITS)
        return csr_array((weights, buckets, ends), shape), csr_array((np.ones(len(buckets)), buckets, ends), shape)


def _meeting(entry: Ints, before: Ints, numbers: Ints) -> Ints:
    """The pairs of some entries with the texts before them in the same word, where there are `SHARED` meetings."""
    counts = before[entry]
    seconds = np.repeat(entry, counts)
    steps = np.arange(len(seconds)) - np.repeat(np.cumsum(counts) - counts, counts)
    pairs = np.stack([numbers[seconds], numbers[seconds - 1 - steps]], axis=1)
    if not len(pairs):
        return pairs
    keys, times = np.unique(pairs[:, 0] * (numbers.max() + 1) + pairs[:, 1], return_counts=True)
    keys = keys[times >= SHARED]
    return np.stack([keys % (numbers.max() + 1), keys // (numbers.max() + 1)], axis=1)


def _counted(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The buckets of a text's words in ascending order, and how often it has each."""
    counts = Counter(_words(text))
    hashed = np.fromiter(map(xxhash.xxh3_64_intdigest, map(_ENCODED, counts)), np.uint64, len(counts))
    buckets = (hashed >> np.uint64(64 - BITS)).astype(np.int64)
    times = np.fromiter(counts.values(), np.int64, len(counts))
    found, places = np.unique(buckets, return_inverse=True)
    return found, np.bincount(places, times, len(found)).astype(np.int64)


def _words(text: str) -> Iterable[str]:
    """The words of a text; in scripts without spaces every run of characters that is as long as a word."""
    units, joiner, factor = tokens(text)
    if joiner or not units:
        return units
    size = CJK_CHARS_A_WORD if factor == 1 else SOUTH_EAST_CHARS_A_WORD
    joined = "".join(units)
    return (joined[at : at + size] for at in range(max(1, len(joined) - size + 1)))
