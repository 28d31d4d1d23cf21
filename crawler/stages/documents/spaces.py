"""Spaces that a PDF draws as room alone and that PDFium overlooks where the room is kerned: `how this`, not `howthis`.

Measured on pages of 12 tools: room within a word is under 0.05 of the height of letters, that between words over 0.19.
Each character costs three calls, so that a page is looked at whole only where some of its lines lack spaces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from crawler.stages.documents.rows import is_rtl
from crawler.stages.text.joins import UNSPACED

EVERY = 3
"""Lines of which one is looked at to find out about the page."""
_ROOM = 0.18
"""Of the height of the letters: the least room that is a space."""
_TOUCHING = 0.06
"""Likewise: the room under which a space is none."""
_MOST = 0.34
"""Share of the letters with such room behind them, from which a line is spaced out for its looks."""
_UNKNOWN = 0.1
_LEAST = 4
Box = tuple[float, float, float, float]
"""Left, bottom, right, top, as read from the left."""


def missing_spaces(text: str, box: Callable[[int], Box]) -> list[int]:
    """Places in a line in front of which a space is missing. box: of a character of the text."""
    if len(text) < _LEAST or is_rtl(text):
        return []
    pairs = [at for at, (a, b) in enumerate(pairwise(text), 1) if _may_part(a, b)]
    boxes: dict[int, Box] = {}
    found = [at for at in pairs if _room(_boxes(boxes, box, (at - 1, at))) > _ROOM]
    return found if len(found) < _MOST * len(pairs) else []


def false_spaces(text: str, box: Callable[[int], Box]) -> list[int]:
    """Places of spaces in a line between two letters that touch: PDFium takes the kerning of `v e` for one."""
    if is_rtl(text):
        return []
    spaces = (at for at in range(1, len(text) - 1) if text[at] == " " and (text[at - 1] + text[at + 1]).isalpha())
    return [at for at in spaces if _room((box(at - 1), box(at + 1))) < _TOUCHING]


def without(text: str, places: Sequence[int]) -> str:
    """The text without the characters at these places, which are in order."""
    edges = [-1, *places, len(text)]
    return "".join(text[a + 1 : b] for a, b in pairwise(edges))


def with_spaces(text: str, places: Sequence[int]) -> str:
    """The text with a space in front of each of these places, which are in order."""
    edges = [0, *places, len(text)]
    return " ".join(text[a:b] for a, b in pairwise(edges))


def _may_part(a: str, b: str) -> bool:
    return not (a.isspace() or b.isspace() or UNSPACED.match(a) or UNSPACED.match(b))


def _boxes(known: dict[int, Box], box: Callable[[int], Box], places: tuple[int, int]) -> tuple[Box, Box]:
    for at in places:
        if at not in known:
            known[at] = box(at)
    return known[places[0]], known[places[1]]


def _room(both: tuple[Box, Box]) -> float:
    """The room between two letters of one height, as a share of it; neither much nor little where they
    are not of one height."""
    (_, bottom, right, top), (left, other, _, other_top) = both
    height = top - bottom
    is_same = height > 0 and abs(bottom - other) < 0.1 * height and abs(top - other_top) < 0.1 * height
    return (left - right) / height if is_same else _UNKNOWN
