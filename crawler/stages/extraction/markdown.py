"""Markdown of a text that an extractor chose as plain lines: the page's own blocks that stand in it, with their signs.

The chain decides which text is kept; the walk of the learned extractor knows the headings, lists, tables, quotes and
code of the page. A block stands in the text where half of its words do, at its place.
"""

from __future__ import annotations

import re
from collections import Counter

from crawler.stages.extraction.learned.coverage import RUN, WORD, coverage
from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.walk import Kind, Walked
from crawler.stages.extraction.placed import flat
from crawler.stages.extraction.written import Written

LEAST = 0.5
"""Share of a block's words that stand in the text, from which it is part of it (as training labels blocks)."""
NEAR = 2
"""Blocks before or behind, of which one has to be kept where a short block is found by its line alone."""
_NUMBER = re.compile(r"^\s*+(?:(?:-?\d{1,5}|[A-Za-z]{1,8})\. ){1,3}", re.MULTILINE)
"""Of an item of an ordered list, at the beginning of its line; a word of one sentence is as well taken for one."""
SLACK = 0.25
"""Share of the words by which Markdown may differ from the text (signs are no words; our own judgement)."""


def as_markdown(page: Walked, given: Written) -> Written:
    """The blocks of the page that stand in a text, as Markdown.

    The text as it is where they do not make it up: where they have over a quarter more or fewer words.
    """
    text = given.text
    kept = _kept(page, text)
    found = write(page, kept, "markdown")
    words = sum(len(WORD.findall(block)) for i, block in enumerate(page.texts) if kept[i])
    wanted = len(WORD.findall(_NUMBER.sub("", text)))
    return found if found.text and abs(words - wanted) <= SLACK * wanted else given


def _kept(page: Walked, text: str) -> list[bool]:
    """Which blocks stand in the text; a block that the page repeats, as often as the text has it."""
    lines = Counter(flat(line) for line in text.split("\n"))
    blocks = [flat(block) for block in page.texts]
    kept = [share >= LEAST for share in coverage(page.texts, text)]
    whole, left = " ".join(text.split()), dict[str, int]()
    for i, block in enumerate(blocks):
        if kept[i] and block.count(" ") >= RUN:
            left[block] = left[block] - 1 if block in left else max(1, whole.count(block)) - 1
            kept[i] = left[block] >= 0
        if kept[i] and lines[block] <= 0 and _is_menu(page, i):
            kept[i] = False  # its word stands in the text, but in somebody else's line
        lines[block] -= kept[i]
    for i, block in enumerate(blocks):  # a short line between blocks of the text, whose place coverage did not find
        if not kept[i] and block and lines[block] > 0 and any(kept[max(0, i - NEAR) : i + NEAR + 1]):
            kept[i] = True
            lines[block] -= 1
    return kept


def _is_menu(page: Walked, block: int) -> bool:
    """True for a short block that is nothing but a link, outside tables and running text."""
    text = page.texts[block]
    is_short = text.count(" ") + 1 < RUN
    return is_short and page.kinds[block] in (Kind.ITEM, Kind.TEXT) and page.linked[block] >= len(text)
