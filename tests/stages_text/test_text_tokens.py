"""Tokens and words: what the rules count."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.stages._tokens import spacy_tokenizer, tokenize
from crawler.stages._words import count_words

SENTENCES = [
    "It's a test, isn't it? We don't know; they've said so.",
    'The price (1,000.50 dollars) rose 10% in the U.S. - "a record", e.g. for 10km runs.',
    "foo-bar foo_bar /usr/bin f(a, b) -> None; x=1 [1] #tag @user C++",
    "cannot we're I'd rock'n'roll word.Next a,b 1-2 end... ok… --schema-only :8080 foo()",
    "l'homme d’accord aujourd'hui Größe: naïve—dash – 'single' `code` <tag>",
    "See https://example.org/a/b?c=d#e, or www.example.org. (Really!)",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_fast_tokenizer_agrees_with_spacy(sentence):
    assert tokenize(sentence) == spacy_tokenizer()(sentence)


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=300))
def test_tokens_hold_every_character_that_is_no_white_space(text):
    assert "".join(tokenize(text)) == "".join(text.split())


@pytest.mark.parametrize("piece", ["(", "a.", "''", "x-", "1%", "...", "[a", "://", "n't"])
def test_tokens_of_a_long_chunk_take_linear_time(piece):
    started = time.process_time()
    tokenize(piece * 100_000)
    assert time.process_time() - started < 5.0


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("two words", 2), ("人工智能是分支", 4), ("Python 人工智能", 4), ("สวัสดีครับผม", 4)],
)
def test_words_are_estimated_where_a_script_has_no_spaces(text, words):
    assert count_words(text) == words
