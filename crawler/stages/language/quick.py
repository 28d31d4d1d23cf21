"""py3langid's answers, to the last bit, in a third of its time.

It walks a text byte by byte and multiplies half-precision numbers. Its state depends on the last `DEPTH` bytes alone
(`tests/stages/language/test_language_quick.py` proves it of the installed model), so all places of a text, and of
several texts, are walked at once; and numpy converts half precision slowly. Another release of py3langid runs as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from py3langid.langid import MODEL_FILE, LanguageIdentifier

DEPTH = 6
"""Bytes of the longest feature of the model."""
RELEASE = "0.4.0"
"""Whose inner workings this module has."""
_APART = b"\xff"
"""No text has this byte, and no feature: it leads from every state to the first."""
_TO_SINGLE = np.float32(2.0**112)
"""The biases of the exponents differ by so much."""

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.integer[Any]]


def py3langid() -> Any:
    """The identifier with the model inside the package and normalised probabilities: one for all of a process."""
    return _loaded(QuickIdentifier if version("py3langid") == RELEASE else LanguageIdentifier)


@cache
def _loaded(kind: Any) -> Any:
    return kind.from_model_file(MODEL_FILE, norm_probs=True)


class QuickIdentifier(LanguageIdentifier):  # type: ignore[misc]  # py3langid is untyped
    """py3langid's identifier; only `classify` is replaced. For one thread: its buffers are written for every text."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._next = np.frombuffer(self.tk_nextmove, dtype=np.uint32)
        self._base = np.array(self.tk_row, dtype=np.int64) << 8
        self._feature = np.array(self.tk_output, dtype=np.int32)
        every = np.arange(256)
        self._after_two = self._next[self._base[self._next[self._base[0] + every]][:, None] + every].ravel()
        """The state behind any two bytes."""
        self._first = np.zeros(len(self.nb_ptc), np.int32)
        """Where a feature stands first in a text that is counted; of other features something old. Grows by texts."""
        self._weights = _Rows(self.nb_ptc)

    def classify(self, text: str) -> tuple[str, float]:
        """The answer to one text."""
        return self.classify_all([text])[0]

    def classify_all(self, texts: Sequence[str]) -> list[tuple[str, float]]:
        """The answer to each text."""
        scores = self.probabilities(texts)
        best = scores.argmax(axis=1).tolist()
        return [(self.nb_classes[at], float(row[at])) for row, at in zip(scores, best, strict=True)]

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """A row for each text, in the order of `nb_classes`."""
        encoded = [self._encode(text) for text in texts]
        scores = self._scores(*self._counted(*self._visited(encoded), len(encoded)))
        scores *= np.array([[1.0 / math.sqrt(len(text) or 1)] for text in encoded], np.float32)
        np.exp(scores - scores.max(axis=1, keepdims=True), out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        for first, again in self._alias_pairs:
            scores[:, first] += scores[:, again]
            scores[:, again] = 0.0
        return scores

    def _scores(self, features: Ints, times: Floats, counts: Sequence[int]) -> Floats:
        """The sum of the weights of each text's features, each feature weighed once, however often it comes.

        counts: features of each text; they stand behind each other.
        """
        weights, logs = self._weights.take(features), np.log1p(times)
        logs *= _TO_SINGLE
        scores, end = np.empty((len(counts), weights.shape[1]), np.float32), 0
        for row, count in zip(scores, counts, strict=True):
            begin, end = end, end + count
            if count:
                np.matmul(logs[begin:end], weights[begin:end], out=row)
                np.add(row, self.nb_pc, out=row)
            else:
                row[:] = self._raw_score(b"")
        return scores

    def _counted(self, features: Ints, texts: Ints, count: int) -> tuple[Ints, Floats, list[int]]:
        """Each feature of a text once, in the order in which they come, which is that of the sum; how often; how many.

        texts: the number of the text in which a feature stands, of `count` texts; in order.
        """
        if len(self._first) < count * len(self.nb_ptc):
            self._first = np.zeros(count * len(self.nb_ptc), np.int32)
        places = np.arange(len(features), dtype=np.int32)
        keys = features + texts * len(self.nb_ptc)
        self._first[keys[::-1]] = places[::-1]  # of several the last value stays
        first = self._first.take(keys)
        is_first = first == places
        times = np.bincount(first)[is_first[: first.max(initial=-1) + 1]].astype(np.float32)
        return features[is_first], times, np.bincount(texts[is_first], minlength=count).tolist()

    def _visited(self, texts: Sequence[bytes]) -> tuple[Ints, Ints]:
        """The features of all texts in their order, at each place those that the last bytes end; the texts in which.

        A byte that no text has stands before each: whatever was before it is forgotten, and it ends no feature.
        """
        letters = np.frombuffer(_APART * (DEPTH - 1) + _APART.join(texts) + _APART, dtype=np.uint8).astype(np.int64)
        count = len(letters) - DEPTH
        states = self._after_two.take((letters[:count] << 8) + letters[1 : count + 1])
        for place in range(2, DEPTH):
            at = self._base.take(states)
            at += letters[place : place + count]
            states = self._next.take(at)
        features = self._feature.take(states)
        found = np.flatnonzero(features >= 0)
        ends = np.cumsum([len(text) + 1 for text in texts])
        return features.take(found).astype(np.int64), np.searchsorted(ends, found, side="right")


class _Rows:
    """Rows of half-precision numbers in single precision, by their bits, but smaller by the factor `_TO_SINGLE`.

    A float's exponent is biased by 112 more than a half's, and has its place to the left of it: moving the bits is a
    tenth of the work of `astype`. Both buffers are kept, because fresh memory for each text costs as much again.
    """

    def __init__(self, half: npt.NDArray[np.float16]) -> None:
        self._bits = half.view(np.int16)
        self._some = np.empty((0, half.shape[1]), np.int16)
        self._wide = np.empty((0, half.shape[1]), np.int32)

    def take(self, rows: Ints) -> Floats:
        """The numbers of these rows; valid until the next call."""
        if len(self._some) < len(rows):
            size = 1 << len(rows).bit_length(), self._some.shape[1]
            self._some, self._wide = np.empty(size, np.int16), np.empty(size, np.int32)
        some, wide = self._some[: len(rows)], self._wide[: len(rows)]
        self._bits.take(rows, axis=0, out=some, mode="clip")
        wide[:] = some
        wide <<= 13
        wide &= np.int32(~0x70000000)  # the sign was drawn out over these
        return wide.view(np.float32)
