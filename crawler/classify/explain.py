"""Explain says exactly why a text has its score: a linear model is a sum, and each word of the text has its part in it.

Words are found again by hashing those of the text; where two share a bucket, both names stand on that part.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crawler.stages.classify.model import Weights
from crawler.stages.classify.words import features, hashed, words

RULES = 0.3
"""Share of the sum from which one feature rules a verdict."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one feature adds to the log odds, and its share of everything that was added or taken, 0–1."""

    names: tuple[str, ...]
    adds: float
    share: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """score: probability; odds: the sum of bias and parts. parts: the largest first."""

    score: float
    odds: float
    bias: float
    parts: list[Part]


def explain(weights: Weights, text: str, most: int = 20) -> Explanation:
    """The largest parts of a text's score."""
    places, adds = _adds(weights, text)
    whole = float(np.abs(adds).sum()) or 1.0
    names = _names(weights, text)
    order = np.argsort(-np.abs(adds), kind="stable")[:most]
    parts = [
        Part(tuple(names[int(places[at])]), float(adds[at]), float(abs(adds[at])) / whole) for at in order.tolist()
    ]
    return Explanation(weights.score(text), weights.odds(text), float(weights.bias[0]), parts)


def pulls(weights: Weights, texts: Sequence[str], most: int = 15) -> tuple[list[str], list[str]]:
    """The words and pairs that pulled most over all these texts: towards keeping, towards rejecting."""
    sums: NDArray[np.float64] = np.zeros(len(weights.weights))
    for text in texts:
        places, adds = _adds(weights, text)
        sums[places] += adds
    order = np.argsort(sums, kind="stable")
    ends = [int(one) for one in (*order[:most], *order[-most:]) if sums[one]]
    wanted: dict[int, str] = {}
    for text in texts:
        if len(wanted) == len({*ends}):
            break
        names = _names(weights, text)
        wanted |= {one: names[one][0] for one in ends if one not in wanted and one in names}
    keep = [wanted[one] for one in reversed(ends) if sums[one] > 0 and one in wanted]
    return keep, [wanted[one] for one in ends if sums[one] < 0 and one in wanted]


def dominance(weights: Weights, texts: Sequence[str]) -> tuple[float, float]:
    """The mean share of a text's strongest feature, and the share of texts in which one has more than `RULES`."""
    shares = []
    for text in texts:
        adds = np.abs(_adds(weights, text)[1])
        whole = float(adds.sum())
        shares.append(float(adds.max()) / whole if whole else 0.0)
    found = np.array(shares or [0.0])
    return float(found.mean()), float((found > RULES).mean())


def _adds(weights: Weights, text: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    places, values = features(text, weights.bits)
    if not len(places):
        return places, np.zeros(0)
    length = math.sqrt(int((values * values).sum()))
    adds = weights.weights[places].astype(np.float64) * values * (float(weights.unit[0]) / length)
    return places, np.asarray(adds, np.float64)


def _names(weights: Weights, text: str) -> dict[int, list[str]]:
    found = words(text)
    every = [*found, *(f"{one} {other}" for one, other in pairwise(found))]
    names: dict[int, list[str]] = defaultdict(list)
    for place, name in zip(hashed(found, weights.bits).tolist(), every, strict=True):
        if name not in names[place]:
            names[place].append(name)
    return names
