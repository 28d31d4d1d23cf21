"""A matrix has a row a text: its values by bucket, of length 1, and only the buckets that any text has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.stages.classify.fasttext import FastText
from crawler.stages.classify.model import Weights
from crawler.stages.classify.words import BITS, features


@dataclass(frozen=True)
class Texts:
    """rows: scipy.sparse.csr_array (texts, columns); buckets: of each column, ascending."""

    rows: Any
    buckets: NDArray[np.int64]


def texts_of(texts: Sequence[str]) -> Texts:
    """The texts as a matrix; one without words is a row of zeros."""
    from scipy.sparse import csr_array

    ends, places, values = [0], [], []
    for text in texts:
        found, counted = features(text)
        places.append(found)
        length = float(np.sqrt(float((counted * counted).sum()))) or 1.0
        values.append(counted / length)
        ends.append(ends[-1] + len(found))
    every = np.concatenate(places) if places else np.zeros(0, np.int64)
    buckets, columns = np.unique(every, return_inverse=True)
    data = np.concatenate(values) if values else np.zeros(0)
    shape = (len(texts), len(buckets))
    return Texts(csr_array((data, columns.astype(np.int64), np.array(ends)), shape=shape), buckets)


def whole(weights: NDArray[np.float64], buckets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights of all buckets; 0 for those that no text has."""
    found = np.zeros(1 << BITS)
    found[buckets] = weights
    return found


def odds_of(weights: Weights, texts: Sequence[str]) -> NDArray[np.float64]:
    """Log odds that each text is to be kept, as a crawl finds them."""
    return np.array([weights.odds(text) for text in texts])


def scores_of(weights: Weights | FastText, texts: Sequence[str]) -> NDArray[np.float64]:
    """Probability that each text is to be kept, 0–1."""
    return np.array([weights.score(text) for text in texts])
