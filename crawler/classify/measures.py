"""What is a score worth? Rank, calibration and intervals, each text with its weight and never apart from its site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RESAMPLES = 300
BINS = 10
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its 95 % interval; None where it is not defined: only one answer among the labels."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Cut:
    """What a threshold does: shares of texts kept, of the kept ones that are good, of the good ones that are kept."""

    threshold: float
    kept: float
    precision: float | None
    recall: float | None


def auc(goal: Floats, score: Floats, weight: Floats) -> float | None:
    """Probability that a good text scores above a bad one, ties as half; goal: share of judges that keep, 0–1."""
    order = np.argsort(score, kind="stable")
    good, bad = (goal * weight)[order], ((1 - goal) * weight)[order]
    total = float(good.sum()) * float(bad.sum())
    if total <= 0:
        return None
    starts = np.flatnonzero(np.diff(score[order], prepend=-np.inf))
    good, bad = np.add.reduceat(good, starts), np.add.reduceat(bad, starts)
    below = np.cumsum(bad) - bad
    return float((good * (below + bad / 2)).sum()) / total


def auc_interval(goal: Floats, score: Floats, weight: Floats, sites: Sequence[str], seed: int = 0) -> Interval:
    """The AUC with its interval: sites are drawn with replacement, never texts, because those of a site are alike."""
    value = auc(goal, score, weight)
    names, of = np.unique(np.asarray(sites), return_inverse=True)
    rng, found = np.random.default_rng(seed), []
    for _ in range(RESAMPLES if value is not None else 0):
        times = np.bincount(rng.integers(0, len(names), len(names)), minlength=len(names))[of]
        drawn = auc(goal, score, weight * times)
        if drawn is not None:
            found.append(drawn)
    low, high = np.percentile(found, [2.5, 97.5]).tolist() if found else (None, None)
    return Interval(value, low, high)


def calibration_error(goal: Floats, score: Floats, weight: Floats) -> float:
    """Expected calibration error: mean distance of score and share of good texts over ten bins (Naeini et al. 2015)."""
    bins = np.minimum((score * BINS).astype(np.int64), BINS - 1)
    apart = np.bincount(bins, weight * (goal - score), BINS)
    return float(np.abs(apart).sum() / weight.sum())


def cuts(goal: Floats, score: Floats, weight: Floats, thresholds: Sequence[float] = THRESHOLDS) -> list[Cut]:
    """What each threshold does."""
    found = []
    for threshold in thresholds:
        kept = weight * (score >= threshold)
        right, all_good = float((kept * goal).sum()), float((weight * goal).sum())
        share = float(kept.sum())
        found.append(
            Cut(
                threshold,
                share / float(weight.sum()),
                right / share if share else None,
                right / all_good if all_good else None,
            )
        )
    return found


def first_ones(goal: Floats, score: Floats, many: int = 20) -> float:
    """Share of good texts among the `many` that score highest, of equal scores the earlier ones (precision at n)."""
    best = np.argsort(-score, kind="stable")[:many]
    return float(goal[best].mean())


def alone(goal: Floats, weight: Floats, names: Sequence[str], seed: int = 0) -> float | None:
    """The AUC of a model that knows only one name of each text, such as its site: how much of an answer is the source.

    A text's score is the share of good ones among texts of its name in the nine other tenths, drawn towards the whole;
    only texts of one tenth are compared, because a share that lacks a good text is lower by that alone.
    """
    part = np.random.default_rng(seed).permutation(len(goal)) % BINS
    _, of = np.unique(np.asarray(names), return_inverse=True)
    ranked = pairs = 0.0
    for one in range(BINS):
        known = weight * (part != one)
        mean = float((known * goal).sum()) / max(float(known.sum()), 1e-12)
        good, total = np.bincount(of, known * goal), np.bincount(of, known)
        here = part == one
        value = auc(goal[here], ((good + mean) / (total + 1))[of][here], weight[here])
        if value is not None:
            many = float((weight * goal)[here].sum()) * float((weight * (1 - goal))[here].sum())
            ranked, pairs = ranked + value * many, pairs + many
    return ranked / pairs if pairs else None
