"""Runs of tokens that stand more than once are found however long the text is and wherever its blocks end."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from crawler.stages.quality.ngrams import BLOCK, WINDOW, Runs

SIZES = (5, 8, 10)


def naive(tokens: list[str], n: int) -> set[int]:
    """Where a run of n tokens begins whose characters another run of n has."""
    runs = ["".join(tokens[at : at + n]) for at in range(len(tokens) - n + 1)]
    times = Counter(runs)
    return {at for at, run in enumerate(runs) if times[run] > 1}


@pytest.mark.parametrize("count", [0, 1, 4, 12, 600, 9_000])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_repeated_run_is_found_and_next_to_no_other(count, seed):
    rng = random.Random(seed)
    kinds = ["a", "bb", "żółw", "\U00020000", *(f"word{n}" for n in range(40 if seed == 1 else 4_000))]
    tokens = [rng.choice(kinds) for _ in range(count)]
    if count > 100:
        tokens[-30:] = tokens[:30]  # a repeat over the whole length, so over all blocks
    joined = "".join(tokens)
    assert count < 9_000 or len(joined) > 2 * BLOCK
    found = [
        set(places.tolist()) for places in Runs(joined, np.array([len(t) for t in tokens], np.int64)).repeated(SIZES)
    ]
    for n, places in zip(SIZES, found, strict=True):
        assert places >= naive(tokens, n)
        assert len(places - naive(tokens, n)) <= 2  # by a hash of runs of another size


@pytest.mark.parametrize("before", [BLOCK - 2 * WINDOW, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 3])
def test_a_repeat_that_lies_over_the_end_of_a_block_is_found(before):
    run = [f"quern{n}" for n in range(10)]
    lone = [f"{n:05d}" for n in range(before // 5)] + ["x" * (before % 5 or 5)]
    tokens = [*run, *lone, *run]
    (found,) = Runs("".join(tokens), np.array([len(t) for t in tokens], np.int64)).repeated((10,))
    assert found.tolist() == [0, len(tokens) - 10]
