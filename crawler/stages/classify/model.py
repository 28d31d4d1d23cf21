"""A classifier is a linear model of hashed words with its card: what it was trained on, and what follows from a score.

After Joulin et al., "Bag of tricks for efficient text classification" (2016), with a weight a bucket instead of a
vector, which is all that two classes need. The weights are whole numbers and so are the values of a text: the only
things that are rounded are a root and a quotient, as IEEE 754 says, so that every machine gives the same score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.config.text import ACTIONS, SIDES
from crawler.stages.classify.fasttext import FastText
from crawler.stages.classify.words import computed, features
from crawler.stages.models.file import ModelError, Stored, load
from crawler.stages.models.odds import CERTAIN, SCALE, probability

KIND = "classifier"


@dataclass(frozen=True)
class Weights:
    """Weight of each bucket in units of `unit` (1,), a power of two; bias (1,): log odds of a text without words."""

    weights: NDArray[np.int16]
    unit: NDArray[np.float64]
    bias: NDArray[np.float64]

    @property
    def bits(self) -> int:
        """Buckets are two to the power of this."""
        return len(self.weights).bit_length() - 1

    def odds(self, text: str) -> float:
        """Log odds that a text is to be kept."""
        places, values = features(text, self.bits)
        bias = float(self.bias[0])
        if not len(places):
            return bias
        total = int((self.weights[places].astype(np.int64) * values).sum())
        return total / math.sqrt(int((values * values).sum())) * float(self.unit[0]) + bias

    def score(self, text: str) -> float:
        """Probability that a text is to be kept, 0–1, in steps of 1/4096."""
        return float(probability(np.array([math.floor(self.odds(text) * SCALE)]))[0]) / CERTAIN


@dataclass(frozen=True)
class Classifier:
    """A loaded model. languages: ISO 639-1 codes that it was trained on. threshold: 0–1. action: of `ACTIONS`; side: of
    `SIDES`.
    """

    stored: Stored
    weights: Weights | FastText
    languages: frozenset[str]
    threshold: float
    action: str
    side: str = "below"

    def is_wrong(self, score: float) -> bool:
        """True for a score on the side of the threshold that the action is for."""
        return score < self.threshold if self.side == "below" else score >= self.threshold

    def score(self, text: str) -> float:
        """Probability that a text is to be kept, 0–1."""
        return self.weights.score(text)


def packed(weights: NDArray[np.float64], bias: float) -> Weights:
    """Weights as whole numbers of 16 bits: the largest unit that is a power of two and holds them all."""
    most = float(np.abs(weights).max(initial=0.0)) or 1.0
    unit = 2.0 ** math.ceil(math.log2(most / np.iinfo(np.int16).max))
    return Weights(np.rint(weights / unit).astype(np.int16), np.array([unit]), np.array([bias]))


def open_classifier(path: str) -> Classifier:
    """The classifier in a file. Raises: ModelError, a sentence where the file is damaged or is something else."""
    stored = load(path, KIND, computed)
    is_public = stored.card["parts"].get("weights") == FastText.__name__
    weights = _public(stored) if is_public else stored.part("weights", Weights)
    said: Any = stored.card.get("classifier")
    try:
        sound = not isinstance(weights, Weights) or _is_sound(weights)
        threshold, action, languages = float(said["threshold"]), said["action"], frozenset(map(str, said["languages"]))
        side = said.get("side", "below")  # a card of an older version has none
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"model {path}: its card is not that of a classifier ({error}); train it again") from error
    if not sound or not 0.0 <= threshold <= 1.0 or not languages or action not in ACTIONS or side not in SIDES:
        raise ModelError(f"model {path}: its weights or its card are not those of a classifier; train it again")
    return Classifier(stored, weights, languages, threshold, action, side)


def _public(stored: Stored) -> FastText:
    """The arrays of an imported model; their sizes were checked when it was imported, and are again."""
    names = [one.name for one in fields(FastText) if one.init]
    found = [stored.arrays.get(f"weights.{name}") for name in names]
    made = FastText(*found) if all(one is not None for one in found) else None  # type: ignore[arg-type]
    if made is None or made.numbers.shape != (6,) or made.rows.ndim != 2 or made.out.shape[1:] != made.rows.shape[1:]:
        raise ModelError(f"model {stored.name}: is damaged; import it again (gristmill classify import)")
    return made


def _is_sound(weights: Weights) -> bool:
    size, numbers = weights.weights.shape, np.concatenate([weights.unit, weights.bias])
    whole = weights.weights.dtype == np.int16 and len(size) == 1 and size[0] & (size[0] - 1) == 0 and size[0] > 1
    return whole and numbers.shape == (2,) and bool(np.isfinite(numbers).all())
