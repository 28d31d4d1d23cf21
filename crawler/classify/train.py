"""Training: labels in, weights and everything that has to be said of them out.

The strength of the penalty is chosen by the likelihood of held-out sites, which is where labels that contradict each
other show. All figures are of texts of sites that the model asked had not seen; so is the calibration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawler.classify.examples import Example, Examples
from crawler.classify.fit import calibration, fit
from crawler.classify.groups import Folds, folds, groups
from crawler.classify.matrix import Texts, texts_of, whole
from crawler.classify.measures import Cut, Interval, alone, auc_interval, calibration_error, cuts
from crawler.problems import InputError
from crawler.stages.classify.model import Weights, packed

Floats = NDArray[np.float64]
STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
FOLDS, FOLDS_OF_MANY, MANY = 5, 3, 1_500
LEAST = 10
"""Labels of either answer without which there is nothing to learn; half of it for a language."""

ONE_SITE = (
    "texts to keep, or texts to reject, are of one site alone (near duplicates count as one): a model is measured on "
    "sites that it has not seen, so judge pages of at least two sites for each answer"
)


@dataclass(frozen=True)
class Trained:
    """A model and what is known of it; odds and probabilities are of the models that had not seen the text's site."""

    weights: Weights
    examples: list[Example]
    languages: tuple[str, ...]
    strength: float
    held_out: Floats
    auc: Interval
    ece: float
    cuts: list[Cut]
    alone: dict[str, float | None]
    groups: int
    folds: int


def usable(read: Examples, advice: str) -> list[Example]:
    """The examples in languages that have enough of both answers; the others are left out and counted.

    advice: where more come from. Raises: InputError where too few are left.
    """
    read.found = _once(read)
    _check_enough(read.found, read, advice)
    either = {
        answer: Counter(one.language for one in read.found if (one.good > 0.5) == answer) for answer in (True, False)
    }
    least = LEAST // 2
    known = {
        language
        for language in either[True]
        if language and min(either[True][language], either[False][language]) >= least
    }
    for one in read.found:
        if one.language not in known:
            said = f"in {one.language}" if one.language else "in a language that could not be told"
            read.leave(f"{said}: fewer than {least} texts of either answer to learn from", one.url)
    found = [one for one in read.found if one.language in known]
    _check_enough(found, read, advice)
    return found


def _check_enough(found: Sequence[Example], read: Examples, advice: str) -> None:
    """Numbers and sites together: who judges more pages of one site would learn of the other only then."""
    good = sum(one.good > 0.5 for one in found)
    problems = []
    if min(good, len(found) - good) < LEAST:
        problems.append(
            f"{good} texts to keep and {len(found) - good} to reject: at least {LEAST} of each are needed; {advice}"
        )
    if 1 in (len({one.site for one in found if one.good > 0}), len({one.site for one in found if one.good < 1})):
        problems.append(ONE_SITE)
    if problems:
        raise InputError([*problems, *read.sentences()])


def balanced(found: Sequence[Example]) -> list[Example]:
    """Examples that count together as much as the texts among which more of their kind are looked for.

    The score is then .5 where a text is as likely one of the examples as one of the others, however many there are.
    Such a model learns from positive and unlabelled texts (Elkan and Noto, KDD 2008): the order is right, the score no
    probability. One that is among both is an example.
    """
    good = {(one.url, one.text) for one in found if one.good > 0.5}
    kept = [one for one in found if one.good > 0.5 or (one.url, one.text) not in good]
    share = {answer: sum((one.good > 0.5) == answer for one in kept) for answer in (True, False)}
    return [replace(one, weight=len(kept) / (2 * share[one.good > 0.5])) for one in kept]


def _once(read: Examples) -> list[Example]:
    """Each text of a page once for each answer, however often its file was given."""
    found: dict[tuple[str, str, float], Example] = {}
    for one in read.found:
        if found.setdefault((one.url, one.text, one.good), one) is not one:
            read.leave("given twice, the first counts", one.url)
    return list(found.values())


def train(found: Sequence[Example], seed: int = 0, tell: Callable[[str], None] = lambda _: None) -> Trained:
    """Raises: InputError where the texts are of so few sites that none can be held out."""
    goal, weight = (np.array([getattr(one, name) for one in found], np.float64) for name in ("good", "weight"))
    sites = [one.site for one in found]
    of = groups([one.text for one in found], sites)
    fold = folds(of, goal.tolist(), FOLDS_OF_MANY if len(found) > MANY else FOLDS)
    if fold.many < 2:
        raise InputError([ONE_SITE])
    texts = texts_of([one.text for one in found])
    strength, odds = _strength(texts, goal, weight, fold, tell)
    chance = _crossed(odds, goal, weight, fold)
    slope, shift = calibration(odds, goal, weight)
    tell(f"last fit, C={strength:g} …")
    last = fit(texts.rows, goal, weight, strength)
    weights = packed(whole(slope * last[:-1], texts.buckets), slope * float(last[-1]) + shift)
    named = {
        "site": sites,
        "language": [one.language or "" for one in found],
        "page_type": [one.page_type for one in found],
    }
    return Trained(
        weights=weights,
        examples=list(found),
        languages=tuple(sorted({one.language for one in found if one.language})),
        strength=strength,
        held_out=chance,
        auc=auc_interval(goal, chance, weight, [str(one) for one in of], seed),
        ece=calibration_error(goal, chance, weight),
        cuts=cuts(goal, chance, weight),
        alone={name: alone(goal, weight, names, seed) for name, names in named.items()},
        groups=len({*of}),
        folds=fold.many,
    )


def _strength(
    texts: Texts, goal: Floats, weight: Floats, fold: Folds, tell: Callable[[str], None]
) -> tuple[float, Floats]:
    """The strength under which held-out sites are most likely, once calibrated, and their log odds under it."""
    odds = np.zeros((len(STRENGTHS), len(goal)))
    for one in range(fold.many):
        tell(f"fold {one + 1} of {fold.many} …")
        rest, out = np.flatnonzero(fold.of != one), np.flatnonzero(fold.of == one)
        known, start = texts.rows[rest], None
        for at, strength in enumerate(STRENGTHS):
            start = fit(known, goal[rest], weight[rest], strength, start)
            odds[at, out] = texts.rows[out] @ start[:-1] + start[-1]
    loss = [_loss(_crossed(some, goal, weight, fold), goal, weight) for some in odds]
    best = int(np.argmin(loss))
    return STRENGTHS[best], odds[best]


def _crossed(odds: Floats, goal: Floats, weight: Floats, fold: Folds) -> Floats:
    """Probabilities, each calibrated on the other folds."""
    found = np.empty(len(odds))
    for one in range(fold.many):
        rest = fold.of != one
        slope, shift = calibration(odds[rest], goal[rest], weight[rest])
        found[~rest] = 0.5 * (1.0 + np.tanh(0.5 * (slope * odds[~rest] + shift)))
    return found


def _loss(chance: Floats, goal: Floats, weight: Floats) -> float:
    sure = np.clip(chance, 1e-9, 1 - 1e-9)
    return -float((weight * (goal * np.log(sure) + (1 - goal) * np.log(1 - sure))).sum())
