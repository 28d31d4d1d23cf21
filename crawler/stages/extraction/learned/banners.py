"""What a consent manager put on top of a page is never its text, however much it looks like prose.

The rule is that of `consent.py`, which takes such containers out of the tree for the other extractors; here the tree
stays.
"""

from __future__ import annotations

from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.consent import DEEPEST, MAX_SHARE, PAGE_TAGS, is_called_consent
from crawler.stages.extraction.learned.choice import IMPOSSIBLE
from crawler.stages.extraction.learned.walk import Walked


def without_banners(page: Walked, sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Log odds of the blocks in units of 1 / SCALE, with those in containers of consent managers impossible."""
    containers = [
        i
        for i, (depth, names) in enumerate(zip(page.depths, page.names, strict=True))
        if 0 < depth <= DEEPEST and names and is_called_consent(names) and _is_banner(page, i)
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
    if any(page.tags[i] in PAGE_TAGS for i in inside):
        return False
    asks = sum(map(len, page.texts[page.starts[element] : page.ends[element]]))
    return asks <= MAX_SHARE * sum(map(len, page.texts))
