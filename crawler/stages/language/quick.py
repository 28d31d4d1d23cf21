"""py3langid's answers, to the last bit, in two thirds of its time.

It walks a text byte by byte and multiplies half-precision numbers. Its state depends on the last `DEPTH` bytes alone
(`tests/stages/language/test_language_quick.py` proves it of the installed model), so all places of a text, and of
several texts, are walked at once; and numpy converts half precision slowly. Another release of py3langid runs as it is.
"""

from __future__ import annotations

from collections import Counter
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
_TO_SINGLE = np.float32(2.0**112)
"""The biases of the exponents differ by so much."""

Floats = npt.NDArray[np.float32]


def py3langid() -> Any:
    """The identifier with the model inside the package and normalised probabilities: one for all of a process."""
    return _loaded(QuickIdentifier if version("py3langid") == RELEASE else LanguageIdentifier)


@cache
def _loaded(kind: Any) -> Any:
    return kind.from_model_file(MODEL_FILE, norm_probs=True)


class QuickIdentifier(LanguageIdentifier):  # type: ignore[misc]  # py3langid is untyped
    """py3langid's identifier; only what counts the features and weighs them is replaced."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._next = np.frombuffer(self.tk_nextmove, dtype=np.uint32)
        self._base = np.array(self.tk_row, dtype=np.int64) << 8
        self._feature = np.array(self.tk_output, dtype=np.int32)
        self._ahead: dict[bytes, list[int]] = {}

    def classify_all(self, texts: Sequence[str]) -> list[tuple[str, float]]:
        """The answer to each text."""
        encoded = [self._encode(text) for text in texts]
        self._ahead = dict(zip(encoded, self._visited(encoded), strict=True))
        try:
            return [self.classify(text) for text in texts]
        finally:
            self._ahead = {}

    def _raw_score(self, text: bytes) -> Floats:
        visited = self._ahead[text] if text in self._ahead else self._visited([text])[0]
        counts = Counter(visited)
        if not counts:
            nothing: Floats = super()._raw_score(b"")
            return nothing
        times = np.fromiter(counts.values(), dtype=np.float32, count=len(counts))
        features = np.fromiter(counts, dtype=np.int64, count=len(counts))
        scores: Floats = np.log1p(times) @ single(self.nb_ptc.take(features, axis=0)) + self.nb_pc
        return scores

    def _visited(self, texts: Sequence[bytes]) -> list[list[int]]:
        """The features of each text in their order: at each place those that the last bytes end."""
        letters = np.frombuffer(b"".join(texts), dtype=np.uint8).astype(np.int64)
        ends = list(accumulate(map(len, texts)))
        states = np.zeros(len(letters), dtype=np.uint32)
        for back in range(min(DEPTH, len(letters)) - 1, -1, -1):
            at = self._base.take(states[back:])
            at += letters[: len(letters) - back]
            states[back:] = self._next.take(at)
            for end in ends[:-1]:  # where the next text begins: it has no bytes before it
                states[end : end + back] = 0
        features = self._feature.take(states)
        return [part[part >= 0].tolist() for part in np.split(features, ends[:-1])]


def single(half: npt.NDArray[np.float16]) -> Floats:
    """Finite half-precision numbers in single precision, by their bits: twice as fast as `astype`."""
    bits = half.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= np.int32(~0x70000000)
    found = bits.view(np.float32)
    found *= _TO_SINGLE
    return found
