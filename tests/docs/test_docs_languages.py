"""docs/languages.md says what the stages know."""

from __future__ import annotations

from scripts.languages_table import HEAD, TARGET, table


def test_the_table_of_languages_is_the_one_that_the_stages_give():
    assert TARGET.read_text("utf-8") == HEAD + "\n".join(table()) + "\n"
