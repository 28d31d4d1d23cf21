"""Blocks are built alike when their elements are called alike: what holds for one card of a grid holds for the others.

Three groupings of a page's blocks, from wide to narrow: by tag and names of their element and the one around it, by
four elements upward, and by the element that their own stands in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.walk import Walked
from crawler.stages.models.net import Groups

GROUPINGS = 3


def groups(page: Walked) -> Groups:
    """The groupings of a page's blocks."""
    called: dict[tuple[str, str], int] = {}
    parents = np.array([*page.parents, -1], np.int64)  # the last one stands for what is above the root
    names = np.array([called.setdefault(key, len(called)) for key in zip(page.tags, page.names, strict=True)] + [-1])
    up = [np.array(page.holders, np.int64)]
    for _ in range(3):
        up.append(parents[up[-1]])
    own, one, two, three = (names[elements] + 1 for elements in up)
    size = len(called) + 1
    narrow = _numbered(own * size + one)
    return narrow, _numbered((narrow * size + two) * size + three), _numbered(up[1])


def _numbered(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(keys, return_inverse=True)[1].reshape(-1)
