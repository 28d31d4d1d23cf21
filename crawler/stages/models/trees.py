"""Trees as arrays: symmetric ones, which numpy descends for all rows and all trees at once.

A symmetric tree asks the same question on every level, so a leaf's number is the answers read as bits: no branch, no
compiled library. Leaves are whole numbers, and sums of whole numbers do not depend on their order: every machine that
compares float32 as IEEE 754 says gets the same sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crawler.native import library
from crawler.native.models import NativeTrees

_CHUNK = 256
"""Rows that are descended at once."""


@dataclass(frozen=True)
class Trees:
    """Trees of one depth, padded: `feature` and `border` are (trees, depth), `leaves` (trees, 2 ** depth, outputs).

    The depth is 8 at most: a leaf's number is one byte while the answers are put together.
    """

    feature: NDArray[np.int16]
    border: NDArray[np.float32]
    leaves: NDArray[np.int32]
    bias: NDArray[np.int32]

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[np.int64]:
        """Sums of leaves, (rows, outputs), in units of 1 / SCALE."""
        if (native := library()) is not None and (sums := self._native(native, rows)) is not None:
            return sums
        parts = [self._descend(rows[i : i + _CHUNK]) for i in range(0, len(rows), _CHUNK)]
        return np.concatenate(parts or [np.zeros((0, len(self.bias)), np.int64)])

    @cached_property
    def _native(self) -> NativeTrees:
        feature, border, which = self._questions
        return NativeTrees(feature, border, which, self.leaves, self.bias)

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
