"""Which texts must not be parted into training and test? Those of one site, and those that are nearly the same.

Near duplicates are found by the smallest hashes of their runs of five words (a bottom-k sketch, Broder 1997): two texts
that share half of them, or more, belong together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from crawler.stages.classify.words import words

RUN = 5
SKETCH = 16
_COMMON = 50
"""A hash that more texts have is a form of words, and compares nothing."""


def groups(texts: Sequence[str], sites: Sequence[str]) -> list[int]:
    """The group of each text, as the number of its first text."""
    parent = list(range(len(texts)))

    def root(one: int) -> int:
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    def join(one: int, other: int) -> None:
        a, b = sorted((root(one), root(other)))
        parent[b] = a

    first: dict[str, int] = {}
    for number, site in enumerate(sites):
        join(first.setdefault(site, number), number)
    for one, other in _alike(texts):
        join(one, other)
    return [root(one) for one in range(len(texts))]


def _alike(texts: Sequence[str]) -> list[tuple[int, int]]:
    having: dict[int, list[int]] = defaultdict(list)
    sizes = []
    for number, text in enumerate(texts):
        sketch = _sketch(text)
        sizes.append(len(sketch))
        for one in sketch:
            having[one].append(number)
    shared: Counter[tuple[int, int]] = Counter()
    for members in having.values():
        if 1 < len(members) <= _COMMON:
            shared.update((a, b) for at, a in enumerate(members) for b in members[at + 1 :])
    found = [pair for pair, count in shared.items() if 2 * count >= min(sizes[pair[0]], sizes[pair[1]])]
    return sorted(found)


def _sketch(text: str) -> list[int]:
    found = words(text)
    runs = {" ".join(found[at : at + RUN]) for at in range(max(1, len(found) - RUN + 1))} if found else set()
    return sorted(xxhash.xxh3_64_intdigest(run.encode("utf-8", "surrogatepass")) for run in runs)[:SKETCH]


@dataclass(frozen=True, slots=True)
class Folds:
    """The fold of each text, 0 to many − 1."""

    of: NDArray[np.int64]
    many: int


def folds(group: Sequence[int], goal: Sequence[float], most: int) -> Folds:
    """Groups stay whole, and folds have about the same number of good and of bad texts.

    Fewer folds than `most` where there are not as many groups with either answer.
    """
    good: dict[int, float] = defaultdict(float)
    bad: dict[int, float] = defaultdict(float)
    for one, share in zip(group, goal, strict=True):
        good[one] += share
        bad[one] += 1 - share
    names = sorted({*group}, key=lambda one: (-(good[one] + bad[one]), one))
    many = min(most, sum(good[one] > 0 for one in names), sum(bad[one] > 0 for one in names))
    all_good, all_bad = max(sum(good.values()), 1e-9), max(sum(bad.values()), 1e-9)
    filled, place = [[0.0, 0.0] for _ in range(many)], {}
    for one in names:
        parts = good[one] / all_good, bad[one] / all_bad
        fold = min(range(many), key=lambda at: (sum((filled[at][i] + parts[i]) ** 2 for i in (0, 1))
                                                - sum(filled[at][i] ** 2 for i in (0, 1)), at), default=0)  # fmt: skip
        place[one] = fold
        filled[fold] = [filled[fold][i] + parts[i] for i in (0, 1)]
    return Folds(np.array([place[one] for one in group], np.int64), many)
