"""What the model of names is given to read: a line, or what is near a hit in it, in pieces that it can bear."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.config import from_mapping
from crawler.stages.pii import names
from crawler.stages.pii.page import Hit
from crawler.stages.pii.redact import resolve
from crawler.stages.pii.stage import _LINE_REACH, PiiStage, _lines_with

LONGEST_RUN = 2 * names._LONGEST_WORD
needs_model = pytest.mark.skipif(
    names.installed_name("en_core_web_sm") is None, reason="the spaCy model en_core_web_sm is not installed"
)
stretch = st.builds(
    lambda part, times: part * times,
    st.sampled_from(["a", "(", "'", "漢", "。", "1", "-", "😀", "\n"]),
    st.integers(1, 900),
)
text_of_stretches = st.lists(stretch | st.sampled_from([" ", "\n"]), max_size=12).map("".join)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text_of_stretches)
def test_the_pieces_are_the_whole_text_and_hold_no_word_that_is_too_long(text):
    pieces = [text[start:end] for start, end in names._blocks(text, 0, len(text))]
    assert "".join(pieces) == text
    assert all(pieces)
    assert max((len(word) for piece in pieces for word in piece.split()), default=0) < LONGEST_RUN


def test_a_text_without_long_words_stays_in_one_piece():
    text = "The mill stands at the brook.\n" * 300
    assert list(names._blocks(text, 0, len(text))) == [(0, len(text))]


def test_a_long_word_is_cut_behind_a_sentence_where_it_has_one():
    text = "她住在河边的老磨坊里已经四十年了。" * 40
    cuts = [end for _, end in names._blocks(text, 0, len(text))]
    assert len(cuts) > 1
    assert all(text[cut - 1] == "。" for cut in cuts)


@needs_model
@pytest.mark.parametrize("seed", ["(", "'", ":)"])
def test_no_word_without_a_space_costs_the_model_the_square_of_its_length(seed):
    """Sixteen times the text may cost 64 times the CPU at most; quadratic work would cost 256 times."""
    finder = names.NameFinder("en_core_web_sm")

    def cost(characters):
        start = time.process_time()
        list(finder.find_all(seed * (characters // len(seed))))
        return time.process_time() - start

    cost(100)
    assert cost(16_000) < 64 * max(0.005, min(cost(1_000) for _ in range(3)))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text_of_stretches, st.lists(st.tuples(st.integers(0, 6_000), st.integers(1, 40)), max_size=8))
def test_every_hit_lies_in_a_line_that_is_read_whole_unless_it_is_long(text, places):
    hits = resolve(Hit(at, min(at + width, len(text)), "X", "x") for at, width in places if at < len(text))
    lines = _lines_with(text, hits)
    assert all(first[1] < second[0] for first, second in pairwise(lines))
    for hit in hits:
        start, end = next(line for line in lines if line[0] <= hit.start and hit.end <= line[1])
        whole = text.rfind("\n", 0, hit.start) + 1, text.find("\n", hit.end) % (len(text) + 1)
        assert start <= whole[0] or hit.start - start > _LINE_REACH // 2
        assert end >= whole[1] or end - hit.end > _LINE_REACH // 2


@needs_model
def test_a_name_in_a_long_line_goes_where_an_identifier_is_near_and_stays_where_none_is():
    far = "The meadow behind the mill is cut twice a year, and nobody hurries. " * 60
    text = f"Robert Miller mows. {far}Please write to Jane Doe, jane.doe@mill-company.com, for hay. {far}"
    found = {text[hit.start : hit.end] for hit in PiiStage(from_mapping({}).pii).hits(text, "en")}
    assert found == {"Jane Doe", "jane.doe@mill-company.com"}


@needs_model
def test_a_name_beside_a_word_of_fifty_thousand_characters_is_found():
    text = f"Please write to Jane Doe, jane.doe@mill-company.com, for hay. {'(' * 25_000}{')' * 25_000} Thanks."
    found = {text[hit.start : hit.end] for hit in PiiStage(from_mapping({}).pii).hits(text, "en")}
    assert found == {"Jane Doe", "jane.doe@mill-company.com"}


def test_a_sentence_is_in_a_block_where_its_first_character_is():
    blocks = [(0, 10), (10, 20), (30, 40)]
    inside = [at for at in range(45) if names._is_in_one(at, blocks)]
    assert inside == [*range(20), *range(30, 40)]
    assert not names._is_in_one(0, [])
