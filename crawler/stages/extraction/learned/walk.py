"""The walk turns the parsed page into blocks: pieces of text that stand on lines of their own, with what holds them.

One pass over the tree that the parse stage made; the tree is not changed. Everything later (features, choice of blocks,
rendering) reads what is noted here and never the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any

import numpy as np
import orjson
from lxml.etree import iterwalk
from numpy.typing import NDArray

from crawler.native import library
from crawler.native.walk import IS_CELL, IS_ITEM, IS_PARAGRAPH, IS_PRE, IS_SPAN, Rules
from crawler.native.words import Names
from crawler.stages.extraction.anchors import leads_to_itself
from crawler.stages.extraction.code import LANGUAGE, language_in
from crawler.stages.extraction.hidden import is_closed
from crawler.stages.extraction.learned.shown import are_apart, are_words, as_shown, words_of
from crawler.stages.extraction.learned.unseen import Unseen, Veiled, unseen_in, without_unseen
from crawler.stages.extraction.learned.walk_in_c import fill
from crawler.stages.extraction.ordinals import NUMBER, number_in

MAX_BLOCKS = 20_000
"""Blocks of a page; the text behind them is not read. The longest chapters of PostgreSQL's manual have 9,000."""

MAX_SPAN = 100
"""Columns or rows of a table that one cell can take."""

LEAST_DATA = 200
"""Characters of an object of JSON outside of code that are no text for a reader."""


class Kind(IntEnum):
    """What a block is to a reader."""

    TEXT = 0
    PARAGRAPH = 1
    HEADING = 2
    ITEM = 3
    TERM = 4
    CELL = 5
    CODE = 6
    QUOTE = 7
    CAPTION = 8
    CONTROL = 9


class Mark(IntEnum):
    """What stands around an element, one bit each, handed down to everything inside."""

    NAV = 1
    HEADER = 2
    FOOTER = 4
    ASIDE = 8
    FORM = 16
    MAIN = 32
    ARTICLE = 64
    TABLE = 128
    NOSCRIPT = 256
    HIDDEN = 512
    LIST = 1024
    LINK = 2048
    PRE = 4096
    QUOTE = 8192
    CONTROL = 16384
    FIGURE = 32768
    COMMENT = 65536
    OTHERS = 131072


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_SKIPPED = _set(
    "head script style template svg math iframe object embed canvas video audio map select option datalist "
    "input img picture source progress meter textarea"
)
_INLINE = _set(
    "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd label mark nobr q rp rt ruby s samp "
    "small span strike strong sub sup time tt u var wbr data output meta link rb rtc"
)
_IN_LINE, _LINK, _CODE, _BREAK, _SKIP, _JOINT, _LINES, _VEIL = range(8)
_ROLE_OF: dict[str, int] = {
    **dict.fromkeys(_INLINE, _IN_LINE),
    "a": _LINK,
    "code": _CODE,
    **dict.fromkeys(("wbr", "sub", "sup"), _JOINT),
    **dict.fromkeys(("br", "hr"), _BREAK),
    **dict.fromkeys(_SKIPPED, _SKIP),
}
"""By tag: what stands in a line (links and code among it), what ends one, what holds no text, and what stands within
a word; every other element has lines of its own. What only stands in a line is 0: nothing is to be done where it begins
or ends, unless nobody sees it."""
_KINDS = {
    "p": Kind.PARAGRAPH,
    "li": Kind.ITEM,
    "dt": Kind.TERM,
    "dd": Kind.ITEM,
    "td": Kind.CELL,
    "th": Kind.CELL,
    "pre": Kind.CODE,
    "blockquote": Kind.QUOTE,
    "figcaption": Kind.CAPTION,
    "caption": Kind.CAPTION,
    "summary": Kind.HEADING,
    "legend": Kind.CAPTION,
    "button": Kind.CONTROL,
} | {f"h{level}": Kind.HEADING for level in range(1, 7)}
_MARKS = {
    "nav": Mark.NAV,
    "menu": Mark.NAV,
    "header": Mark.HEADER,
    "footer": Mark.FOOTER,
    "aside": Mark.ASIDE,
    "form": Mark.FORM,
    "main": Mark.MAIN,
    "article": Mark.ARTICLE,
    "table": Mark.TABLE,
    "noscript": Mark.NOSCRIPT,
    "ul": Mark.LIST,
    "ol": Mark.LIST,
    "dl": Mark.LIST,
    "a": Mark.LINK,
    "pre": Mark.PRE,
    "blockquote": Mark.QUOTE,
    "button": Mark.CONTROL,
    "figure": Mark.FIGURE,
    "dialog": Mark.HIDDEN,
}
_ROLES = {
    "navigation": Mark.NAV,
    "banner": Mark.HEADER,
    "contentinfo": Mark.FOOTER,
    "complementary": Mark.ASIDE,
    "search": Mark.FORM,
    "main": Mark.MAIN,
    "article": Mark.ARTICLE,
    "dialog": Mark.HIDDEN,
    "button": Mark.CONTROL,
}
_CELLS = frozenset({"td", "th"})
_NAMES = ("class", "id", "role", "itemprop", "itemtype")
_LONGEST_NAMES = 400
"""Characters of an element's names."""
_READ = frozenset((*_NAMES, "hidden", "aria-hidden", "style"))


_COMMENT = re.compile(r"comment|respon(?:d|se)|discuss|disqus|repl(?:y|ies)")
_OTHERS = re.compile(
    r"relat(?:ed|ive)|recommend|sidebar|widget|promo|newsletter|subscri|teaser|trending|popular|more-|also|share"
    r"|cookie|consent|breadcrumb|pagination|menu|navbar|footer|carousel|banner|modal|popup"
)
"""Names by which pages call what visitors wrote below a text, and what leads to other pages; in lower case."""
_COMMENT_IN_ANY_CASE, _OTHERS_IN_ANY_CASE = (re.compile(one.pattern, re.IGNORECASE) for one in (_COMMENT, _OTHERS))


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
    shown: dict[int, str] = field(default_factory=dict)
    """How a block reads where that is not its text: with a blank between elements that touch, without one where the
    source only breaks a line. The model keeps to the text, as which it was trained on."""
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
    """Of <pre> elements: their language, where the page names it."""
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Of cells that take more than one place of their table: columns and rows."""
    numbers: dict[int, str] = field(default_factory=dict)
    """Of the items of ordered lists: what stands before them, as "3."."""
    called: Names | None = field(default=None, compare=False, repr=False)
    """Tags and names once more as C reads them, where C has walked."""

    def numbered(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of every element a number of its tag, and one of its names: the same number for the same string."""
        if self.called is not None:
            return self.called.tag.astype(np.int64), self.called.name.astype(np.int64)
        return _numbered(self.tags), _numbered(self.names)


def _numbered(strings: list[str]) -> NDArray[np.int64]:
    known: dict[str, int] = {}
    return np.array([known.setdefault(one, len(known)) for one in strings], np.int64)


def walk(tree: Any) -> Walked:
    """Blocks and elements of a parsed page; those of the whole tree where it has no body."""
    found = tree if tree.tag == "body" else tree.find(".//body")
    body, page = tree if found is None else found, Walked()
    if (native := library()) is not None and fill(page, native, _rules(), body, said_by=_said_by, span=_whole_span):
        return page
    return _Walk().over(body)


@cache
def _rules() -> Rules:
    """What the walk in C is told of tags."""
    asked = {"span": IS_SPAN, "pre": IS_PRE, "li": IS_ITEM, "p": IS_PARAGRAPH, **dict.fromkeys(_CELLS, IS_CELL)}
    tags = {
        tag: (_ROLE_OF.get(tag, _LINES), _KINDS.get(tag, Kind.TEXT), _MARKS.get(tag, 0), asked.get(tag, 0))
        for tag in dict.fromkeys([*_ROLE_OF, *_KINDS, *_MARKS, *asked])
    }
    return Rules(
        tags, _ROLES, kind_text=Kind.TEXT, kind_heading=Kind.HEADING, kind_code=Kind.CODE, mark_hidden=Mark.HIDDEN,
        most_blocks=MAX_BLOCKS, least_data=LEAST_DATA, most_name=_LONGEST_NAMES, number_name=NUMBER.encode(),
        language_name=LANGUAGE.encode(),
    )  # fmt: skip


class _Walk:
    """The state of one pass: what is open, and the block that is being written."""

    def __init__(self) -> None:
        self.page = Walked()
        self.open = [0]
        self.pieces: list[str] = []
        self.linked = self.links = 0
        """Of the block that is being written: characters in links, and links."""
        self.anchors = self.codes = 0
        """Links and elements of code that are open."""
        self.inner = 0
        """Elements of code in a line that are open."""
        self.touches = False
        """True behind an element that ended, or showed nothing, as long as no text follows."""
        self.seams: list[int] = []
        """Pieces before which two elements touch that a reader sees apart."""
        self.neighbours: list[int] = []
        """Pieces that begin an element behind another one, small letters touching: words, or parts of one."""
        self.doubtful: dict[int, tuple[list[str], list[int], list[int]]] = {}
        """By block: its pieces, its seams and such neighbours in it."""
        self.veiled: list[Veiled] = []
        """Of the block that is being written."""
        self.unseen: dict[Any, Unseen] = {}
        """Elements in a line that nobody sees."""
        self.veils: list[int] = []
        """Of those that are open: the piece at which each began."""
        self.unknown: list[Any] = []
        """Elements that HTML does not know, within a sentence, that are open."""

    def over(self, body: Any) -> Walked:
        """Called for every element of every page: what is asked of each stands here, not in functions of its own."""
        _open(self.page, body, -1)
        self._write(body.text)
        role_of, write, is_skipped = _ROLE_OF.get, self._write, False
        self.unseen = unseen_in(body)
        veil_of = dict.fromkeys(self.unseen, _VEIL).get
        walker = iterwalk(body, events=("start", "end"))
        next(walker)
        for event, element in walker:
            role = role_of(element.tag, _LINES) or veil_of(element, _IN_LINE)
            if event == "start":
                is_skipped = role == _SKIP or (role == _LINK and leads_to_itself(element))
                if is_skipped:
                    walker.skip_subtree()
                    continue  # the next event is its end
                if role:
                    self._start(element, role)
                if text := element.text:
                    if self.touches and self.pieces:
                        self._note_neighbours(text)
                    write(text)
            elif element is body:
                break
            else:
                if role and not is_skipped:
                    self._end(element, role)
                self.touches, is_skipped = is_skipped, False
                if text := element.tail:
                    write(text)
                else:
                    self.touches = role != _JOINT
        self._end_block(0, False)
        self.page.ends[0] = len(self.page.texts)
        self._part_words()
        return self.page

    def _write(self, text: str | None) -> None:
        if text:
            if self.touches:
                self._note_seam(text)
                self.touches = False
            self.pieces.append(text)
            if self.anchors:
                self.linked += len(text.strip())

    def _note_seam(self, text: str) -> None:
        """Elements touch here, or one that shows no text stands between two texts."""
        if self.pieces and not self.codes and not self.inner and are_apart(self.pieces[-1], text):
            self.seams.append(len(self.pieces))

    def _note_neighbours(self, text: str) -> None:
        if text[0].islower() and self.pieces[-1][-1].islower() and not self.codes and not self.inner:
            self.neighbours.append(len(self.pieces))

    def _end_veil(self, element: Any) -> None:
        start = self.veils.pop()
        if start < len(self.pieces):
            self.veiled.append(Veiled(start, len(self.pieces), self.unseen[element]))

    def _part_words(self) -> None:
        """Neighbours are apart where both are words of the page: in no other way does the source say so."""
        known = words_of(self.page.texts) if self.doubtful else frozenset[str]()
        for block, (pieces, seams, neighbours) in self.doubtful.items():
            if found := [i for i in neighbours if are_words(pieces[i - 1], pieces[i], known)]:
                self.page.shown[block] = as_shown(pieces, [*seams, *found])

    def _start(self, element: Any, role: int) -> None:
        if element in self.unseen:
            self.veils.append(len(self.pieces))
        if role == _LINES:
            if self._is_in_a_sentence(element.tag):
                self.unknown.append(element)
                return
            if self.pieces:
                self._end_block(self.open[-1], self.codes > 0)
            self.open.append(_open(self.page, element, self.open[-1]))
            self.codes += element.tag == "pre"
        elif role == _LINK:
            if element.get("href"):
                self.anchors += 1
                self.links += 1
        elif role == _CODE:
            self.inner += 1
        elif role == _JOINT:
            self.touches = False
        elif role == _BREAK:
            self._break()

    def _is_in_a_sentence(self, tag: str) -> bool:
        """True for what HTML does not know in a paragraph, as <relative-time>; in headings these are buttons."""
        return ("-" in tag or ":" in tag) and self.page.tags[self.open[-1]] == "p"

    def _end(self, element: Any, role: int) -> None:
        if element in self.unseen:
            self._end_veil(element)
        if role == _LINES:
            if self.unknown and self.unknown[-1] is element:
                self.unknown.pop()
                return
            if self.pieces:
                self._end_block(self.open[-1], self.codes > 0)
            self.page.ends[self.open.pop()] = len(self.page.texts)
            self.codes -= element.tag == "pre"
        elif role == _LINK:
            self.anchors -= bool(element.get("href"))
        elif role == _CODE:
            self.inner -= 1

    def _break(self) -> None:
        """A line break ends a block, except in code and in a heading."""
        holder = self.open[-1]
        if self.codes:
            self.pieces.append("\n")
        elif _KINDS.get(self.page.tags[holder]) is Kind.HEADING:
            self.pieces.append(" ")
        else:
            self._end_block(holder, False)

    def _end_block(self, holder: int, in_code: bool) -> None:
        """Close the block: what was written becomes one, if there is anything."""
        if not self.pieces:
            return
        written = "".join(self.pieces)
        text = _code(written) if in_code else " ".join(written.split())
        page = self.page
        kind = Kind.CODE if in_code else _KINDS.get(page.tags[holder], Kind.TEXT)
        if text and len(page.texts) < MAX_BLOCKS and not (kind is Kind.TEXT and _is_data(text)):
            page.texts.append(text)
            page.kinds.append(kind)
            page.holders.append(holder)
            page.linked.append(min(self.linked, len(text)))
            page.links.append(self.links)
            if not in_code and (self.seams or self.veiled or ("\n" in written and not text.isascii())):
                if self.veiled:
                    self.pieces = without_unseen(self.pieces, self.veiled)
                shown = as_shown(self.pieces, self.seams)
                if shown != text:
                    page.shown[len(page.texts) - 1] = shown
            if self.neighbours and not in_code:
                self.doubtful[len(page.texts) - 1] = self.pieces[:], self.seams[:], self.neighbours[:]
        self.pieces.clear()
        self.seams.clear()
        self.neighbours.clear()
        self.veiled.clear()
        self.veils = [0] * len(self.veils)
        self.linked = self.links = 0


def _open(page: Walked, element: Any, parent: int) -> int:
    index, tag = len(page.tags), element.tag
    marks, names = _MARKS.get(tag, 0), ""
    if items := element.items():  # one call for all of them
        attributes = dict(items)
        if not _READ.isdisjoint(attributes):
            names = " ".join([value for name in _NAMES if (value := attributes.get(name))])[:_LONGEST_NAMES]
            marks |= _ROLES.get(attributes.get("role", ""), 0)
            if names:
                marks |= _said_by(names)
            if "hidden" in attributes or attributes.get("aria-hidden") == "true" or is_closed(attributes):
                marks |= Mark.HIDDEN
        if tag == "li" and (number := number_in(attributes.get(NUMBER))):
            page.numbers[index] = number
        elif tag == "pre" and (language := language_in(attributes)):
            page.languages[index] = language
        if tag in _CELLS and ("colspan" in attributes or "rowspan" in attributes):
            page.spans[index] = _span(attributes, "colspan"), _span(attributes, "rowspan")
    depth = 0
    if parent >= 0:
        marks, depth = marks | page.marks[parent], page.depths[parent] + 1
    page.parents.append(parent)
    page.tags.append(tag)
    page.names.append(names)
    page.marks.append(marks)
    page.depths.append(depth)
    page.starts.append(len(page.texts))
    page.ends.append(len(page.texts))
    return index


def _span(attributes: dict[str, str], name: str) -> int:
    return _whole_span(attributes.get(name, ""))


def _whole_span(number: str) -> int:
    return min(max(int(number), 1), MAX_SPAN) if number.isdecimal() and len(number) < 6 else 1


@lru_cache(maxsize=8_192)
def _said_by(names: str) -> int:
    """The marks that names give; a site repeats them all over its pages."""
    comment, others = _COMMENT_IN_ANY_CASE, _OTHERS_IN_ANY_CASE
    if names.isascii():  # lower case is found in a fifth of the time
        comment, others, names = _COMMENT, _OTHERS, names.lower()
    return (Mark.COMMENT if comment.search(names) else 0) | (Mark.OTHERS if others.search(names) else 0)


def _is_data(text: str) -> bool:
    """True for an object of JSON that a script left in the page; a short one may be an example of a text."""
    if not text.startswith('{"') or len(text) < LEAST_DATA:
        return False
    try:
        return isinstance(orjson.loads(text), dict)
    except orjson.JSONDecodeError:
        return False


def _code(text: str) -> str:
    """Lines of code without white space at their ends and without empty lines around them."""
    lines = [line.rstrip() for line in text.replace("\r", "").split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)
