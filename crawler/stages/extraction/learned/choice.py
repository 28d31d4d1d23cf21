"""The choice takes those blocks of a page that together promise the best F1, not all above one threshold.

On a page where every block is doubtful a fixed threshold takes all or nothing; the expected F1 weighs what a block adds
against what it may spoil (after Dembczyński et al., "An exact algorithm for F-measure maximization", 2011, with the
ratio of expectations in place of the expectation of the ratio).

Blocks are not independent: a whole grid of cards is main text or none of it is, and where one card was judged wrongly
all were. So what a choice promises is asked seven times, as if all log odds of the page were too high or too low by as
much (a random effect of the page), and the mean counts.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from crawler.stages.models.odds import CERTAIN, SCALE, probability

IMPOSSIBLE = -(1 << 40)
"""Log odds, in units of 1 / SCALE, of what is not to be chosen: it stands behind everything."""
SHIFTS = (-3, -2, -1, 0, 1, 2, 3)
"""Log odds by which all blocks of a page may be misjudged alike."""
LIKELY = (21, 39, 57, 65, 57, 39, 21)
"""How likely each shift is, in proportion: a normal distribution with a deviation of 2 (docs/extraction-model.md)."""


def choose(sums: NDArray[np.int64], words: NDArray[np.float64]) -> tuple[NDArray[np.bool_], float]:
    """Which blocks to keep, and the F1 that is expected of the page, 0 to 1.

    sums: log odds of the blocks in units of 1 / SCALE (ties go to what stands first on the page); words: how many each
    has.
    """
    kept = np.zeros(len(sums), np.bool_)
    if not len(sums):
        return kept, 0.0
    order, weight = _ranked(sums, words)
    shifted = sums + np.array(SHIFTS)[:, None] * SCALE
    mean = reduce(np.add, _expected(shifted, order, weight) * np.array(LIKELY)[:, None])
    best = int(np.argmax(mean))
    kept[order[: best + 1]] = True
    return kept, float(mean[best]) / sum(LIKELY)


def hoped(sums: NDArray[np.int64], words: NDArray[np.float64]) -> float:
    """The F1 that the best choice would have if blocks were independent, 0 to 1."""
    return float(_expected(sums, *_ranked(sums, words)).max()) if len(sums) else 0.0


def _ranked(sums: NDArray[np.int64], words: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.argsort(-sums, kind="stable"), (words * 2).astype(np.int64)


def _expected(sums: NDArray[np.int64], order: NDArray[np.int64], weight: NDArray[np.int64]) -> NDArray[np.float64]:
    """The F1 that is expected if the first block is kept, the first two and so on, in this order; of each row of sums.

    Odds that are all moved by as much keep their order.
    """
    hits = np.cumsum((probability(sums) * weight)[..., order], axis=-1)
    taken = np.cumsum(weight[order]) * CERTAIN
    return np.asarray(2.0 * hits / (taken + hits[..., -1:]))
