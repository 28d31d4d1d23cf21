"""A table of contents that the extractor left in the text goes: its lines say what the headings say again.

The lists are noted on the tree, before the extractor: all their links lead to places of the page itself. On the text,
an item of such a list goes where a heading behind it says the same. A list that a sentence introduces is content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, islice
from typing import Any

from lxml.etree import iterwalk

from crawler.urls.resolve import resolve

LEAST = 3
"""Links from which a list is a table of contents."""
LEAST_SAID = 0.5
"""Share of its links whose text is a heading of the text."""
LONGEST_LEAD = 60
"""Characters of its own heading: "Contents", "On this page"."""
SENTENCE_WORDS = 4
"""Words and one more, from which a line with a colon is a sentence and no heading of a table of contents."""
_SIGN = re.compile(r"\s*+(?:[-•*–]|\d{1,3}[.)]|[a-zA-Z]\.)\s++")
_NUMBER = re.compile(r"(?:#{1,6}\s++)?(?:\d{1,3}(?:\.\d{1,3}){0,5}[.)]?\s++)?")


@dataclass(slots=True)
class Contents:
    """A list of links to places of its page, with the lists in it."""

    lead: str = ""
    """What it is called, in a box of its own; or the item that holds it."""
    texts: list[str] = field(default_factory=list)
    """Of its own links, as `_bare` has them."""
    inner: list[Contents] = field(default_factory=list)
    is_one: bool = True
    """False once a link leads elsewhere."""

    def all_texts(self) -> Iterator[str]:
        """The texts of its links and of those of the lists in it."""
        waiting = [self]
        while waiting:
            one = waiting.pop()
            yield from one.texts
            waiting.extend(one.inner)


def contents_of(tree: Any, url: str) -> list[Contents]:
    """The outermost lists of a page whose links all lead to places of the page."""
    is_here = _places_of(url)
    if sum(is_here(href) for link in tree.iter("a") if "#" in (href := link.get("href") or "")) < LEAST:
        return []
    page = Contents(is_one=False)
    around = [page]
    for event, element in iterwalk(tree, events=("start", "end"), tag=("ul", "ol", "a")):
        if element.tag != "a":
            if event == "start":
                around.append(Contents(_lead(element)))
            else:
                done = around.pop()
                around[-1].inner.extend([done] if done.is_one else done.inner)
        elif event == "start" and len(around) > 1 and (href := element.get("href")):
            if not is_here(href):
                _end_all(around)
            elif around[-1].is_one:
                around[-1].texts.append(_bare("".join(element.itertext())))
    return [one for one in page.inner if sum(1 for _ in one.all_texts()) >= LEAST]


def _end_all(around: list[Contents]) -> None:
    """No list around a link that leads elsewhere is one; where one is none, those around it are known to be none."""
    for one in reversed(around):
        if not one.is_one:
            break
        one.is_one = False


def without_contents(text: str, lists: list[Contents]) -> str:
    """The text without items of such lists that headings behind them say again, three and more one behind the other.

    Their own heading goes with them. Items with a heading before them are an index, whatever stands behind.
    """
    if not lists:
        return text
    lines = text.split("\n")
    is_item = [_SIGN.match(line) is not None for line in lines]
    bare = [*map(_bare, lines)]
    said = {each: i for i, each in enumerate(bare) if not is_item[i]}
    gone, leads = _said_again(lists, said)
    kept: list[int] = []
    for is_list, run in _runs(range(len(lines)), is_item.__getitem__):
        is_index = any(said[bare[i]] < i for i in run if bare[i] in gone)
        if not is_list or is_index or _is_sentence(_last(lines, kept)):
            kept.extend(run)
            continue
        for is_again, part in _runs(run, lambda i: bare[i] in gone):
            if not is_again or len(part) < LEAST:
                kept.extend(part)
                continue
            blank = _without_blank(lines, kept)
            if kept and kept[-1] == part[0] - blank - 1 and bare[kept[-1]] in leads:
                kept.pop()
                _without_blank(lines, kept)
    return "\n".join(map(lines.__getitem__, kept)).strip("\n") if len(kept) < len(lines) else text


def _without_blank(lines: list[str], kept: list[int]) -> int:
    """How many empty lines were taken off the end: those between two blocks of Markdown stand behind each, too."""
    before = len(kept)
    while kept and not lines[kept[-1]]:
        kept.pop()
    return before - len(kept)


def _last(lines: list[str], kept: list[int]) -> str:
    """The last kept line with something on it."""
    return next((lines[i] for i in reversed(kept) if lines[i]), "")


def _runs(places: Iterable[int], kind: Callable[[int], bool]) -> Iterator[tuple[bool, list[int]]]:
    return ((is_so, [*run]) for is_so, run in groupby(places, kind))


def _said_again(lists: list[Contents], said: Container[str]) -> tuple[set[str], set[str]]:
    """What the links of the lists say that headings say, too, and what stands before these lists."""
    gone, leads = set[str](), set[str]()
    for one in lists:
        texts = [*one.all_texts()]
        found = {each for each in texts if each in said}
        if len(found) >= LEAST_SAID * len(texts):
            gone |= found
            leads.add(one.lead)
    return gone, leads


def _is_sentence(line: str) -> bool:
    """True for a line that introduces what follows: "There are four reasons to do so:"."""
    return line.endswith(":") and line.count(" ") >= SENTENCE_WORDS


def _bare(line: str) -> str:
    """A line, or the text of a link, without sign and number, white space collapsed, in one case."""
    sign = _SIGN.match(line)
    flat = " ".join(line[sign.end() if sign else 0 :].split())
    return flat[_NUMBER.match(flat).end() :].casefold()  # type: ignore[union-attr]  # it matches nothing, too


def _lead(element: Any) -> str:
    """The short text that stands before an element in a box of the two; what more stands in may be its section."""
    before = element.getprevious()
    if before is None and (parent := element.getparent()) is not None and parent.getnext() is element.getnext() is None:
        element, before = parent, parent.getprevious()
    if before is None or before.tag == "h1" or before.getprevious() is not None or element.getnext() is not None:
        return ""
    text = "".join(islice(before.itertext(), 4))
    return _bare(text) if len(text) <= LONGEST_LEAD else ""


def _places_of(url: str) -> Callable[[str], bool]:
    """Whether a link leads to a place of the page at `url`."""
    page = (url or "").partition("#")[0]  # a bench has pages without one
    here = resolve(page, "")

    @cache
    def is_page(address: str) -> bool:
        return here is not None and resolve(page, address) == here

    def is_here(href: str) -> bool:
        address, _, place = href.strip().partition("#")
        return bool(place) and (not address or is_page(address))

    return is_here
