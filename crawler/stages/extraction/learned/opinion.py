"""The second opinion is the text of another extractor: where the model is not sure, it moves the odds of each block.

It costs more than the model, and on pages like those of the training the model is the better one. So it is asked on
what looks like an article (on every other page type the rules that people wrote are behind) and does not promise a
nearly perfect text, and its voice is the heavier the stranger the page: words that the table does not know, another
language first of all, are words that the model has seen no text of, and there it is more sure than it is right.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crawler.stages.models.odds import SCALE

WEIGHT, STRANGE_WEIGHT = 2.0, 2.0
"""Log odds that a block gains when the other extractor took all of it, and loses when it took none, on a page that is
surely an article; the second number comes on top where the page is wholly strange (docs/extraction-model.md)."""
FULL = 0.5
"""Probability of an article from which the opinion has its full weight (of .25, .5 and 1; same sources)."""
LEAST = 0.1
"""Probability of an article under which nobody is asked."""
SURE, STRANGE_MARGIN = 0.85, 0.14
"""Expected F1 from which nobody is asked; a wholly strange page has to promise the sum of both. Of 0 to .96 for the
first (docs/extraction-model.md): between .85 and .96 the other extractor is wrong more often than the model."""
FAMILIAR, STRANGE = 0.8, 0.5
"""Share of known words from which a page is not strange at all, and up to which it is wholly strange. Nine in ten pages
of the training have .8 and more; German pages have .25 to .5."""
MOST_BLOCKS = 3_000
"""Blocks of a page beyond which nobody is asked: the time of trafilatura grows with the square of small tables."""
_STEPS = 64


def strangeness(known: float) -> float:
    """0 to 1 in sixty-fourths, from the share of the words that the table knows (`Numbers.known`)."""
    share = (FAMILIAR - known) / (FAMILIAR - STRANGE)
    return round(min(1.0, max(0.0, share)) * _STEPS) / _STEPS


def is_asked(article: float, blocks: int, expected: float, strange: float) -> bool:
    """True where the second opinion could change the choice for the better at a bearable cost."""
    return article >= LEAST and blocks <= MOST_BLOCKS and expected < SURE + STRANGE_MARGIN * strange


def moved(sums: NDArray[np.int64], taken: list[float], article: float, strange: float) -> NDArray[np.int64]:
    """Log odds of the blocks in units of 1 / SCALE, moved by what the other extractor took of each (0 to 1).

    All numbers are rounded to sixty-fourths, so that machines whose exponential differs in the last bit agree.
    """
    share = np.rint(np.array(taken) * _STEPS).astype(np.int64) * 2 - _STEPS
    unit = round((WEIGHT + STRANGE_WEIGHT * strange) * SCALE / _STEPS)
    weight = unit * round(min(1.0, article / FULL) * _STEPS)
    return np.asarray(sums + share * weight // _STEPS, np.int64)
