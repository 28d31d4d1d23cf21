"""Repeated runs of tokens: what the suffix array finds is what a slow and simple search finds."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.dataset.suffixes import Passage, Repeats


def repeats(tokens, k):
    return Repeats(np.array(tokens, np.int32), k)


def columns(found):
    passages = found.passages()
    return sorted(zip(passages.starts.tolist(), passages.lengths.tolist(), passages.counts.tolist(), strict=True))


def slowly(tokens, k):
    """Positions of every run of k tokens that stands more than once, by its content."""
    runs = defaultdict(list)
    for start in range(len(tokens) - k + 1):
        runs[tuple(tokens[start : start + k])].append(start)
    return [starts for starts in runs.values() if len(starts) > 1]


def marked(starts, k, size):
    flags = np.zeros(size, bool)
    for start in starts:
        flags[start : start + k] = True
    return flags.tolist()


TOKENS = st.lists(st.integers(0, 3), max_size=80) | st.lists(st.sampled_from([0, 255, 256, 65_535, 65_536, 2**24]))


@settings(deadline=None, derandomize=True, max_examples=300)
@given(TOKENS, st.integers(1, 6))
def test_the_groups_are_those_of_a_slow_search(tokens, k):
    found = repeats(tokens, k)
    expected = slowly(tokens, k)
    assert sorted(found.first.tolist()) == sorted(starts[0] for starts in expected)
    for starts in expected:
        assert found.occurrences(starts[0]).tolist() == starts
    assert found.covered().tolist() == marked([s for starts in expected for s in starts], k, len(tokens))
    surplus = [s for starts in expected for s in starts if s >= starts[0] + k]
    assert found.surplus().tolist() == marked(surplus, k, len(tokens))


@settings(deadline=None, derandomize=True, max_examples=300)
@given(TOKENS, st.integers(1, 6))
def test_every_repeated_run_lies_in_a_passage_and_every_passage_repeats(tokens, k):
    found = repeats(tokens, k)
    covered = set()
    for start, length, count in columns(found):
        passage = found.whole(start, length)
        whole = tokens[passage.start : passage.start + passage.length]
        times = sum(tokens[i : i + passage.length] == whole for i in range(len(tokens) - passage.length + 1))
        assert times == passage.count == count
        covered |= set(range(passage.start, passage.start + passage.length - k + 1))
    assert covered >= set(found.first.tolist())


@settings(deadline=None, derandomize=True, max_examples=300)
@given(TOKENS, st.integers(1, 6))
def test_after_the_cut_every_run_of_k_is_still_somewhere_or_its_parts_are(tokens, k):
    """No token value vanishes: the first occurrence of each is never surplus."""
    surplus = repeats(tokens, k).surplus()
    kept = {token for token, cut in zip(tokens, surplus, strict=True) if not cut}
    assert kept == set(tokens)


def test_a_passage_is_as_long_as_all_its_occurrences_agree():
    text = [*range(10), 90, *range(10), 91, *range(3, 8), 92]
    assert columns(repeats(text, 3)) == [(0, 10, 2), (3, 5, 3), (6, 4, 2)]


def test_a_passage_is_extended_to_where_its_occurrences_begin_to_agree():
    found = repeats([9, 1, 2, 3, 4, 5, 8, 1, 2, 3, 4, 5, 7, 1, 2, 3, 4, 6], 3)
    assert columns(found) == [(1, 4, 3), (3, 3, 2)]
    assert found.whole(3, 3) == Passage(start=1, length=5, count=2)


@pytest.mark.parametrize("tokens", [[], [1], [1, 1], [5] * 3])
def test_a_text_no_longer_than_a_run_repeats_nothing(tokens):
    found = repeats(tokens, 3)
    assert len(found.passages()) == 0 and not found.surplus().any() and len(found.surplus()) == len(tokens)
