"""The parts of a text that another extractor wrote: each of its lines is what the same line is on the page.

A line that the page does not have as it stands is what it looks like: an item, a row, else a paragraph.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable

from crawler.stages.extraction.learned.lines import all_lines
from crawler.stages.extraction.learned.parts import SHAPED, Label, Labels, Parts
from crawler.stages.extraction.learned.walk import Walked
from crawler.stages.extraction.written import Written, lines_of

_SIGN = re.compile(r"\s*+(?:[-•*–>#]\s++|(?:-?\d{1,5}|[A-Za-z]{1,8})\.\s++)*+")
_LIKE_AN_ITEM = re.compile(r"\s*+[-•*]\s")
_BAR = " | "


def placed(page: Walked, text: str) -> Written:
    """A text of lines with its parts."""
    known = _known(page)
    parts = Parts()
    for start, line in lines_of(text):
        found = known.get(flat(line))
        labels = found[0]() if found else _by_shape(line)
        if found and len(found) > 1:
            found.popleft()
        parts.add(start, start + len(line), labels)
    return Written(text, parts.spans())


def flat(line: str) -> str:
    """One line of words, without the sign or the number of a list item."""
    return " ".join(line[_SIGN.match(line).end() :].split())  # type: ignore[union-attr]  # it matches nothing, too


def _known(page: Walked) -> dict[str, deque[Callable[[], Labels]]]:
    """What tells what the lines of a page are, in the order in which it has them."""
    known: dict[str, deque[Callable[[], Labels]]] = defaultdict(deque)
    for piece, labels in all_lines(page):
        for line in piece.split("\n"):
            known[flat(line)].append(labels)
    return known


def _by_shape(line: str) -> Labels:
    """Items that follow each other are one list, rows one table."""
    if _LIKE_AN_ITEM.match(line):
        return None, None, Label("list", SHAPED)
    return None, None, Label("table", SHAPED) if _BAR in line else Label("paragraph")
