"""justext, which trafilatura asks last, classes short paragraphs by their neighbours: here in linear time.

Its own search from every short paragraph takes the square of their number: minutes of CPU time on one hostile page.
"""

from __future__ import annotations

from typing import Any

from justext import core

THEIRS = core.revise_paragraph_classification
"""What is replaced."""

_DECIDED = frozenset({"good", "bad"})
_TOLD = frozenset({"good", "bad", "neargood"})


def revise_paragraph_classification(paragraphs: list[Any], max_heading_distance: int = 200) -> None:
    """What `justext.core.revise_paragraph_classification` does; a test compares both."""
    if any(paragraph.heading for paragraph in paragraphs):  # trafilatura asks without headings
        THEIRS(paragraphs, max_heading_distance)
        return
    for paragraph in paragraphs:
        paragraph.class_type = paragraph.cf_class
    _decide_short(paragraphs)
    _decide_neargood(paragraphs)


def _decide_short(paragraphs: list[Any]) -> None:
    classes = [paragraph.class_type for paragraph in paragraphs]
    decided = zip(*_neighbours(classes, _DECIDED), strict=True)
    told = zip(*_neighbours(classes, _TOLD), strict=True)
    for paragraph, both, closer in zip(paragraphs, decided, told, strict=True):
        if paragraph.class_type == "short":
            nearly = any(far == "bad" and near == "neargood" for far, near in zip(both, closer, strict=True))
            good = both == ("good", "good") or (both != ("bad", "bad") and nearly)
            paragraph.class_type = "good" if good else "bad"


def _decide_neargood(paragraphs: list[Any]) -> None:
    before = "bad"
    following = _neighbours([paragraph.class_type for paragraph in paragraphs], _DECIDED)[1]
    for paragraph, after in zip(paragraphs, following, strict=True):
        if paragraph.class_type == "neargood":
            paragraph.class_type = "bad" if before == after == "bad" else "good"
        before = paragraph.class_type


def _neighbours(classes: list[str], wanted: frozenset[str]) -> tuple[list[str], list[str]]:
    """The nearest class that is wanted to the left and to the right of every position; "bad" beyond the ends."""
    return _to_the_left(classes, wanted), _to_the_left(classes[::-1], wanted)[::-1]


def _to_the_left(classes: list[str], wanted: frozenset[str]) -> list[str]:
    found, nearest = [], "bad"
    for name in classes:
        found.append(nearest)
        if name in wanted:
            nearest = name
    return found
