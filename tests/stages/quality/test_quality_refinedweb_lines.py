"""RefinedWeb's line corrections against cases worked out by hand from their specification.

The clauses are those of DCLM's `refinedweb.yaml` (Li et al. 2024, arXiv 2406.11794) in their order:
U upper case/length > 0.5, the line goes; N digits/length > 0.999999, the line goes; C a counter, the line goes; W fewer
than two words, the line goes, but empty lines stay; S on lines of at most ten words the button texts are cut, whatever
their case, with one white space beside them, and a line that was nothing else goes; D more than 0.05 of the words
removed, the page goes. A word is what begins with a letter or digit between white space.
"""

from __future__ import annotations

import pytest

from crawler.document import DropReason
from crawler.stages.quality.rules import RefinedWebLines
from crawler.stages.quality.rules.base import Page

GONE = None
BEFORE = "The story begins on a morning by the river,\nand nobody knew yet how it would go on. "
AFTER = "\nIn the evening the boats came home again."
PADDING = "\n" + "\n".join(f"Sentence number {n} says a little more about the river and its boats." for n in range(12))

LINES = [
    # U: 0.5 is not above 0.5
    ("U", "ABcd efgh", "ABcd efgh"),  # 2 of 9
    ("U", "ABCD efgh", "ABCD efgh"),  # 4 of 9
    ("U", "ABCD fgh", "ABCD fgh"),  # 4 of 8 = 0.5
    ("U", "ABCDE fgh", GONE),  # 5 of 9
    ("U", "SIGN UP NOW", GONE),  # 9 of 11: white space counts towards the length
    ("U", "A B C D E F", GONE),  # 6 of 11
    ("U", "ÄÖÜ ÉÈ", GONE),  # upper case beyond ASCII: 5 of 6
    ("U", "中文 文字 没有 大写", "中文 文字 没有 大写"),  # no case
    # N: a single other character saves the line
    ("N", "20240131", GONE),
    ("N", "2024 01", "2024 01"),  # 6 of 7; two words
    ("N", "12,345 678", "12,345 678"),
    ("N", "١٢٣", GONE),  # digits of any script
    # C: the whole line, lower-cased
    ("C", "3 likes", GONE),
    ("C", "1,234 Shares", GONE),
    ("C", "1.2K views", GONE),
    ("C", "12m followers", GONE),
    ("C", "5b downloads", GONE),
    ("C", "★ 17 comments »", GONE),
    ("C", "(42 retweets)", GONE),
    ("C", "42 retweets today", "42 retweets today"),
    ("C", "3 like", "3 like"),  # only the plurals of the list
    ("C", "about 3 likes", "about 3 likes"),  # a letter before the number
    ("C", "1.2KK views", "1.2KK views"),
    ("C", "3 reviews", "3 reviews"),
    ("C", "7\tupvotes", GONE),
    # W
    ("W", "Home", GONE),
    ("W", "Contact us", "Contact us"),
    ("W", "   ", GONE),  # not empty, and no word
    ("W", "", ""),  # empty lines stay
    ("W", "e-mail", GONE),
    # S
    ("S", "3 items in cart", "3"),
    ("S", "You have 3 items in cart today", "You have 3 today"),
    ("S", "ITEMS in cart, all of them", ", all of them"),
    ("S", "items in cart", GONE),
    ("S", "The night was long Read more...", "The night was long"),
    ("S", "The night was long READ MORE...", "The night was long"),
    ("S", "Read more... of the night", "Read more... of the night"),  # no suffix
    ("S", "Read more...", GONE),
    ("S", "Read more… of it", "Read more… of it"),  # three dots, not an ellipsis
    ("S", "Sign-in to your page", "to your page"),
    ("S", "sign-in to your page", "to your page"),
    ("S", "Please Sign-in here", "Please Sign-in here"),  # no prefix
    ("S", "Sign-in or show items in cart Read more...", "or show"),  # all three, eight words
    ("S", "one two three four five six seven items in cart", "one two three four five six seven"),  # ten words
    (
        "S",
        "one two three four five six seven eight items in cart",
        "one two three four five six seven eight items in cart",
    ),  # eleven words
    # order: U before W, C before W, W before S
    ("U W", "MENU", GONE),
    ("W S", "Sign-in", GONE),
]


def corrected(line: str) -> str:
    found = RefinedWebLines(max_removed=None).judge(Page(f"{BEFORE}\n{line}{AFTER}"))
    assert found.text is not None
    return found.text


def without(line: str | None) -> str:
    return BEFORE + AFTER if line is None else f"{BEFORE}\n{line}{AFTER}"


@pytest.mark.parametrize(("clause", "line", "expected"), LINES, ids=[f"{c}: {line[:40]}" for c, line, _ in LINES])
def test_a_line_is_corrected_as_its_clause_says(clause, line, expected):
    assert corrected(line) == without(expected)


DOCUMENTS = [
    # D: removed words / words before
    ("no word goes", PADDING, 0, True),
    ("6 of 100 words", " ".join(["w"] * 94) + "\n" + "\n".join(["Menu"] * 6), 6, False),
    ("5 of 100 words: 0.05 is not above 0.05", " ".join(["w"] * 95) + "\n" + "\n".join(["Menu"] * 5), 5, True),
    ("marks are no words", " ".join(["w"] * 40) + "\n" + "\n".join(["»", "***", "—", "|"] * 5), 0, True),
    ("everything goes", "HOME\nABOUT\nCONTACT", 3, False),
]


@pytest.mark.parametrize(("case", "text", "removed", "kept"), DOCUMENTS, ids=[case for case, *_ in DOCUMENTS])
def test_a_page_goes_that_loses_more_than_a_twentieth_of_its_words(case, text, removed, kept):
    found = RefinedWebLines().judge(Page(text))
    words = sum(word[0].isalnum() for word in text.split())
    assert found.values["refinedweb_removed_words"] == round(removed / words, 4)
    assert (found.failure is None) is kept
    if not kept:
        assert found.failure is not None
        assert found.failure.reason is DropReason.REFINEDWEB_LINES


def test_the_text_begins_and_ends_with_a_word():
    assert RefinedWebLines(max_removed=None).judge(Page("MENU\n\n  The story goes on.  \n\nEND")).text == (
        "The story goes on."
    )


def test_a_text_without_words_is_no_error():
    found = RefinedWebLines().judge(Page(""))
    assert found.failure is None
    assert found.text == ""
