"""Rows are kept or dropped as a whole: a name without its value says nothing, and a table with holes is none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.grid import around
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
            rows[around(page, page.holders[block], "tr")].append(block)
    return (cells for row, cells in rows.items() if row >= 0 and len(cells) > 1)
