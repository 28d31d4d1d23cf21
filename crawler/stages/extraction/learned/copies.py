"""Copies are blocks that a page shows twice: for narrow and wide screens, in a preview and below it. One of them stays.

A training text should not have a paragraph twice because a style sheet hides one of two. Siblings that say the same are
no copies (a list may repeat itself), nor is code, nor are cells and short lines, which mean something where they stand.
"""

from __future__ import annotations

from collections.abc import Sequence

from crawler.stages.extraction.learned.walk import Kind, Walked

SHORTEST = 25
"""Characters of a block that can be a copy (with 60 the F1 on wcxb-dev is .001 less)."""
_MEANT = frozenset({Kind.CODE, Kind.CELL})


def copies(page: Walked, odds: Sequence[int]) -> list[int]:
    """The blocks that say what a likelier block says (of equal ones: the first), in no particular order."""
    best: dict[str, int] = {}
    found = []
    for i, text in enumerate(page.texts):
        if len(text) < SHORTEST or page.kinds[i] in _MEANT:
            continue
        other = best.setdefault(text, i)
        if other == i or _are_siblings(page, i, other):
            continue
        if odds[i] > odds[other]:
            best[text], other = i, best[text]
            found.append(other)
        else:
            found.append(i)
    return found


def _are_siblings(page: Walked, one: int, two: int) -> bool:
    return page.parents[page.holders[one]] == page.parents[page.holders[two]]
