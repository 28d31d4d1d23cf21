"""The difference of two sides in bits a byte, with an interval that covers other pages and other held-out texts.

Its variance has two parts: that between seeds, which have no page in common, and that between held-out texts of
different sites (ratio estimator). Student's t with the degrees of freedom of Welch and Satterthwaite makes an interval
of it, because five seeds say little about their own spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

LEVEL = 0.95
BETTER, WORSE, EQUAL = "better", "worse", "not separable"
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """Bits a byte, side minus the one it is compared with: above 0 is worse. low, high: the ends of the interval."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Whether 0 lies outside of the interval."""
        return WORSE if self.low > 0 else BETTER if self.high < 0 else EQUAL

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class Held:
    """Held-out texts of one kind: their places among all, their bytes, and the number of the site of each."""

    places: NDArray[np.int64]
    sizes: Floats
    sites: NDArray[np.int64]


def difference(one: Floats, other: Floats, kinds: Sequence[Held]) -> Difference:
    """`one` minus `other`, each seeds × texts in bits; kinds count alike, whatever their size. At least two seeds."""
    more = one - other
    by_seed = np.mean([more[:, kind.places].sum(axis=1) / kind.sizes.sum() for kind in kinds], axis=0)
    seeds = len(by_seed)
    mean, many = more.mean(axis=0), len(kinds) ** 2
    parts = [(float(np.var(by_seed, ddof=1)) / seeds, seeds - 1)]
    parts += [(_of_texts(mean[kind.places], kind) / many, len(set(kind.sites)) - 1) for kind in kinds]
    value, variance = float(by_seed.mean()), math.fsum(part for part, _ in parts)
    weight = math.fsum(part**2 / max(free, 1) for part, free in parts)
    if variance == 0.0 or weight == 0.0:
        return Difference(value, value, value)
    half = float(stdtrit(variance**2 / weight, (1 + LEVEL) / 2)) * math.sqrt(variance)
    return Difference(value, value - half, value + half)


def _of_texts(more: Floats, kind: Held) -> float:
    """Variance of a ratio, its texts taken by site."""
    sites = int(kind.sites.max()) + 1
    if sites < 2:
        return 0.0
    whole = float(kind.sizes.sum())
    rest = np.bincount(kind.sites, more - kind.sizes * float(more.sum()) / whole, sites)
    return float((rest**2).sum()) * sites / (sites - 1) / whole**2
