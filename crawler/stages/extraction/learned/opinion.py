"""The second opinion is the text of another extractor: on what looks like an article it moves the odds of each block.

The model has seen few articles beside those of one benchmark; rules that people wrote for articles have seen many. On
every other page type the rules are behind, so their voice has the weight of the page's probability to be an article.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.forest import SCALE

WEIGHT = 3.0
"""Log odds that a block gains when the other extractor took all of it, and loses when it took none, on a page that is
surely an article. By cross-validation on wcxb-dev's articles 1 is best (.958, 2 .956, 3 .953, the chain alone .947). On
the 106 segment-labelled pages, which are of other years and sites, 3 is: the heavier weight loses least where pages are
not like those of the training (docs/extraction-model.md)."""
FULL = 0.5
"""Probability of an article from which the opinion has its full weight (of .25, .5 and 1; same sources)."""
LEAST = 0.1
"""Probability of an article under which nobody is asked: the weight would be under a fifth of a unit of log odds."""
MOST_BLOCKS = 3_000
"""Blocks of a page beyond which nobody is asked: the time of trafilatura grows with the square of small tables."""
_STEPS = 64


def is_asked(article: float, blocks: int) -> bool:
    """True where the second opinion could change the choice at a bearable cost."""
    return article >= LEAST and blocks <= MOST_BLOCKS


def moved(sums: NDArray[np.int64], taken: list[float], article: float) -> NDArray[np.int64]:
    """Log odds of the blocks in units of 1 / SCALE, moved by what the other extractor took of each (0 to 1).

    Both numbers are rounded to sixty-fourths, so that machines whose exponential differs in the last bit agree.
    """
    share = np.rint(np.array(taken) * _STEPS).astype(np.int64) * 2 - _STEPS
    weight = round(WEIGHT * SCALE / _STEPS) * round(min(1.0, article / FULL) * _STEPS)
    return np.asarray(sums + share * weight // _STEPS, np.int64)
