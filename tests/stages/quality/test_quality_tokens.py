"""Tokens and words: what the rules count."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.quality.exact_tokenizers import exact
from crawler.stages.quality.tokenizers import (
    FAST,
    PIECES,
    fast,
    token_sentences,
)
from crawler.stages.quality.tokens import tokenize
from crawler.stages.text.words import count_words

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
    assert tokenize(sentence) == exact("en").words(sentence)


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


@settings(deadline=None, derandomize=True)
@given(st.text(alphabet="人工智能。，ไทย ひらカタaB1.-", max_size=120))
def test_pieces_hold_every_character_that_is_no_white_space(text):
    assert "".join(PIECES.words(text)) == "".join(text.split())


def test_scripts_without_spaces_are_cut_into_pieces_of_a_words_length():
    assert PIECES.words("人工智能是分支。Python 3，很好") == [
        "人工",
        "智能",
        "是分",
        "支",
        "。",
        "Python",
        "3",
        "，",
        "很好",
    ]
    assert PIECES.words("プログラムはここ") == ["プログラ", "ム", "はこ", "こ"]


def test_only_languages_without_spaces_are_cut_into_pieces():
    assert fast("zh") is fast("th") is PIECES
    assert fast("en") is fast("ko") is FAST
    assert fast("de").words("d'accord E-Mail") == ["d'accord", "E-Mail"]


def test_the_comparison_takes_the_oracles_tokenizer_of_the_language():
    assert exact("fr").words("l'homme") == ["l'", "homme"]
    assert exact("en").words("l'homme") == ["l'homme"]
    assert exact("xh").name == "spacy"


def test_a_language_without_the_oracles_tokenizer_is_counted_by_the_fast_one_and_says_so():
    assert exact("ko").name == "fast"


def test_spacys_own_names_in_a_text_do_not_stop_the_comparison():
    assert exact("en").words("a word IS_ALPHA b") == ["a", "word", "b"]


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("", 0),
        ("No end", 1),
        ("One. Two! Three?", 3),
        ('He said "Go." Then he went.', 2),
        ("Wait... what?! Yes.", 2),
        ("See e.g. the U.S. page", 1),
        ("我来了。你呢？", 2),
    ],
)
def test_sentences_are_counted_as_the_oracle_counts_them(line, number):
    language = "zh" if "我" in line else "en"
    assert fast(language).sentences(line) == number
    if language == "en":
        assert exact(language).sentences(line) == number


def test_a_mark_ends_a_sentence_only_where_a_word_follows():
    assert token_sentences(["a", ".", ")", '"']) == 1
    assert token_sentences(["a", ".", ")", "b"]) == 2
