"""The learned extractor takes a parsed page to its main text: walk, features, forest, choice, lines.

It leaves the tree as it is and never fails on a page: what has no blocks has no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.choice import choose
from crawler.stages.extraction.learned.forest import SCALE, probability
from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.model import KINDS, Model, the_model
from crawler.stages.extraction.learned.numbers import features
from crawler.stages.extraction.learned.walk import walk


@dataclass(frozen=True, slots=True)
class Found:
    """The main text of a page, and how sure the model is of it."""

    text: str = ""
    confidence: float = 0.0
    """F1 that the model expects of the text, 0 to 1."""
    page_type: str | None = None
    """One of `KINDS`; None where the page has no text."""
    page_type_score: float | None = None
    """Probability of that type, 0 to 1."""
    languages: tuple[str, ...] = ()
    """Of the code in the text, as classes name them, without repetition."""


def extract(tree: Any, *, text_format: str = "text", model: Model | None = None) -> Found:
    """The main text of a parsed page; `text_format` is text or markdown."""
    model = model or the_model()
    page = walk(tree)
    if not page.texts:
        return Found()
    rows, numbers = features(page, model.score, model.score, tree.findtext(".//title") or "")
    sums = model.blocks(rows)[:, 0]
    kept, expected = choose(probability(sums), sums, numbers.words)
    text, languages = write(page, kept.tolist(), text_format)
    kind, chance = page_type(model, rows)
    return Found(text, round(expected, 3), kind, chance, languages)


def page_numbers(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Numbers on a page as a whole: mean and maximum of each feature over its blocks, row by row in page order."""
    mean = np.add.accumulate(rows.astype(np.float64), axis=0)[-1] / len(rows)
    return np.concatenate([mean, rows.max(0)]).astype(np.float32)


def page_type(model: Model, rows: NDArray[np.float32]) -> tuple[str, float]:
    """The most probable type of a page, and its probability; of two equal ones the first of `KINDS`."""
    sums = model.kinds(page_numbers(rows)[None])[0]
    best = int(np.argmax(sums))
    weights = np.exp((sums - sums[best]) / SCALE)
    return KINDS[best], round(float(1.0 / weights.sum()), 3)
