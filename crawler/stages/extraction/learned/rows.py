"""Rows are kept or dropped as a whole: a name without its value says nothing, and a table with holes is none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.walk import Kind, Walked


def with_whole_rows(page: Walked, sums: NDArray[np.int64], words: NDArray[np.float64]) -> NDArray[np.int64]:
    """Log odds of the blocks, where the cells of a row have the mean of theirs, each weighted by its words."""
    if Kind.CELL not in page.kinds:
        return sums
    weight = (words * 2).astype(np.int64)
    left = sums.copy()
    for row in _rows(page):
        left[row] = (sums[row] * weight[row]).sum() // weight[row].sum()
    return left


def _rows(page: Walked) -> Iterator[list[int]]:
    """The cells of every row that has several."""
    rows: dict[int, list[int]] = defaultdict(list)
    for block, kind in enumerate(page.kinds):
        if kind == Kind.CELL:
            rows[_row_of(page, page.holders[block])].append(block)
    return (cells for row, cells in rows.items() if row >= 0 and len(cells) > 1)


def _row_of(page: Walked, element: int) -> int:
    """The row around an element; -1 where there is none."""
    while element >= 0 and page.tags[element] != "tr":
        element = page.parents[element]
    return element
