"""The parts of a text: what each of its lines is on the page, and how the lines of one thing become one span.

Labels and levels are those of `crawler.document.LEVELS`. A quotation is the outermost element that says so, a list the
outermost list, a table the innermost table; headings, paragraphs, captions and pieces of code are a span each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from crawler.document import Span
from crawler.stages.extraction.learned.speakers import CAPTION, NOTE, OTHER, QUOTE, USER, Speakers
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


class Place(NamedTuple):
    """What stands around an element, itself included: the outermost of each kind within one speaker; -1 for none."""

    speaker: Label | None = None
    quote: int = -1
    note: int = -1
    other: int = -1
    user: int = -1
    items: int = -1
    """Of a list."""
    caption: int = -1


NOWHERE = Place()


def _form(place: Place, kind: Kind) -> Label | None:
    """In which form a block stands there; None: as a paragraph."""
    if place.user >= 0:
        return Label("user", place.user)
    if kind is Kind.CODE:
        return Label("code")
    if place.caption >= 0:
        return Label("caption", place.caption)
    if kind is Kind.HEADING:
        return Label("heading")
    return Label("list", place.items) if place.items >= 0 else None


class Labeller:
    """What the lines of one page are; each element is asked once. is_thread: True where that is known otherwise."""

    def __init__(self, page: Walked, *, is_thread: bool = False) -> None:
        self._page = page
        self.speakers = Speakers(page, is_thread=is_thread)
        self._known = {-1: NOWHERE}

    def labels(self, holder: int, kind: Kind, *, table: int, source: int) -> Labels:
        """Of a line that begins in an element.

        table: whose row it is; source: of code, the <pre> around it; -1 for none.
        """
        place = self.place(holder)
        if place.quote >= 0:
            role: Label | None = Label("quotation", place.quote)
        elif place.note >= 0:
            role = Label("footnote", place.note)
        elif place.other >= 0 or kind is Kind.CONTROL or self._page.marks[holder] & Mark.NAV:
            role = Label("boilerplate", place.other)
        else:
            role = None
        form = _form(place, kind) or Label("paragraph")
        if kind is Kind.CODE and form.name == "code":
            form = Label("code", source if source >= 0 else holder)
        return place.speaker, role, Label("table", table) if table >= 0 and form.name != "user" else form

    def item(self, element: int) -> int:
        """A list item as it is, -1 for one that is an entry of a thread, or holds some."""
        return -1 if element < 0 or self.place(element).items < 0 else element

    def place(self, element: int) -> Place:
        """What stands around an element."""
        way = []
        while element not in self._known:
            way.append(element)
            element = self._page.parents[element]
        place = self._known[element]
        for each in reversed(way):
            place = self._known[each] = self._within(place, each)
        return place

    def _within(self, place: Place, element: int) -> Place:
        tag, bits = self._page.tags[element], self.speakers.bits(element)
        if not bits and tag not in _SAY:
            return place
        speaker = self._speaker(place, element)
        if speaker is not None:
            return Place(speaker)
        is_said = {
            "quote": self._is_quote(tag, bits, element),
            "note": bool(bits & NOTE),
            "other": bool(bits & OTHER) and place.speaker is not None,
            "user": bool(bits & USER) and place.speaker is not None and self.speakers.is_user(element),
            "items": tag in _LISTS and not self._is_thread(element),
            "caption": tag in _CAPTIONS or bool(bits & CAPTION),
        }
        return Place(place.speaker, *(element if is_said[name] and at < 0 else at for name, at in _kinds(place)))

    def _speaker(self, place: Place, element: int) -> Label | None:
        """Whose words begin with an element; None where it is nobody else's."""
        if element in self.speakers.posts:
            return Label("post", element)
        if element in self.speakers.comments or (element in self.speakers.sections and place.speaker is None):
            return Label("comment", element)
        return None

    def _is_quote(self, tag: str, bits: int, element: int) -> bool:
        """True for what repeats others; boards write whole posts as quotations, and name them otherwise."""
        if tag == "blockquote":
            return bool(bits & QUOTE) or not _BODY.search(self._page.names[element].lower())
        return bool(bits & QUOTE) and tag != "a"

    def _is_thread(self, element: int) -> bool:
        """True for a list whose items are the entries of a thread, or comments."""
        page = self._page
        first, end = page.starts[element], page.ends[element]
        return any(first <= page.starts[one] < end and one > element for one in self.speakers.entries)


def _kinds(place: Place) -> Iterator[tuple[str, int]]:
    return zip(Place._fields[1:], place[1:], strict=True)


_LISTS = frozenset({"ul", "ol", "menu", "dl"})
_CAPTIONS = frozenset({"figcaption", "caption"})
_SAY = _LISTS | _CAPTIONS | {"blockquote"}
_BODY = re.compile(r"message|post|ugc|basehtml|restore|selectquote|comment")
"""In the names of a <blockquote> that is the text of a post."""
