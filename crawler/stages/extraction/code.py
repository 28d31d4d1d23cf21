"""Code in a page: how much of it there is, where it stands in the text, and in which languages the page says it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml.etree import iterwalk

from crawler.document import CodeBlock
from crawler.stages.extraction.code_names import linguist_name

CODE = ("pre", "code", "tt", "kbd", "samp")
_IN_A_LINE = frozenset(
    ("a", "abbr", "b", "bdi", "bdo", "big", "cite", "del", "dfn", "em", "font", "i", "ins", "label", "mark", "q", "s",
     "small", "span", "strike", "strong", "sub", "sup", "u", "var", "wbr", *CODE[1:])
)  # fmt: skip
"""Elements within a line of code; every other one has lines of its own."""
LANGUAGE = "data-gristmill-language"
"""The attribute of a <pre> in which its language is noted, once, for whoever reads it."""
MOST_PLACES = 50
"""Places in a text that begin as a listing does, and are compared with it."""
MAX_NAMED = 1_000
"""Listings that are noted of a page."""


def code_chars(tree: Any) -> int:
    """Characters that the page itself marks as code: <pre>, and <code>, <tt>, <kbd>, <samp> outside of it."""
    chars = inner = 0
    for element in tree.iter(*CODE):
        if inner:  # in page order, what stands inside an element follows it directly
            inner -= 1
        elif len(element):
            inner = sum(1 for _ in element.iterdescendants(*CODE))
            chars += len(element.text_content())
        else:
            chars += len(element.text or "")
    return chars


def name_languages(tree: Any) -> None:
    """Note the language of each <pre> on it, in place."""
    for pre in islice(tree.iter("pre"), MAX_NAMED):
        pre.attrib.pop(LANGUAGE, None)  # whatever it means to the page
        if name := linguist_name(pre):
            pre.set(LANGUAGE, name)


def language_in(attributes: Mapping[str, str]) -> str:
    """The language that is noted on a <pre>; "" where none is."""
    return attributes.get(LANGUAGE, "")


@dataclass(frozen=True, slots=True)
class Listing:
    """A <pre> of the page: its language, "" where the page names none, and its lines, white space collapsed."""

    language: str
    lines: tuple[str, ...]


def listings(tree: Any) -> list[Listing]:
    """The listings of a page, in its order; not those that stand in another one."""
    found: list[Listing] = []
    for pre in tree.iter("pre"):
        if len(found) >= MAX_NAMED:
            break
        if next(pre.iterancestors("pre"), None) is None and (lines := _lines_of(pre)):
            found.append(Listing(language_in(pre.attrib), tuple(lines)))
    return found


def code_blocks(text: str, found: list[Listing]) -> list[CodeBlock]:
    """The listings that stand in a text, in its order.

    A listing stands there from its first line on, as far as its lines follow; what an extractor left out of it is not
    counted. The same for every extractor.
    """
    if not found:
        return []
    lines = text.split("\n")
    bare = [" ".join(line.split()) for line in lines]
    places: dict[str, list[int]] = {}
    for place, line in enumerate(bare):
        if line:
            places.setdefault(line, []).append(place)
    taken: list[tuple[int, CodeBlock]] = []
    used = bytearray(len(lines))
    behind = 0
    for one in found:
        at = _place_of(one, bare, places, used, behind)
        if at is None:
            continue
        start, end = at
        used[start:end] = b"\1" * (end - start)
        behind = end
        taken.append((start, CodeBlock(one.language, len("\n".join(lines[start:end])))))
    return [block for _, block in sorted(taken, key=lambda pair: pair[0])]


def languages_of(blocks: list[CodeBlock]) -> list[str]:
    """The languages of blocks of code, without repetition."""
    return list(dict.fromkeys(block.language for block in blocks if block.language))


def _place_of(
    one: Listing, bare: list[str], places: dict[str, list[int]], used: bytearray, behind: int
) -> tuple[int, int] | None:
    """First line of a listing in the text and the one behind its last; None where it does not stand there.

    Of several places that begin alike the one behind the listing before it, then the first one that is free.
    """
    starts = [place for place in places.get(one.lines[0], []) if not used[place]]
    if not starts:
        return None
    ordered = [s for s in starts if s >= behind] or starts
    best = max(islice(ordered, MOST_PLACES), key=lambda start: _follows(one, bare, start)[1])
    return best, _follows(one, bare, best)[0]


def _follows(one: Listing, bare: list[str], start: int) -> tuple[int, int]:
    """The line behind the last that follows, and how many lines do; empty lines of the text count for nothing."""
    place, count, end = start, 0, start + 1
    for line in one.lines:
        while place < len(bare) and not bare[place]:
            place += 1
        if place >= len(bare) or bare[place] != line:
            break
        place, count = place + 1, count + 1
        end = place
    return end, count


def _lines_of(pre: Any) -> list[str]:
    """The lines of a <pre> that have something on them; line breaks and the elements that hold a line end one."""
    parts: list[str] = []
    for event, element in iterwalk(pre, events=("start", "end")):
        if element.tag not in _IN_A_LINE:
            parts.append("\n")
        text = element.text if event == "start" else element.tail if element is not pre else None
        if text:
            parts.append(text)
    return [flat for line in "".join(parts).split("\n") if (flat := " ".join(line.split()))]
