"""The parts of a text: what each of its lines is on the page, and how the lines of one thing become one span.

Labels and levels are those of `crawler.document.LEVELS`. A quotation is the outermost element that says so, a list the
outermost list, a table the innermost table; headings, paragraphs, captions and pieces of code are a span each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from crawler.document import Span
from crawler.stages.extraction.learned.walk import Kind, Mark, Walked

ALONE = -1
"""Key of a line that is a part of its own."""
SHAPED = -2
"""Key of lines that look like those of one thing, which no element says."""


class Label(NamedTuple):
    """What a line is on one level. key: what neighbours have in common that are the same part, such as their list."""

    name: str
    key: int = ALONE


Labels = tuple[Label | None, ...]
"""Of a line, one for each level."""
NOTHING: Labels = (None, None, None)


class Parts:
    """The spans of a text, line by line."""

    def __init__(self) -> None:
        self._found: list[tuple[int, int, int, Label]] = []  # level, start, end and what it is
        self._open: list[int | None] = [None, None, None]
        """By level: where the part of the latest line stands."""

    def add(self, start: int, end: int, labels: Labels) -> None:
        """A line of the text and what it is."""
        for level, label in enumerate(labels):
            before = self._open[level]
            if label is None:
                self._open[level] = None
            elif before is not None and label.key != ALONE and self._found[before][3] == label:
                self._found[before] = (level, self._found[before][1], end, label)
            else:
                self._open[level] = len(self._found)
                self._found.append((level, start, end, label))

    def spans(self) -> tuple[Span, ...]:
        """All parts, by their start; a part before those within it."""
        return tuple((start, end, label.name) for _, start, end, label in sorted(self._found, key=_order))


def _order(found: tuple[int, int, int, Label]) -> tuple[int, int]:
    return found[1], found[0]


_FORMS = {Kind.HEADING: "heading", Kind.CAPTION: "caption"}


class Labeller:
    """What the lines of one page are; each element is asked once."""

    def __init__(self, page: Walked) -> None:
        self._page = page
        self._lists = dict[int, int]()
        self._quotes = dict[int, int]()

    def labels(self, holder: int, kind: Kind, *, item: int, table: int, source: int) -> Labels:
        """Of a line that begins in an element.

        item: the list item around it; table: whose row it is; source: of code, the <pre> around it; -1 for none.
        """
        if table >= 0:
            form = Label("table", table)
        elif kind is Kind.CODE:
            form = Label("code", source if source >= 0 else holder)
        elif name := _FORMS.get(kind):
            form = Label(name)
        elif item >= 0:
            form = Label("list", self._outermost(holder, self._lists, self._is_list))
        else:
            form = Label("paragraph")
        quote = self._outermost(holder, self._quotes, self._is_quote) if self._page.marks[holder] & Mark.QUOTE else -1
        return None, Label("quotation", quote) if quote >= 0 else None, form

    def _outermost(self, element: int, known: dict[int, int], is_one: Callable[[int], bool]) -> int:
        """The outermost element around one, itself included, that is one of these; -1 where none is."""
        way = [*self._way(element, known)]
        found = known.get(self._page.parents[way[-1]], -1) if way else known[element]
        for each in reversed(way):
            if found < 0 and is_one(each):
                found = each
            known[each] = found
        return found

    def _way(self, element: int, known: dict[int, int]) -> Iterator[int]:
        """The elements from one upwards of which nothing is known."""
        while element >= 0 and element not in known:
            yield element
            element = self._page.parents[element]

    def _is_list(self, element: int) -> bool:
        return self._page.tags[element] in _LISTS

    def _is_quote(self, element: int) -> bool:
        return self._page.tags[element] == "blockquote"


_LISTS = frozenset({"ul", "ol", "menu", "dl"})
