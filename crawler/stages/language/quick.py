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
from itertools import accumulate
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
    """py3langid's identifier; only `classify` is replaced."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._next = np.frombuffer(self.tk_nextmove, dtype=np.uint32)
        self._base = np.array(self.tk_row, dtype=np.int64) << 8
        self._feature = np.array(self.tk_output, dtype=np.int32)
        every = np.arange(256)
        self._after_two = self._next[self._base[self._next[self._base[0] + every]][:, None] + every].ravel()
        """The state behind any two bytes."""
        self._first = np.zeros(len(self.nb_ptc), np.int32)
        """Where a feature stands first in the text that is counted; of other features something old."""

    def classify(self, text: str) -> tuple[str, float]:
        """The answer to one text."""
        return self.classify_all([text])[0]

    def classify_all(self, texts: Sequence[str]) -> list[tuple[str, float]]:
        """The answer to each text."""
        encoded = [self._encode(text) for text in texts]
        scores = self._scores(self._visited(encoded))
        scores *= np.array([[1.0 / math.sqrt(len(text) or 1)] for text in encoded], np.float32)
        np.exp(scores - scores.max(axis=1, keepdims=True), out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        for first, again in self._alias_pairs:
            scores[:, first] += scores[:, again]
            scores[:, again] = 0.0
        best = scores.argmax(axis=1).tolist()
        return [(self.nb_classes[at], float(row[at])) for row, at in zip(scores, best, strict=True)]

    def _scores(self, visited: Sequence[Ints]) -> Floats:
        """The sum of the weights of each text's features, each feature weighed once, however often it comes."""
        features, times = zip(*map(self._counted, visited), strict=True)
        weights, logs = single(self.nb_ptc.take(np.concatenate(features), axis=0)), np.log1p(np.concatenate(times))
        scores, end = np.empty((len(visited), weights.shape[1]), np.float32), 0
        for row, count in zip(scores, map(len, features), strict=True):
            begin, end = end, end + count
            if count:
                np.matmul(logs[begin:end], weights[begin:end], out=row)
                np.add(row, self.nb_pc, out=row)
            else:
                row[:] = self._raw_score(b"")
        return scores

    def _counted(self, features: Ints) -> tuple[Ints, Floats]:
        """Each feature once, in the order in which they come, which is the order of the sum; and how often."""
        places = np.arange(len(features), dtype=np.int32)
        self._first[features[::-1]] = places[::-1]  # of several the last value stays
        first = self._first.take(features)
        is_first = first == places
        return features[is_first], np.bincount(first)[is_first[: first.max(initial=-1) + 1]].astype(np.float32)

    def _visited(self, texts: Sequence[bytes]) -> list[Ints]:
        """The features of each text in their order: at each place those that the last bytes end.

        A byte that no text has stands before each: whatever was before it is forgotten.
        """
        letters = np.frombuffer(_APART * (DEPTH - 1) + _APART.join(texts) + _APART, dtype=np.uint8).astype(np.int64)
        count = len(letters) - DEPTH
        states = self._after_two.take((letters[:count] << 8) + letters[1 : count + 1])
        for place in range(2, DEPTH):
            at = self._base.take(states)
            at += letters[place : place + count]
            states = self._next.take(at)
        features = self._feature.take(states)
        ends = accumulate(len(text) + 1 for text in texts)
        parts = (features[end - 1 - len(text) : end - 1] for text, end in zip(texts, ends, strict=True))
        return [part[part >= 0] for part in parts]


def single(half: npt.NDArray[np.float16]) -> Floats:
    """Finite half-precision numbers in single precision, by their bits: twice as fast as `astype`."""
    bits = half.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= np.int32(~0x70000000)
    found = bits.view(np.float32)
    found *= _TO_SINGLE
    return found
