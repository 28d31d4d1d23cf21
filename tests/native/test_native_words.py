"""Scores of names and words in C are those that the tables in Python give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree

from crawler import native
from crawler.native.words import NativeTable
from crawler.stages.extraction.learned.model import the_model
from crawler.stages.extraction.learned.numbers import _name_scores, features
from crawler.stages.extraction.learned.tables import Scores
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.parse.stage import parse_html
from tests.native.native_support import PROBE, both, built, mutated

pytestmark = built


def scores_of(texts: list[str], names: list[tuple[str, str]]) -> Scores:
    """A table of all keys of these texts and names, each with a number of its own, and some zeros among them."""
    asked: set[int] = set()

    def noted(key: int) -> int:
        asked.add(key)
        return 0

    recorder = Scores(noted)
    for text in texts:
        recorder.of_block(text)
    for (called, tag), (_, around) in zip(names, [("", ""), *names], strict=False):
        recorder.of_names(called, tag, around)
    table = {key: key % 251 - 125 if key % 5 else 0 for key in asked}
    return Scores(lambda key: table.get(key, 0), NativeTable(table))


def same_words(texts: list[str]) -> None:
    scores = scores_of(texts, [])
    floats, asked, unknown, left = scores.native.of_texts(native.library(), texts)
    rows = list(zip(*(column.tolist() for column in (*floats, asked, unknown)), strict=True))
    for i, text in enumerate(texts):
        if i in left:
            assert not text[:120].isascii()
        else:
            assert rows[i] == scores.of_block(text)
    assert set(left) == {i for i, text in enumerate(texts) if not text.encode("utf-8", "replace")[:120].isascii()}


WORD = st.text(st.sampled_from("abcXYZ019.,:;!?()\"'- \t\n\x1c-é\u3000"), max_size=14)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(WORD, max_size=40).map(" ".join), max_size=6))
@example(["", " ", "a" * 60, "a" * 61, "b" * 300, "x " * 80, "..", "(A)", "é", "a" * 119 + "é", "a" * 120 + "é"])
@example(["w", "a", "A", "a.", "\x00", "a\x00b"])
def test_words_and_lines_of_any_texts(texts):
    same_words(texts)


NAME = st.text(st.sampled_from("abXYZ09-_ \t\x1c"), max_size=30)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["div", "p", "x-y"]), NAME), min_size=1, max_size=8))
@example([("div", "a A a-A aB AB ABc aBC a1b"), ("div", " ".join(f"n{i}" for i in range(40))), ("p", "")])
@example([("div", "aB" * 40), ("p", "A"), ("p", "A A A"), ("x-y", "X")])
def test_names_of_any_elements(elements):
    body = inner = etree.Element("body")
    for tag, called in elements:
        inner = etree.SubElement(inner, tag, {"class": called.replace("\x1c", "\n")})
        inner.text = "x"
    page = walk(body)
    scores = scores_of([], list(zip(page.names, page.tags, strict=True)))
    python, c = both(lambda: _name_scores(page, scores))
    assert [column.tolist() for column in c] == [column.tolist() for column in python]
    assert page.called is not None
    assert scores.native.of_names(native.library(), page.called) is not None


def test_names_beyond_ascii_are_left_to_python():
    page = walk(parse_html("<div class=Ärger><p>a</p></div>"))
    scores = the_model().scores
    assert scores.native.of_names(native.library(), page.called) is None
    python, c = both(lambda: _name_scores(page, scores))
    assert [column.tolist() for column in c] == [column.tolist() for column in python]


@pytest.mark.parametrize("seed", range(40))
def test_all_features_of_pages_in_pieces_are_the_same_bits(seed):
    text = mutated(PROBE, seed, 5 * (seed % 7)) if seed else PROBE
    python, c = both(lambda: features(walk(parse_html(text)), the_model().scores, "A title of words"))
    assert c[0].dtype == np.float32
    assert c[0].tobytes() == python[0].tobytes()
    assert (c[1].known, c[1].letters, c[1].names) == (python[1].known, python[1].letters, python[1].names)


def test_pages_have_different_scores():
    """Else two tables that know nothing would be equal."""
    page = walk(parse_html(PROBE))
    floats, _, unknown, _ = the_model().scores.native.of_texts(native.library(), page.texts)
    assert all(len(set(column.tolist())) > 3 for column in floats)
    assert unknown.sum() > 0
    assert all(len(set(column.tolist())) > 5 for column in _name_scores(page, the_model().scores))
