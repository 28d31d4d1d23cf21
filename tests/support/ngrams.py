"""The repetition rules' n-grams of tokens that a test writes down."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.stages.quality.rules.gopher_repetition import _counted
from crawler.stages.quality.vocabulary import Vocabulary


def top_n_gram_chars(tokens: Sequence[str], n: int) -> int:
    """Characters of the most frequent n-gram times its count; 0 where the tokens are fewer."""
    return _count(tokens, [n], [])[0].get(n, 0)


def duplicate_n_gram_shares(tokens: Sequence[str], sizes: Sequence[int], chars: int) -> list[tuple[int, float]]:
    """For each n, the share of `chars` in n-grams that stood before; a repeat is jumped over whole."""
    found = _count(tokens, [], sizes)[1]
    return [(n, repeated / chars) for n, repeated in zip(sizes, found, strict=True)]


def _count(tokens: Sequence[str], tops: Sequence[int], sizes: Sequence[int]) -> tuple[dict[int, int], Sequence[int]]:
    known = Vocabulary()
    numbers = known.numbers(tokens)
    return _counted(numbers, "".join(tokens), known.lengths[numbers], tops, sizes)
