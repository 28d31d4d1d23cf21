"""Words in a line that stand in the source and that no reader sees: a closed label, a tooltip, a price said twice.

Whole blocks are the model's to judge, since a tab or an answer that opens is text. Within a block nobody asks it, and a
sentence that reads "evangelists Who, never forget, are investors have tried" was never on the page. Only what is
written out follows this: the model reads the blocks as it was trained on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

from lxml import etree

from crawler.stages.extraction.hidden import is_closed
from crawler.stages.text.words import count_words

MOST_WORDS = 8
"""More words than these are no label: a click opens them, as "read more" does."""
LEAST_CHARACTERS = 2
"""Fewer letters and digits stand somewhere in any text."""
MOST_VEILED = 100
"""A block with more such elements is left as it is: each is looked up in the whole block."""


class Unseen(Enum):
    """Why a reader does not see an element."""

    CLOSED = "hidden, display: none or visibility: hidden"
    TOOLTIP = "shown while the pointer rests on something"
    ALOUD = "aria-hidden: not read aloud, mostly because other words beside it are"


class Veiled(NamedTuple):
    """Pieces of a block, from start up to end, in such an element."""

    start: int
    end: int
    why: Unseen


_CANDIDATES = etree.XPath(
    "descendant::span[@hidden or @style or @aria-hidden or @role] | descendant::a[@hidden or @style or @aria-hidden]"
)


def unseen_in(body: Any) -> dict[Any, Unseen]:
    """The spans and links in a page's body that nobody sees. Keep the result: it keeps the elements' identity."""
    return {element: why for element in _CANDIDATES(body) if (why := _why(element.attrib)) is not None}


def without_unseen(pieces: Sequence[str], veiled: Sequence[Veiled]) -> list[str]:
    """The pieces of a block as a reader sees them; as they are where nothing would be left."""
    kept = list(pieces)
    if len(veiled) > MOST_VEILED:
        return kept
    rest = list(pieces)
    for start, end, _ in veiled:
        rest[start:end] = [" "] * (end - start)
    seen = _letters("".join(rest))
    for start, end, why in veiled:
        if _goes("".join(pieces[start:end]), why, seen):
            kept[start:end] = [""] * (end - start)
    return kept if "".join(kept).strip() else list(pieces)


def _why(attributes: Any) -> Unseen | None:
    if attributes.get("role") == "tooltip":
        return Unseen.TOOLTIP
    if is_closed(attributes):
        return Unseen.CLOSED
    return Unseen.ALOUD if attributes.get("aria-hidden") == "true" else None


def _goes(text: str, why: Unseen, seen: str) -> bool:
    """True where a reader misses nothing. Of what is not read aloud: its letters and digits are seen beside it."""
    if why is Unseen.ALOUD:
        said = _letters(text)  # "EUR1719" of "EUR 17.19", "mo" of "month"
        return len(said) >= LEAST_CHARACTERS and said in seen
    return why is Unseen.TOOLTIP or count_words(text) <= MOST_WORDS


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
