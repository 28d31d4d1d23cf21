"""A withdrawal in words."""

from __future__ import annotations

from crawler.dataset.exclude import Concerned
from crawler.observe.withdrawn import announce


def test_one_document_is_one_and_several_are_several() -> None:
    one = announce(Concerned(kept=1, words=1, rejected=2, with_text=1, archived=3, raw=1), "corpus")
    assert "  1 kept document (1 word): the records go\n" in one
    assert (
        "  2 records of rejected pages: they stay, the text goes of 1\n" in one and "  1 raw page in the archive" in one
    )


def test_held_pages_are_told_apart_from_rejected_ones_as_their_records_go() -> None:
    found = Concerned(kept=1, words=1, held=2, rejected=1, with_text=1)
    said = announce(found, "corpus")
    assert (
        "  2 held pages: the records go\n" in said
        and "  1 record of a rejected page: it stays, the text goes of 1\n" in said
    )
    assert "held" not in announce(Concerned(kept=1, words=1), "corpus")
