"""Repeated runs of tokens in C are those that Python counts."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler import native
from crawler.native.grams import repetition
from crawler.stages.quality.rules.base import Page
from crawler.stages.quality.rules.gopher_repetition import GopherRepetition, _counted
from tests.native.native_support import PROBE, both, built

pytestmark = built
TOKENS = st.lists(st.sampled_from(["a", "b", "ab", "é", "中", "\U0001f517", "\ud800", "word", "."]), max_size=80)


def counted(tokens: list[str], tops: list[int], sizes: list[int]) -> object:
    known: dict[str, int] = {}
    numbers = np.array([known.setdefault(token, len(known)) for token in tokens], np.int64)
    lengths = np.array(list(map(len, tokens)), np.int64)
    top, repeated = _counted(numbers, "".join(tokens), lengths, tops, sizes)
    return top, list(repeated)


@settings(max_examples=300, deadline=None)
@given(TOKENS)
@example([])
@example(["one"])
@example(["same"] * 500)
@example(["a", "bc", "ab", "c"] * 3)  # other tokens, the same characters
def test_runs_that_repeat_are_counted_alike(tokens):
    python, c = both(lambda: counted(tokens, [1, 2, 3, 4], [1, 2, 5, 10]))
    assert c == python


def test_a_rule_set_finds_the_same_in_both_ways():
    text = (" ".join(PROBE.split()[:400]) + "\n") * 3
    python, c = both(lambda: GopherRepetition().judge(Page(text)))
    assert c == python
    assert python.values["dup_5_gram"] > 0.5


def test_what_is_no_text_is_left_to_python():
    tokens, ends = np.array([0, 1], np.int64), np.array([0, 1, 2], np.int64)
    library = native.library()
    assert repetition(library, tokens, "ab", ends, tops=[2], sizes=[1]) == ([(0, 1)], [0])
    assert repetition(library, tokens, "abc", ends, tops=[2], sizes=[1]) is None
    assert repetition(library, tokens, "ab", ends, tops=[3], sizes=[1]) is None
    assert repetition(library, tokens, "ab", ends, tops=[2], sizes=[0]) is None
    assert repetition(library, tokens[:0], "", ends[:1], tops=[], sizes=[1]) is None
