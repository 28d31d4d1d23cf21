"""The forest is the model as arrays: symmetric trees that numpy descends for all blocks and all trees at once.

A symmetric tree asks the same question on every level, so a leaf's number is the answers read as bits: no branch, no
compiled library. Leaves are whole numbers, and sums of whole numbers do not depend on their order: every machine that
compares float32 as IEEE 754 says gets the same sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

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
_CHUNK = 256


@dataclass(frozen=True)
class Forest:
    """Trees of one depth, padded: `feature` and `border` are (trees, depth), `leaves` (trees, 2 ** depth, outputs).

    The depth is 8 at most: a leaf's number is one byte while the answers are put together.
    """

    feature: NDArray[np.int16]
    border: NDArray[np.float32]
    leaves: NDArray[np.int32]
    bias: NDArray[np.int32]

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[np.int64]:
        """Sums of leaves, (rows, outputs), in units of 1 / SCALE."""
        parts = [self._descend(rows[i : i + _CHUNK]) for i in range(0, len(rows), _CHUNK)]
        return np.concatenate(parts or [np.zeros((0, len(self.bias)), np.int64)])

    @cached_property
    def _questions(self) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
        """Feature and border of every question that any tree asks, once each; which of them, (depth, trees)."""
        pairs, which = np.unique(
            np.stack([self.feature.ravel(), self.border.ravel()], 1).astype(np.float64), axis=0, return_inverse=True
        )
        which = np.ascontiguousarray(which.reshape(self.feature.shape).T)
        return pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.float32)[:, None], which

    def _descend(self, rows: NDArray[np.float32]) -> NDArray[np.int64]:
        trees, depth = self.feature.shape
        feature, border, which = self._questions
        answers = (np.ascontiguousarray(rows.T).take(feature, axis=0) > border).view(np.uint8)
        leaf = answers.take(which[depth - 1], axis=0)
        for level in range(depth - 2, -1, -1):
            leaf += leaf
            leaf |= answers.take(which[level], axis=0)
        place = leaf + np.arange(0, trees << depth, 1 << depth)[:, None]
        leaves = self.leaves.reshape(trees << depth, -1).take(place, axis=0)
        return np.asarray(leaves.sum(0, dtype=np.int64) + self.bias, np.int64)


def _logistic() -> NDArray[np.int64]:
    """Probability of every step of log odds between −8 and 8, rounded to 1 / CERTAIN."""
    steps = range(-_RANGE * SCALE // _STEP, _RANGE * SCALE // _STEP + 1)
    return np.array([round(CERTAIN / (1.0 + math.exp(-step * _STEP / SCALE))) for step in steps], np.int64)


_LOGISTIC = _logistic()


def probability(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Probabilities of log odds, both whole numbers of their units."""
    return np.asarray(_LOGISTIC[np.clip(sums // _STEP + len(_LOGISTIC) // 2, 0, len(_LOGISTIC) - 1)])
