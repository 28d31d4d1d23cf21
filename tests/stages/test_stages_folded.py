"""Characters that are folded by tables become what the expressions for every text make of them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.stages.text import folded
from crawler.stages.text.marks import without_punctuation
from crawler.stages.text.units import plain_at_length

ALONE = [char for char in map(chr, range(0x3000)) if folded.plain(char) is not None]
COMPOSED = [char for char in map(chr, range(0x3000)) if folded.lower_words(char) is not None]
ORDINARY = st.text(st.sampled_from("aZ é.,;-0123456789 \n\x1c\u00a0\u2028·،٬“ΑσЖ\u00adǅŒ≠µ"), max_size=40)


def composed_at_length(text):
    return " ".join(without_punctuation(unicodedata.normalize("NFC", text).lower(), "").split())


def spaced(text):
    """Every white space as a space: who reads the text splits it there."""
    return "".join(" " if char.isspace() else char for char in text)


@given(st.one_of(ORDINARY, st.text(st.sampled_from(ALONE)), st.text(max_size=20)))
@example("1.2.3,4 .5 6. 7..8 9,,0 1.a 2.\n3")
@example("1" * 20 + "." + "2" * 20 + "x")
@example("")
@settings(max_examples=500)
def test_a_plain_text_is_that_of_the_expressions(text):
    assert folded.plain(text) in {None, spaced(plain_at_length(text))}


@given(st.one_of(ORDINARY, st.text(st.sampled_from(COMPOSED)), st.text(max_size=20)))
@example("  two   spaces \n - and a mark — alone ")
@example("...")
@example("")
@settings(max_examples=500)
def test_the_words_in_lower_case_are_those_of_the_composed_text(text):
    assert folded.lower_words(text) in {None, composed_at_length(text)}


def test_each_character_that_decides_alone_becomes_the_same_between_others():
    for before, after in (("", ""), ("a", "b"), ("Α", "Σ"), ("e", "\u0301"), ("1", "2"), (".", ",")):
        for char in ALONE:
            text = f"{before}{char}{after}"
            assert folded.plain(text) in {None, spaced(plain_at_length(text))}
        for char in COMPOSED:
            text = f"{before}{char}{after}"
            assert folded.lower_words(text) in {None, composed_at_length(text)}


@pytest.mark.parametrize("text", ["Straße 1,000 “né” — Ж.", "naïve façade", "Tiếng Việt: ế", "a\tb\r\nc"])
def test_ordinary_texts_are_told_by_the_tables(text):
    assert folded.plain(text) is not None
    assert folded.lower_words(text) is not None


@pytest.mark.parametrize("text", ["e\u0301", "ΑΣ", "İ", "人", "สวัสดี", "\u1112\u1161", "٣", "\ud800", "\U0001f600"])
def test_what_looks_at_its_neighbours_or_stands_beyond_the_tables_is_not(text):
    assert folded.plain(text) is None or folded.lower_words(text) is None


def test_no_text_that_the_tables_tell_has_a_script_without_spaces():
    """`tokens` would have to read it by characters."""
    for text in ("ก", "ກ", "ཀ", "က", "ក", "漢", "か", "カ", "⺀", "〆"):
        assert folded.plain(text) is None
