"""A public model of fastText, scored as the library scores it, from arrays that were checked once (`classify import`).

After fastText's source (facebookresearch/fastText, `dictionary.cc`, `loss.cc`, MIT): words and runs of words, and of
the word's own letters, are rows of a matrix; their mean decides. For two classes the matrix is one number a row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import xxhash
from numpy.typing import NDArray

EOS = "</s>"
LABEL = "__label__"
DIGITS = 6
"""Of a score: what lies behind depends on the library that adds."""
_SPACE = re.compile("[ \n\r\t\v\f\0]+")
_RUN, _FNV, _PRIME, _32 = 116049371, 2166136261, 16777619, 0xFFFFFFFF
_MOST_CACHED = 1 << 16


def fnv(data: bytes) -> int:
    """FNV-1a of 32 bits as fastText has it: bytes from 128 on are negative."""
    found = _FNV
    for one in data:
        found = ((found ^ (one if one < 128 else one | 0xFFFFFF00)) * _PRIME) & _32
    return found


def key(word: bytes) -> int:
    """Stands for a word of the dictionary."""
    return xxhash.xxh3_64_intdigest(word)


@dataclass(frozen=True)
class FastText:
    """words: keys in ascending order; word_rows: the row of each, −1 for a label; rows (n, d).

    out (k, d): of `wanted` ≥ 0 an output a label, by softmax; −1: outputs that the way to one label takes, whose
    probabilities are multiplied. pruned: bucket to row behind the words, −1 for none; empty where none was taken out.
    numbers: runs of words, buckets, shortest and longest run of letters, words, wanted.
    """

    words: NDArray[np.uint64]
    word_rows: NDArray[np.int32]
    rows: NDArray[np.float32]
    out: NDArray[np.float32]
    pruned: NDArray[np.int32]
    numbers: NDArray[np.int64]
    _known: dict[str, tuple[tuple[int, ...], int | None]] = field(default_factory=dict, init=False, compare=False)

    def score(self, text: str) -> float:
        """Probability of the label that was asked for, 0–1."""
        rows = self._rows_of(text)
        if not len(rows):
            return 0.0
        odds = self.out.astype(np.float64) @ self.rows[rows].astype(np.float64).mean(0)
        wanted = int(self.numbers[5])
        if wanted < 0:
            return round(math.prod(0.5 * (1.0 + math.tanh(0.5 * one)) for one in odds.tolist()), DIGITS)
        parts = np.exp(odds - odds.max())
        return round(float(parts[wanted] / parts.sum()), DIGITS)

    @cached_property
    def _index(self) -> dict[int, int]:
        return dict(zip(self.words.tolist(), self.word_rows.tolist(), strict=True))

    def _rows_of(self, text: str) -> NDArray[np.int64]:
        longest, buckets, words = int(self.numbers[0]), int(self.numbers[1]), int(self.numbers[4])
        found, hashes = list[int](), list[int]()
        for word in self._tokens(text):
            rows, hashed = self._word(word)
            found += rows
            if hashed is not None:
                hashes.append(hashed)
        if longest < 2 or not buckets:
            return np.array(found, np.int64)
        whole = run = np.array(hashes, np.int64).astype(np.uint64)
        every = []
        with np.errstate(over="ignore"):
            for size in range(1, longest):
                run = run[:-1] * np.uint64(_RUN) + whole[size:]
                every.append((run % np.uint64(buckets)).astype(np.int64))
        places = np.concatenate(every)
        if len(self.pruned):
            places = self.pruned[places].astype(np.int64)
            places = places[places >= 0]
        return np.concatenate([np.array(found, np.int64), places + words])

    @staticmethod
    def _tokens(text: str) -> Iterator[str]:
        """The words of one line, and its end; line breaks are spaces, as the library wants them."""
        for word in _SPACE.split(text):
            if word == EOS:
                break
            if word:
                yield word
        yield EOS

    def _word(self, word: str) -> tuple[tuple[int, ...], int | None]:
        """Rows of a word and its hash as a signed number of 32 bits, none of a label; remembered, up to a limit.

        The dictionary says what is a label (they may have had another mark in training); of the rest the mark does.
        """
        if word not in self._known:
            if len(self._known) >= _MOST_CACHED:
                self._known.clear()
            data = word.encode("utf-8", "replace")
            row, hashed = self._index.get(key(data)), fnv(data)
            if row == -1 or (row is None and word.startswith(LABEL)):
                self._known[word] = (), None
                return self._known[word]
            own = () if row is None else (row,)
            parts = () if word == EOS or self.numbers[3] <= 0 else tuple(self._letters(b"<" + data + b">"))
            self._known[word] = own + parts, hashed - (1 << 32) if hashed >= 1 << 31 else hashed
        return self._known[word]

    def _letters(self, data: bytes) -> Iterator[int]:
        """Rows of the runs of letters in a word that stands between < and >."""
        buckets, shortest, longest, words = (int(one) for one in self.numbers[1:5])
        starts = [at for at, one in enumerate(data) if one & 0xC0 != 0x80]
        ends = [*starts[1:], len(data)]
        for at, start in enumerate(starts):
            for size in range(shortest, min(longest, len(starts) - at) + 1):
                end = ends[at + size - 1]
                if size == 1 and (start == 0 or end == len(data)):
                    continue
                place = fnv(data[start:end]) % buckets
                row = int(self.pruned[place]) if len(self.pruned) else place
                if row >= 0:
                    yield words + row
