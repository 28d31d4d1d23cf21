"""Units of every model's answers: log odds and probabilities as whole numbers, so that no sum depends on its order."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

SCALE = 1 << 12
"""Steps of one unit of log odds."""
CERTAIN = 1 << 12
"""A probability's unit: 4,096 are certainty."""
_RANGE = 8
_STEP = 16


def _logistic() -> NDArray[np.int64]:
    """Probability of every step of log odds between −8 and 8, rounded to 1 / CERTAIN."""
    steps = range(-_RANGE * SCALE // _STEP, _RANGE * SCALE // _STEP + 1)
    return np.array([round(CERTAIN / (1.0 + math.exp(-step * _STEP / SCALE))) for step in steps], np.int64)


_LOGISTIC = _logistic()


def probability(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Probabilities in units of 1 / CERTAIN of log odds in units of 1 / SCALE."""
    return np.asarray(_LOGISTIC[np.clip(sums // _STEP + len(_LOGISTIC) // 2, 0, len(_LOGISTIC) - 1)])
