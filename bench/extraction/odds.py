"""The table of hashes is counted over sites, so that a big site has one voice, and a page's own site none."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable
from itertools import accumulate
from statistics import fmean

from bench.extraction.data import Example
from crawler.stages.extraction.learned.tables import LONGEST_LINE, first_words, hash_of, line_hash, name_keys, word_hash

MIN_SITES = 4
"""Sites on which a name, a word or a line must stand: what stands on fewer says more about them than about texts."""
PAGES_OF_A_SITE = 5
_PRIOR = 0.35
_PRIOR_SITES = 2.0
_UNIT = 16


def score_of(share: float, sites: int) -> int:
    """Log odds in sixteenths, from the sum of a site's shares, drawn to those of all text."""
    odds = (share + _PRIOR_SITES * _PRIOR) / (sites - share + _PRIOR_SITES * (1 - _PRIOR))
    return max(-127, min(127, round(_UNIT * math.log(odds / (_PRIOR / (1 - _PRIOR))))))


def name_hashes(names: str, tag: str, parent: str) -> list[int]:
    """Hashes of the class names and ids of an element, whole and in parts, and of its tag with that around it."""
    return [hash_of(key) for key in sorted(name_keys(names, tag, parent))]


def block_hashes(text: str) -> set[int]:
    """Everything of a block that is looked up."""
    hashes = {word_hash(word) for word in first_words(text)}
    return hashes | ({line_hash(text)} if len(text) <= LONGEST_LINE else set())


class Odds:
    """Shares of the main text by hash, of every site and of all."""

    def __init__(self, examples: list[Example]) -> None:
        by_site: dict[str, list[Example]] = defaultdict(list)
        for one in examples:
            by_site[one.site].append(one)
        self._of_site = {site: _site_shares(pages) for site, pages in by_site.items()}
        self._sum: dict[int, float] = defaultdict(float)
        self._sites: dict[int, int] = defaultdict(int)
        for shares in self._of_site.values():
            for key, share in shares.items():
                self._sum[key] += share
                self._sites[key] += 1
        scores = {k: score_of(self._sum[k], n) for k, n in self._sites.items() if n >= MIN_SITES}
        self.table = {key: scores[key] for key in sorted(scores) if scores[key]}

    def without(self, site: str) -> Callable[[int], int]:
        """The table as it would be without a site."""
        own = self._of_site.get(site, {})

        def score(key: int) -> int:
            if key not in own:
                return self.table.get(key, 0)
            sites = self._sites[key] - 1
            return score_of(self._sum[key] - own[key], sites) if sites >= MIN_SITES else 0

        return score


def _site_shares(pages: list[Example]) -> dict[int, float]:
    shares: dict[int, list[float]] = defaultdict(list)
    for page in random.Random(1).sample(pages, min(len(pages), PAGES_OF_A_SITE)):
        for key, share in _page_shares(page).items():
            shares[key].append(share)
    return {key: fmean(some) for key, some in shares.items()}


def _page_shares(example: Example) -> dict[int, float]:
    """Of every hash on a page: the share of what stands under it that is main text."""
    page = example.walked
    words = [len(text.split()) for text in page.texts]
    kept = [0.0, *accumulate(n * label for n, label in zip(words, example.labels, strict=True))]
    seen = [0, *accumulate(words)]
    good: dict[int, float] = defaultdict(float)
    all_: dict[int, float] = defaultdict(float)
    for i, names in enumerate(page.names):
        start, end, up = page.starts[i], page.ends[i], page.parents[i]
        if seen[end] > seen[start]:
            for key in name_hashes(names, page.tags[i], page.tags[up] if up >= 0 else ""):
                good[key] += kept[end] - kept[start]
                all_[key] += seen[end] - seen[start]
    for text, label in zip(page.texts, example.labels, strict=True):
        for key in block_hashes(text):
            good[key] += label
            all_[key] += 1
    return {key: good[key] / number for key, number in all_.items()}
