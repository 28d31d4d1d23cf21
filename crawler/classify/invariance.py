"""Does a verdict change where only the layout does? Shares of verdicts that a change without meaning turns around."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from crawler.classify.matrix import odds_of
from crawler.stages.classify.model import Weights

_BULLET = re.compile(r"^([ \t]*)[-*•·–—][ \t]+", re.MULTILINE)
_LINE = re.compile(r"^(?=\S)", re.MULTILINE)

CHANGES: Mapping[str, Callable[[str], str]] = {
    "blank lines": lambda text: re.sub(r"\n\s*\n+", "\n", text) if "\n\n" in text else text.replace("\n", "\n\n"),
    "spacing": lambda text: text.replace(" ", "  "),
    "bullets": lambda text: _BULLET.sub(r"\1• ", text) if _BULLET.search(text) else _LINE.sub("- ", text),
}
"""What is done to a text: blank lines taken out or put in, spaces doubled, bullets made others or put in."""


def changed(weights: Weights, texts: Sequence[str], threshold: float) -> dict[str, float]:
    """The share of verdicts at this threshold that each of `CHANGES` turns around, 0–1."""
    if not texts:
        return {}
    limit = float(np.log(threshold / (1 - threshold))) if 0 < threshold < 1 else 0.0
    before = _kept(weights, texts, limit)
    return {
        name: float((_kept(weights, [change(text) for text in texts], limit) != before).mean())
        for name, change in CHANGES.items()
    }


def _kept(weights: Weights, texts: Sequence[str], limit: float) -> NDArray[np.bool_]:
    return odds_of(weights, texts) >= limit
