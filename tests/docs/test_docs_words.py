"""`scripts/count_words.py`: the docs stay short, and only what a command writes is left out of the count."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import count_words
from scripts.count_words import MOST, counts, words
from tests.support.places import PROJECT


def test_the_docs_have_no_more_words_than_is_allowed():
    assert sum(counts().values()) <= MOST, "take some out: python scripts/count_words.py shows the pages"


def test_the_changelog_is_three_pages_long():
    assert words(PROJECT / "CHANGELOG.md") <= 2_500


def test_every_page_is_counted_and_only_those_that_a_command_writes_have_no_words():
    found = counts()
    assert set(found) == {page.relative_to(PROJECT / "docs").as_posix() for page in (PROJECT / "docs").rglob("*.md")}
    assert {page for page, number in found.items() if number == 0} == count_words.WRITTEN


def test_what_stands_between_the_marks_of_a_command_does_not_count(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("two words\n\n<!-- made: begin -->\n| a | b |\n<!-- made: end -->\n\nand three more\n")
    assert words(page) == 5
    page.write_text(
        "<!-- made: begin -->\none\n<!-- made: end -->\nkept\n<!-- x.py writes from here -->\none\n<!-- to here -->\n"
    )
    assert words(page) == 1


@pytest.mark.parametrize(
    "text", ["<!-- made: begin -->\nwords without an end\n", "words\n<!-- a note -->\nmore words\n"]
)
def test_a_mark_without_an_end_and_a_note_hide_nothing(tmp_path: Path, text: str):
    (tmp_path / "page.md").write_text(text)
    assert words(tmp_path / "page.md") == len(text.split())
