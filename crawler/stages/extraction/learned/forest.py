"""The forest is the model as arrays: symmetric trees that numpy descends for all blocks and all trees at once.

A symmetric tree asks the same question on every level, so a leaf's number is the answers read as bits: no branch, no
compiled library. Leaves are whole numbers, and sums of whole numbers do not depend on their order: every machine that
compares float32 as IEEE 754 says gets the same sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SCALE = 1 << 12
"""A leaf's unit: 4,096 are one unit of log odds."""
CERTAIN = 1 << 12
"""A probability's unit: 4,096 are certainty."""
IMPOSSIBLE = -(1 << 40)
"""Log odds, in units of 1 / SCALE, of what is not to be chosen: it stands behind everything."""
_RANGE = 8
_STEP = 16
_CHUNK = 1_024


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees of one depth, padded: `feature` and `border` are (trees, depth), `leaves` (trees, 2 ** depth, outputs)."""

    feature: NDArray[np.int16]
    border: NDArray[np.float32]
    leaves: NDArray[np.int32]
    bias: NDArray[np.int32]

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[np.int64]:
        """Sums of leaves, (rows, outputs), in units of 1 / SCALE."""
        parts = [self._descend(rows[i : i + _CHUNK]) for i in range(0, len(rows), _CHUNK)]
        return np.concatenate(parts or [np.zeros((0, len(self.bias)), np.int64)])

    def _descend(self, rows: NDArray[np.float32]) -> NDArray[np.int64]:
        trees, depth = self.feature.shape
        columns = np.ascontiguousarray(rows.T)
        leaf = np.zeros((trees, len(rows)), np.int32)
        for level in range(depth):
            leaf |= (columns[self.feature[:, level]] > self.border[:, level, None]).astype(np.int32) << level
        leaf += np.arange(0, trees << depth, 1 << depth, dtype=np.int32)[:, None]
        flat = self.leaves.reshape(trees << depth, -1)
        sums = [np.take(flat[:, k], leaf).sum(0, dtype=np.int64) for k in range(flat.shape[1])]
        return np.asarray(np.stack(sums, 1) + self.bias, np.int64)


def _logistic() -> NDArray[np.int64]:
    """Probability of every step of log odds between −8 and 8, rounded to 1 / CERTAIN."""
    steps = range(-_RANGE * SCALE // _STEP, _RANGE * SCALE // _STEP + 1)
    return np.array([round(CERTAIN / (1.0 + math.exp(-step * _STEP / SCALE))) for step in steps], np.int64)


_LOGISTIC = _logistic()


def probability(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Probabilities of log odds, both whole numbers of their units."""
    return np.asarray(_LOGISTIC[np.clip(sums // _STEP + len(_LOGISTIC) // 2, 0, len(_LOGISTIC) - 1)])
