"""Faster parts of justext, which trafilatura asks last: texts are joined once, neighbours are looked up.

To be imported only where `originals.py` knows what is replaced; `faster.py` installs them.
"""

from __future__ import annotations

from typing import Any

from justext import core
from justext.core import PathInfo
from justext.paragraph import Paragraph
from trafilatura import external

_DECIDED = frozenset({"good", "bad"})
_TOLD = frozenset({"good", "bad", "neargood"})


class _Path(PathInfo):  # type: ignore[misc]  # justext has no types
    """Where justext stands in the page; nobody asks its paragraphs for their XPath, which costs more than the rest."""

    xpath = ""


class _Paragraph(Paragraph):  # type: ignore[misc]  # justext has no types
    """A paragraph of justext's that joins its text once, not at each of ten questions about it."""

    _text: str | None = None

    @property
    def text(self) -> str:
        """All text so far, white space collapsed."""
        if self._text is None:
            self._text = str(super().text)
        return self._text

    def append_text(self, text: str) -> str:
        """As justext does it; answers what was added."""
        self._text = None
        return str(super().append_text(text))


def revise_paragraph_classification(paragraphs: list[Any], max_heading_distance: int = 200) -> None:
    """What `justext.core.revise_paragraph_classification` does, in linear time.

    Its searches for the next decided neighbour from every short paragraph do not end within a minute on 10,000 of them.
    """
    if any(paragraph.heading for paragraph in paragraphs):  # trafilatura asks without headings
        _REVISE(paragraphs, max_heading_distance)
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


_REVISE = core.revise_paragraph_classification

REPLACEMENTS: tuple[tuple[Any, str, Any], ...] = (
    (core, "PathInfo", _Path),
    (core, "Paragraph", _Paragraph),
    (external, "revise_paragraph_classification", revise_paragraph_classification),
)
"""Module, name in it, and what stands there once installed."""
