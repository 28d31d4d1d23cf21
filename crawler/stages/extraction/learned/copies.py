"""Copies are blocks that a page shows twice: for narrow and wide screens, in a preview and below it. One of them stays.

A training text should not have a paragraph twice because a style sheet hides one of two. Siblings that say the same are
no copies (a list may repeat itself), nor is code, nor are cells and short lines, which mean something where they stand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.choice import IMPOSSIBLE
from crawler.stages.extraction.learned.walk import Kind, Walked

SHORTEST = 25
"""Characters of a block that can be a copy (with 60 the F1 on wcxb-dev is .001 less)."""
SHORTEST_HEADING = 4
"""Characters of a heading that an item of a list can be a copy of: the page's title at the end of its breadcrumbs."""
_MEANT = frozenset({Kind.CODE, Kind.CELL})
_NAMES = (Kind.HEADING, Kind.ITEM)


def without_copies(page: Walked, sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Log odds of the blocks, where a copy is impossible and what stays is as likely as its likeliest copy."""
    left = sums.copy()
    for copy, other in copies(page, sums.tolist()):
        left[other], left[copy] = max(left[other], left[copy]), IMPOSSIBLE
    return left


def copies(page: Walked, odds: Sequence[int]) -> list[tuple[int, int]]:
    """The blocks that say what another says, each with the one that stays: a heading, the likeliest, the first."""
    best: dict[str, int] = {}
    found = []
    for i, text in enumerate(page.texts):
        if len(text) < SHORTEST_HEADING or page.kinds[i] in _MEANT:
            continue
        other = best.setdefault(text, i)
        if other == i or not _may_be_copies(page, i, other):
            continue
        if _rank(page, odds, i) > _rank(page, odds, other):
            best[text], other = i, best[text]
            found.append((other, i))
        else:
            found.append((i, other))
    return found


def _may_be_copies(page: Walked, one: int, two: int) -> bool:
    if page.parents[page.holders[one]] == page.parents[page.holders[two]]:
        return False
    if len(page.texts[one]) >= SHORTEST:
        return True
    kinds = page.kinds[one], page.kinds[two]
    return kinds in (_NAMES, _NAMES[::-1])


def _rank(page: Walked, odds: Sequence[int], block: int) -> tuple[bool, int]:
    return page.kinds[block] == Kind.HEADING, odds[block]
