"""The repetition rules' n-grams of tokens that a test writes down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crawler.stages.quality.ngrams import Runs
from crawler.stages.quality.rules.gopher_repetition import _duplicate_chars, _top_chars
from crawler.stages.quality.vocabulary import Vocabulary


def top_n_gram_chars(tokens: Sequence[str], n: int) -> int:
    """Characters of the most frequent n-gram times its count; 0 where the tokens are fewer."""
    known = Vocabulary()
    numbers = known.numbers(tokens)
    return _top_chars(numbers, known.lengths[numbers], [n]).get(n, 0)


def duplicate_n_gram_shares(tokens: Sequence[str], sizes: Sequence[int], chars: int) -> list[tuple[int, float]]:
    """For each n, the share of `chars` in n-grams that stood before; a repeat is jumped over whole."""
    runs = Runs("".join(tokens), np.array(list(map(len, tokens)), dtype=np.int64))
    return [(n, found / chars) for n, found in _duplicate_chars(runs, sizes)]
