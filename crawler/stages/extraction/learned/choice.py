"""The choice takes those blocks of a page that together promise the best F1, not all above one threshold.

On a page where every block is doubtful a fixed threshold takes all or nothing; the expected F1 weighs what a block adds
against what it may spoil (after Dembczyński et al., "An exact algorithm for F-measure maximization", 2011, with the
ratio of expectations in place of the expectation of the ratio).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.forest import CERTAIN


def choose(
    chances: NDArray[np.int64], order: NDArray[np.int64], words: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], float]:
    """Which blocks to keep, and the F1 that is expected of them, 0 to 1.

    chances: probability of each block in units of 1 / CERTAIN; order: what ranks them (ties by place on the page);
    words: how many each has.
    """
    kept = np.zeros(len(chances), np.bool_)
    if not len(chances):
        return kept, 0.0
    weight = (words * 2).astype(np.int64)
    ranked = np.argsort(-order, kind="stable")
    hits = np.cumsum((chances * weight)[ranked])
    taken = np.cumsum(weight[ranked]) * CERTAIN
    expected = 2.0 * hits / (taken + hits[-1])
    best = int(np.argmax(expected))
    kept[ranked[: best + 1]] = True
    return kept, float(expected[best])
