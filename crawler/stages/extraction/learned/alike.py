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
    tags, called = page.numbered()
    parents = np.array([*page.parents, -1], np.int64)  # the last one stands for what is above the root
    names = np.append(_in_order(tags * (len(called) + 1) + called), -1)
    up = [np.array(page.holders, np.int64)]
    for _ in range(3):
        up.append(parents[up[-1]])
    own, one, two, three = (names[elements] + 1 for elements in up)
    size = int(names.max()) + 2
    narrow = numbered(own * size + one)
    return narrow, numbered((narrow * size + two) * size + three), numbered(up[1])


def _in_order(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """As `numbered`, in the order in which the keys come: the probe of the model knows the numbers."""
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[which.reshape(-1)]


def numbered(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers from 0 on instead of these: the same number for the same key."""
    return np.unique(keys, return_inverse=True)[1].reshape(-1)
