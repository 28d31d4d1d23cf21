"""Rows are kept or dropped as a whole: a name without its value says nothing, and a table with holes is none.

Captions of an article of a wiki are kept with its paragraphs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.grid import around
from crawler.stages.extraction.learned.walk import Kind, Walked

WIKI_ARTICLE = "mw-parser-output"
"""The class of the element in which MediaWiki puts an article."""


def with_whole_rows(page: Walked, sums: NDArray[np.int64], words: NDArray[np.float64]) -> NDArray[np.int64]:
    """Log odds of the blocks, where the cells of a row have the mean of theirs, each weighted by its words."""
    if Kind.CELL not in page.kinds:
        return sums
    weight = (words * 2).astype(np.int64)
    left = sums.copy()
    for row in _rows(page):
        left[row] = (sums[row] * weight[row]).sum() // weight[row].sum()
    return left


def with_captions(page: Walked, sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Log odds of the blocks, where captions within an article of MediaWiki have those of a paragraph in its middle."""
    article = next((i for i, names in enumerate(page.names) if WIKI_ARTICLE in names), -1)
    if article < 0:
        return sums
    blocks = range(page.starts[article], page.ends[article])
    paragraphs = [sums[i] for i in blocks if page.kinds[i] == Kind.PARAGRAPH]
    captions = [i for i in blocks if page.kinds[i] == Kind.CAPTION or "thumbcaption" in page.names[page.holders[i]]]
    if not paragraphs or not captions:
        return sums
    left = sums.copy()
    left[captions] = np.maximum(left[captions], sorted(paragraphs)[len(paragraphs) // 2])
    return left


def _rows(page: Walked) -> Iterator[list[int]]:
    """The cells of every row that has several."""
    rows: dict[int, list[int]] = defaultdict(list)
    for block, kind in enumerate(page.kinds):
        if kind == Kind.CELL:
            rows[around(page, page.holders[block], "tr")].append(block)
    return (cells for row, cells in rows.items() if row >= 0 and len(cells) > 1)
