"""The walk in C, turned back into the lists of a walked page: the same as `walk.py` gives, and that is the reference.

C reads the page as lxml writes it. What is rare stays in Python: blocks whose reader may see something else (`shown`),
marks of names (each different one once), numbers of items, languages of code, spans of cells.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from lxml import etree

from crawler.native.walk import COLUMNS, LANGUAGE, NUMBER, ROWS, NativePage, Rules, walked
from crawler.native.words import Names
from crawler.stages.extraction.learned.shown import are_words, as_shown, words_of
from crawler.stages.extraction.learned.unseen import Unseen, Veiled, without_unseen
from crawler.stages.extraction.ordinals import number_in

_WHY = {1: Unseen.CLOSED, 2: Unseen.TOOLTIP, 3: Unseen.ALOUD}


def fill(
    page: Any, library: Any, rules: Rules, body: Any, *, said_by: Callable[[str], int], span: Callable[[str], int]
) -> bool:
    """Fill the empty page with what C finds; False, with nothing filled in, where Python has to walk.

    said_by: the marks that names give. span: the columns or rows that an attribute asks for.
    """
    xml = etree.tostring(body, encoding="utf-8", with_tail=False, xml_declaration=False)
    with walked(library, rules, xml) as found:
        if found is None:
            return False
        ends = np.cumsum(found.ints("lengths")).tolist()
        text = found.bytes("text").decode()
        page.texts = [text[start:end] for start, end in pairwise([0, *ends])]
        for name in ("kinds", "holders", "linked", "links", "parents", "depths", "starts", "ends"):
            setattr(page, name, found.numbers(name))
        names = found.strings("names")
        found.mark(np.fromiter(map(said_by, names), np.int32, len(names)))
        page.marks = found.numbers("marks")
        tags = [*rules.tags, *found.strings("tags", len(rules.tags))]
        page.tags = [tags[i] for i in found.numbers("tag")]
        names.append("")  # of what has none: −1
        page.names = [names[i] for i in found.numbers("name")]
        parents, of_tag, of_name = (found.ints(one) for one in ("parents", "tag", "name"))
        of_tags, of_names = (found.bytes("tags_text"), found.ints("tags_ends")), found.bytes("names_text")
        page.called = Names(parents, of_tag, of_name, *of_tags, of_names, found.ints("names_ends"))
        _fill_notes(page, found, span)
        _fill_shown(page, found)
    return True


def _fill_notes(page: Any, found: NativePage, span: Callable[[str], int]) -> None:
    notes, raw, start = found.numbers("notes"), found.bytes("note_text"), 0
    for element, which, end in zip(notes[::3], notes[1::3], notes[2::3], strict=True):
        value, start = raw[start:end].decode(), end
        if which == NUMBER and (number := number_in(value)):
            page.numbers[element] = number
        elif which == LANGUAGE and value:
            page.languages[element] = value
        elif which in (COLUMNS, ROWS):
            columns, rows = page.spans.get(element, (1, 1))
            page.spans[element] = (span(value), rows) if which == COLUMNS else (columns, span(value))


def _fill_shown(page: Any, found: NativePage) -> None:
    """How blocks read where that is not their text; neighbours are apart where both are words of the page."""
    numbers, raw, at = found.numbers("shown"), found.bytes("pieces"), 0
    doubtful: list[tuple[int, list[str], list[int], list[int]]] = []
    while at < len(numbers):
        block, many, *sizes, is_shown = numbers[at : at + 6]
        at += 6
        parts = []
        for size in (many + 1, sizes[0], sizes[1], 3 * sizes[2]):
            parts.append(numbers[at : at + size])
            at += size
        begins, seams, neighbours, veiled = parts
        pieces = [raw[start:end].decode() for start, end in pairwise(begins)]
        if is_shown:
            if veiled:
                runs = zip(veiled[::3], veiled[1::3], veiled[2::3], strict=True)
                pieces = without_unseen(pieces, [Veiled(start, end, _WHY[why]) for start, end, why in runs])
            shown = as_shown(pieces, seams)
            if shown != page.texts[block]:
                page.shown[block] = shown
        if neighbours:
            doubtful.append((block, pieces, seams, neighbours))
    known = words_of(page.texts) if doubtful else frozenset[str]()
    for block, pieces, seams, neighbours in doubtful:
        if apart := [i for i in neighbours if are_words(pieces[i - 1], pieces[i], known)]:
            page.shown[block] = as_shown(pieces, [*seams, *apart])
