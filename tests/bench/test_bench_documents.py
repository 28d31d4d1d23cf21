"""The comparison of document readers counts words in their order, and its files hold the texts they are made of."""

from __future__ import annotations

import random

from bench.documents.by_program import HEAD
from bench.documents.compare import common, f1, heads_in, low
from bench.documents.make import SCRIPTS, Source, sources, texts


def by_table(one, other):
    row = [0] * (len(other) + 1)
    for word in one:
        before = 0
        for at, candidate in enumerate(other, 1):
            before, row[at] = row[at], before + 1 if word == candidate else max(row[at], row[at - 1])
    return row[-1]


def test_the_longest_common_subsequence_is_that_of_the_textbook():
    chance = random.Random(4)
    for _ in range(60):
        one, other = ([chance.choice("abcde") for _ in range(chance.randrange(40))] for _ in range(2))
        assert common(one, other) == by_table(one, other)


def test_order_counts_and_compatibility_forms_do_not():
    assert f1("one two three four", "one two three four") == 1.0
    assert f1("the ﬁne mill", "the fine mill") == 1.0
    assert f1("one two three four", "three four one two") == 0.5
    assert f1("one two", "") == 0.0


def test_texts_repeat_no_paragraph():
    found = [paragraph for text in texts(3, words=500) for paragraph in text]
    assert len(found) == len(set(found)) > 20
    assert not any("`" in paragraph or "](" in paragraph for paragraph in found)


def test_the_percentile_is_the_lowest_of_ten_and_characters_count_where_words_have_no_spaces():
    assert low([0.9] * 9 + [0.1]) == 0.9 and low([0.9] * 8 + [0.1, 0.2]) == 0.2 and low([0.5]) == 0.5
    assert f1("水車小屋", "水車 小屋", by_sign=True) == 1.0 and f1("水車小屋", "水車 小屋") < 0.5


def test_words_of_heads_are_those_that_the_text_does_not_have_itself():
    assert heads_in("one two", f"one\n{HEAD}\ntwo\n7") == 7 / 9
    assert heads_in(f"{HEAD} one", f"{HEAD} one") == 0.0


def test_a_source_says_notes_behind_their_paragraph_and_rows_behind_the_first():
    source = Source("x", ["one", "two"], rows=[["a", "b"]], notes={0: "a note"})
    assert source.text == "one\na note\na b\ntwo"
    assert len({(s.layout, s.text) for s in sources(1)}) == len(list(sources(1))) == 5 + 2 * len(SCRIPTS)
