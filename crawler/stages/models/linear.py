"""A linear model adds the weights of a text's hashed words: a classifier of texts that costs a look-up a word.

After Joulin et al., "Bag of tricks for efficient text classification" (2016): words and runs of words fall into a fixed
number of buckets, and the mean of their weights is the answer. Weights are whole numbers, so that no sum depends on its
order and every machine gets the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray


@dataclass(frozen=True)
class Linear:
    """Weights (buckets, outputs) and bias (outputs,) in units of 1 / SCALE; `runs` (1,): words of the longest run."""

    weights: NDArray[np.int32]
    bias: NDArray[np.int32]
    runs: NDArray[np.int32]

    def __call__(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Log odds, (outputs,), in units of 1 / SCALE; the bias alone for a text without words."""
        places = buckets(words, int(self.runs[0]), len(self.weights))
        sums = self.weights.take(places, axis=0).sum(0, dtype=np.int64)
        return np.asarray(sums // max(len(places), 1) + self.bias, np.int64)


def buckets(words: Sequence[str], longest: int, size: int) -> NDArray[np.int64]:
    """The buckets, 0 to size − 1, of all runs of 1 to `longest` words, each as often as it stands in the text."""
    runs = (" ".join(words[i : i + n]) for n in range(1, longest + 1) for i in range(len(words) - n + 1))
    return np.array([xxhash.xxh3_64_intdigest(run.encode("utf-8", "surrogatepass")) % size for run in runs], np.int64)
