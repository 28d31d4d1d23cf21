"""The walk turns the parsed page into blocks: pieces of text that stand on lines of their own, with what holds them.

One pass over the tree that the parse stage made; the tree is not changed. Everything later (features, choice of blocks,
rendering) reads what is noted here and never the tree. The pass reads the tree as libxml2 writes it out, tag by tag
(`tags.py`): an lxml object for every element would cost three times as much.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crawler.stages.extraction.learned.tags import KINDS, Kind, Role, Tag, pieces, role_of, tag_of, unescaped

MAX_BLOCKS = 20_000
"""Blocks of a page; the text behind them is not read. The longest chapters of PostgreSQL's manual have 9,000."""

_ANCHORS = frozenset({"a", "a ", "a/"})
"""How <a> begins as it is written: one that leads somewhere stands nowhere else on a site, so it is not remembered."""


@dataclass(slots=True)
class Walked:
    """A page as blocks and as the elements around them; lists of the same length belong together."""

    # --- blocks, in page order ---
    texts: list[str] = field(default_factory=list)
    """White space collapsed; code keeps its lines and its indentation."""
    kinds: list[int] = field(default_factory=list)
    holders: list[int] = field(default_factory=list)
    """The element that a block stands in."""
    linked: list[int] = field(default_factory=list)
    """Characters of it in links."""
    links: list[int] = field(default_factory=list)
    # --- elements that are not inline, in page order; the first is the body ---
    parents: list[int] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Class, id, role and itemprop, joined by blanks, as the page wrote them."""
    marks: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """The first block inside an element, and the first one behind it."""
    ends: list[int] = field(default_factory=list)
    languages: dict[int, str] = field(default_factory=dict)
    """Of elements of code: the language that a class names."""


class _Pen:
    """Collects the text of the block that is being read."""

    def __init__(self, page: Walked) -> None:
        self.page = page
        self.pieces: list[str] = []
        self.linked = self.links = 0

    def write(self, text: str, in_link: bool) -> None:
        self.pieces.append(text)
        if in_link:
            self.linked += len(text.strip())

    def end(self, holder: int, in_code: bool) -> None:
        """Close the block: what was written becomes one, if there is anything."""
        if not self.pieces:
            return
        text = "".join(self.pieces)
        text = _code(text) if in_code else " ".join(text.split())
        if text and len(self.page.texts) < MAX_BLOCKS:
            page = self.page
            page.texts.append(text)
            page.kinds.append(Kind.CODE if in_code else KINDS.get(page.tags[holder], Kind.TEXT))
            page.holders.append(holder)
            page.linked.append(min(self.linked, len(text)))
            page.links.append(self.links)
        self.pieces.clear()
        self.linked = self.links = 0


def walk(tree: Any) -> Walked:
    """Blocks and elements of a parsed page; those of the whole tree where it has no body."""
    body = tree if tree.tag == "body" else tree.find(".//body")
    return _Walk().over(pieces(tree if body is None else body))


class _Walk:
    """The state of one pass: what is open, and the block that is being written."""

    def __init__(self) -> None:
        self.page = Walked()
        self.pen = _Pen(self.page)
        self.open = [-1]
        self.anchors: list[bool] = []  # of the open <a> elements: does it lead anywhere?
        self.links = self.codes = 0

    def over(self, written: list[str]) -> Walked:
        """Read what `tags.pieces` split: a text stands at every even place, a tag at every odd one."""
        place, end, pen = 1, len(written), self.pen
        while place < end:
            tag, text = written[place], written[place + 1]
            place += 2
            if tag[0] == "/":
                self._end(tag[1:])
            elif tag[:2] in _ANCHORS:
                self._anchor(tag)
            else:
                read = tag_of(tag)
                if read.role is Role.SKIPPED and not read.is_closed:
                    place = _behind(written, place, read.name)
                    text = written[place - 1]
                elif read.role is not Role.INLINE or read.language:
                    self._start(read)
            if text:
                pen.write(unescaped(text) if "&" in text else text, self.links > 0)
        return self.page

    def _start(self, tag: Tag) -> None:
        if tag.role is Role.BLOCK:
            self.pen.end(self.open[-1], self.codes > 0)
            self.open.append(_open(self.page, tag, self.open[-1]))
            self.codes += tag.name == "pre"
            if tag.is_closed:
                self._end(tag.name)
        elif tag.role is Role.BREAK:
            self._break()
        elif tag.language and self.codes:
            self.page.languages.setdefault(self.open[-1], tag.language)

    def _anchor(self, tag: str) -> None:
        leads = ' href="' in tag and ' href=""' not in tag
        self.pen.links += leads
        if tag[-1] != "/":
            self.anchors.append(leads)
            self.links += leads

    def _end(self, name: str) -> None:
        role = role_of(name)
        if role is Role.BLOCK:
            self.pen.end(self.open[-1], self.codes > 0)
            self.page.ends[self.open.pop()] = len(self.page.texts)
            self.codes -= name == "pre"
        elif name == "a":
            self.links -= self.anchors.pop()

    def _break(self) -> None:
        """A line break ends a block, except in code and in a heading."""
        holder = self.open[-1]
        if self.codes:
            self.pen.write("\n", False)
        elif KINDS.get(self.page.tags[holder]) is Kind.HEADING:
            self.pen.write(" ", False)
        else:
            self.pen.end(holder, False)


def _behind(written: list[str], place: int, name: str) -> int:
    """The place behind the end of an element that was opened before `place`."""
    depth, end = 1, f"/{name}"
    while depth:
        tag = written[place]
        place += 2
        if tag == end:
            depth -= 1
        elif tag.startswith(name) and not tag.endswith("/") and tag_of(tag).name == name:
            depth += 1
    return place


def _open(page: Walked, tag: Tag, parent: int) -> int:
    index = len(page.tags)
    is_inside = parent >= 0
    page.parents.append(parent)
    page.tags.append(tag.name)
    page.names.append(tag.names)
    page.marks.append(tag.marks | page.marks[parent] if is_inside else tag.marks)
    page.depths.append(page.depths[parent] + 1 if is_inside else 0)
    page.starts.append(len(page.texts))
    page.ends.append(len(page.texts))
    return index


def _code(text: str) -> str:
    """Lines of code without white space at their ends and without empty lines around them."""
    lines = [line.rstrip() for line in text.replace("\r", "").expandtabs(4).split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)
