"""An evaluation holds a model against labels that it should not have been trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from crawler.classify.examples import Example
from crawler.classify.matrix import scores_of
from crawler.classify.measures import Cut, Interval, alone, auc_interval, calibration_error, cuts
from crawler.number import number_of
from crawler.problems import InputError
from crawler.stages.classify.fasttext import FastText
from crawler.stages.classify.model import Weights


@dataclass(frozen=True)
class Evaluation:
    """What a model is worth on these texts. unscored: texts by language that it was not trained on."""

    texts: int
    sites: int
    good: float
    auc: Interval
    ece: float
    cuts: list[Cut]
    alone: dict[str, float | None]
    unscored: Counter[str]


def evaluate(
    weights: Weights | FastText, examples: Sequence[Example], languages: Collection[str], seed: int = 0
) -> Evaluation:
    """Raises: InputError where none of the texts is in a language of the model."""
    found = [one for one in examples if one.language in languages]
    if not found:
        raise InputError(
            [f"none of the {number_of(len(examples), 'text')} is in a language of the model ({', '.join(languages)})"]
        )
    goal, weight = (np.array([getattr(one, name) for one in found], np.float64) for name in ("good", "weight"))
    score, sites = scores_of(weights, [one.text for one in found]), [one.site for one in found]
    return Evaluation(
        texts=len(found),
        sites=len({*sites}),
        good=float((goal * weight).sum() / weight.sum()),
        auc=auc_interval(goal, score, weight, sites, seed),
        ece=calibration_error(goal, score, weight),
        cuts=cuts(goal, score, weight),
        alone={
            "site": alone(goal, weight, sites, seed),
            "language": alone(goal, weight, [one.language or "" for one in found], seed),
            "page_type": alone(goal, weight, [one.page_type for one in found], seed),
        },
        unscored=Counter(one.language or "unknown" for one in examples if one.language not in languages),
    )
