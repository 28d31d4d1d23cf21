"""What a consent manager put on top of a page is never its text, however much it looks like prose."""

from __future__ import annotations

from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.consent import MAX_SHARE, is_called_consent
from crawler.stages.extraction.learned.forest import IMPOSSIBLE
from crawler.stages.extraction.learned.walk import Walked

_DEEPEST = 2
"""Elements below the body, as in `consent.py`."""
_PAGE = frozenset({"article", "main", "h1"})


def without_banners(page: Walked, sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Log odds of the blocks in units of 1 / SCALE, with those in containers of consent managers impossible."""
    containers = [
        i
        for i, (depth, names) in enumerate(zip(page.depths, page.names, strict=True))
        if 0 < depth <= _DEEPEST and names and is_called_consent(names) and _is_banner(page, i)
    ]
    if not containers:
        return sums
    left = sums.copy()
    for i in containers:
        left[page.starts[i] : page.ends[i]] = IMPOSSIBLE
    return left


def _is_banner(page: Walked, element: int) -> bool:
    """Small, and without what holds a page: some pages wrap everything in such a class."""
    depth = page.depths[element]
    inside = takewhile(lambda i: page.depths[i] > depth, range(element + 1, len(page.tags)))
    if any(page.tags[i] in _PAGE for i in inside):
        return False
    asks = sum(map(len, page.texts[page.starts[element] : page.ends[element]]))
    return asks <= MAX_SHARE * sum(map(len, page.texts))
