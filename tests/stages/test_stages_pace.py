"""What was made faster answers what its plain form answers."""

import re
from collections import Counter
from statistics import pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.stages.quality import score, tokenizers, tokens
from crawler.stages.quality.rules import gopher_repetition
from tests.support.ngrams import duplicate_n_gram_shares, top_n_gram_chars

EXAMPLES = settings(max_examples=300, deadline=None, derandomize=True)
TOKENS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "aa", "é", "𝒳", "\ud800", "word"]), max_size=80)


def plain_duplicates(tokens, n):
    """As datatrove scans: left to right, a repeat is jumped over."""
    seen, repeated, index = set(), 0, 0
    while index <= len(tokens) - n:
        gram = "".join(tokens[index : index + n])
        if gram in seen:
            repeated += len(gram)
            index += n
        else:
            seen.add(gram)
            index += 1
    return repeated


@EXAMPLES
@given(TOKENS)
def test_repeated_runs_are_those_of_a_scan_from_left_to_right(tokens):
    sizes = [1, 2, 3, 5, 10]
    expected = [(n, plain_duplicates(tokens, n) / 7) for n in sizes]
    assert duplicate_n_gram_shares(tokens, sizes, 7) == expected


@EXAMPLES
@given(TOKENS, st.integers(2, 4))
def test_the_first_of_the_most_frequent_runs_counts(tokens, n):
    grams = Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    gram, count = max(grams.items(), key=lambda item: item[1]) if grams else ((), 0)
    assert top_n_gram_chars(tokens, n) == len(" ".join(gram)) * count


@EXAMPLES
@given(st.text("a\n ", max_size=30))
def test_lines_and_paragraphs_are_what_stands_between_runs_of_line_feeds(text):
    assert gopher_repetition._lines(text) == re.split(r"\n+", text)
    assert gopher_repetition._paragraphs(text.strip()) == re.split(r"\n{2,}", text.strip())


CHUNKS = ["Mr", "a", "X", "dont", "cannot", "etc", "Straße", "ß", "U", "word", "1", "don't", "'", ":", "no", "\u04c0"]


@EXAMPLES
@given(st.lists(st.sampled_from([*CHUNKS, *".,;:!?) "]), max_size=9).map("".join))
def test_a_word_with_one_mark_is_split_as_any_other_chunk(text):
    split = [tokens._split(chunk) for chunk in text.split()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_is_word_and_mark", lambda _: False)
        assert split == [tokens._split(chunk) for chunk in text.split()]


@EXAMPLES
@given(st.lists(st.sampled_from([*CHUNKS, *".!?)” "]), max_size=16).map("".join))
def test_sentences_counted_by_chunks_are_those_of_the_tokens(line):
    assert tokenizers.FAST.sentences(line) == tokenizers.token_sentences(tokens.tokenize(line))


PLAIN_CITATION = re.compile(
    r"§§?\s?\d|\bArt(?:icle|ikel|\.)\s?\d|\b\d++\s[A-Z][\w.]*+\s\d|\bv\.\s[A-Z]|\b(?:Section|Abs\.|Nr\.|No\.)\s?\d"
)
PLAIN_URL = re.compile(r"https?://\S++|www\.\S++", re.IGNORECASE)
CITED = "§ §§ 5 12 Article Art. Artikel A v. v X Smith U.S.C. Section Abs. Nr. No. Sv. ٣ _"
ADDRESSES = "http:// HTTPS:// httpſ:// www. Www. hwww.a . ẞ"
PIECES = [*CITED.split(), *ADDRESSES.split(), " ", "\n"]


@EXAMPLES
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_citations_and_addresses_are_found_where_the_plain_expressions_find_them(text):
    for fast, plain in ((score._CITATION, PLAIN_CITATION), (score._URL, PLAIN_URL)):
        assert [m.span() for m in fast.finditer(text)] == [m.span() for m in plain.finditer(text)]


@EXAMPLES
@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=60))
def test_the_deviation_of_line_lengths_is_that_of_the_population(lengths):
    assert score._deviation(lengths) == pytest.approx(pstdev(lengths), abs=1e-9)
