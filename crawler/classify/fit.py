"""The fit is logistic regression with an L2 penalty, found by L-BFGS without a library that adds in threads.

A BLAS library sums in an order that depends on the number of threads, and the last bits then decide where the search
ends. Here sums are numpy's own (pairwise) and SciPy's products of sparse matrices, which are made by one thread: the
same labels give the same weights, bit by bit.

L-BFGS: Nocedal and Wright, "Numerical Optimization" (2006), algorithm 7.4, with a backtracking line search. Calibration
is Platt's ("Probabilistic outputs for support vector machines", 1999).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Matrix = Any
"""scipy.sparse.csr_array of float64: a row a text."""

STEPS = 200
_MEMORY = 10
_ENOUGH = 1e-4
_HALVINGS = 30


def fit(rows: Matrix, goal: Floats, weight: Floats, c: float, start: Floats | None = None) -> Floats:
    """Weights of the columns and, last, the bias.

    goal: share of judges that keep, 0–1; weight: how much each row counts; c: strength of the data against the penalty
    (small c: small weights); start: weights to begin with.
    """
    columns = rows.T.tocsr()

    def loss(at: Floats) -> tuple[float, Floats]:
        odds = rows @ at[:-1] + at[-1]
        apart = c * weight * (_sigmoid(odds) - goal)
        value = c * float((weight * (np.logaddexp(0.0, odds) - goal * odds)).sum()) + 0.5 * _dot(at[:-1], at[:-1])
        return value, np.concatenate([columns @ apart + at[:-1], [apart.sum()]])

    return minimum(loss, np.zeros(rows.shape[1] + 1) if start is None else start)


def minimum(loss: Callable[[Floats], tuple[float, Floats]], at: Floats) -> Floats:
    """Where a smooth convex function is smallest: it answers value and gradient."""
    value, slope = loss(at)
    limit = _ENOUGH * max(1.0, float(np.abs(slope).max()))
    past: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    for _ in range(STEPS):
        if float(np.abs(slope).max()) <= limit:
            break
        way = _direction(slope, past)
        steep, length = _dot(way, slope), 1.0 if past else 1.0 / max(1.0, float(np.sqrt(_dot(slope, slope))))
        for _ in range(_HALVINGS):
            there, found = at + length * way, loss(at + length * way)
            if found[0] <= value + 1e-4 * length * steep:
                break
            length /= 2
        else:
            break
        step, turn = there - at, found[1] - slope
        curve = _dot(step, turn)
        if curve > 1e-12:
            past.append((step, turn, 1.0 / curve))
        at, (value, slope) = there, found
    return at


def _direction(slope: Floats, past: deque[tuple[Floats, Floats, float]]) -> Floats:
    way, shares = -slope, []
    for step, turn, ratio in reversed(past):
        share = ratio * _dot(step, way)
        shares.append(share)
        way = way - share * turn
    if past:
        step, turn, _ = past[-1]
        way = way * (_dot(step, turn) / _dot(turn, turn))
    for (step, turn, ratio), share in zip(past, reversed(shares), strict=True):
        way = way + (share - ratio * _dot(turn, way)) * step
    return way


def calibration(odds: Floats, goal: Floats, weight: Floats) -> tuple[float, float]:
    """Slope and shift that turn log odds into those of the labels: a and b of a · odds + b.

    With as much weight on the middle as two labels have, so that labels without a mistake give no infinite slope.
    """

    def loss(at: Floats) -> tuple[float, Floats]:
        z = at[0] * odds + at[1]
        apart = weight * (_sigmoid(z) - soft)
        value = float((weight * (np.logaddexp(0.0, z) - soft * z)).sum())
        return value, np.array([(apart * odds).sum(), apart.sum()])

    good, bad = float((weight * goal).sum()), float((weight * (1 - goal)).sum())
    soft = goal * (good + 1) / (good + 2) + (1 - goal) / (bad + 2)
    slope, shift = minimum(loss, np.array([1.0, 0.0])).tolist()
    return (slope, shift) if slope > 0 else (1e-3, shift)  # a model that is worse than chance is not turned around


def _dot(a: Floats, b: Floats) -> float:
    return float((a * b).sum())


def _sigmoid(odds: Floats) -> Floats:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * odds)))
