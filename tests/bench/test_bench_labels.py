"""Labels of training pages: grids and tables have no long line, and every word is given out once."""

from __future__ import annotations

from bench.extraction.labels import labels

LONG = "a long sentence of an article with more than five words in it"


def test_whole_lines_are_found_where_no_long_block_is_near():
    assert labels(["Menu", "Red shoes", "49.99"], "Red shoes\n49.99") == [0.0, 1.0, 1.0]


def test_a_line_is_given_as_often_as_it_is_expected():
    assert labels(["Red shoes", "Red shoes", "Red shoes"], "Red shoes\nRed shoes") == [1.0, 1.0, 0.0]


def test_a_line_is_not_given_again_for_words_of_another_one():
    far = " ".join(f"word{n}" for n in range(200))  # beyond where `coverage` looks for a short block
    assert labels([LONG, "Red shoes", "Red shoes"], f"{LONG}\n{far}\nRed shoes\nRed big shoes") == [1.0, 1.0, 0.0]


def test_cells_of_a_row_are_lines_of_their_own():
    assert labels(["Name", "Value", "Other"], "Name | Value") == [1.0, 1.0, 0.0]


def test_single_words_are_given_between_taken_blocks_alone():
    blocks = ["by Ann", LONG, "by Ann", LONG + " again", "by Ann"]
    found = labels(blocks, f"{LONG} written by Ann\n{LONG} again")
    assert found[1] == found[3] == 1.0 and sum(found[i] for i in (0, 2, 4)) == 1.0


def test_nothing_is_given_where_nothing_is_expected():
    assert labels(["Menu", LONG], "") == [0.0, 0.0]
