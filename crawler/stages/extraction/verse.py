"""How much of a page is verse: lines that the page itself breaks, in paragraphs of short lines without links.

Songs and poems have short lines without a full stop, and repeat some, as menus do; only the markup tells them apart.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from crawler.stages.text.words import count_words, width

LEAST_LINES = 3
"""Lines of a paragraph from which it may be a stanza."""
MOST_PLACES = 2_000
"""Elements with line breaks that are looked at."""
SHORTEST, LONGEST = 12, 70
"""Width of a stanza's lines, in the mean: shorter ones are labels and addresses, longer ones are paragraphs."""
LEAST_WORDS = 3.0
"""Words of a stanza's lines, in the mean."""
MOST_NODES, LONGEST_PIECE = 50, 1_000
"""Elements within a part of a line, and characters of a piece of source: what has more is no stanza, and is not read.

So nested elements are not read once for each of the elements around them."""
_OTHERS = frozenset({"a", "input", "pre", "td"})


def verse_chars(tree: Any) -> int:
    """Characters of the lines of all stanzas."""
    places = dict.fromkeys(parent for br in tree.iter("br") if (parent := br.getparent()) is not None)
    return sum(_chars(place) for place in islice(places, MOST_PLACES))


def _chars(place: Any) -> int:
    lines = _lines(place)
    if len(lines) < LEAST_LINES:
        return 0
    chars, words = sum(map(len, lines)), sum(map(count_words, lines))
    wide = sum(map(width, lines))
    is_short = SHORTEST <= wide / len(lines) <= LONGEST
    return chars if is_short and words >= LEAST_WORDS * len(lines) else 0


def _lines(place: Any) -> list[str]:
    """What stands between the line breaks of an element, without empty lines; nothing of what can be no stanza."""
    if place.tag in _OTHERS or len(place.text or "") > LONGEST_PIECE:
        return []
    pieces = [" ".join((place.text or "").split()) + " "]
    for child in place:
        if not _is_part_of_a_line(child):
            return []
        pieces.append("\n" if child.tag == "br" else " ".join(child.text_content().split()))
        pieces.append(" ".join((child.tail or "").split()) + " ")
    return [line for one in "".join(pieces).split("\n") if (line := one.strip())]


def _is_part_of_a_line(child: Any) -> bool:
    nodes = list(islice(child.iter(), MOST_NODES + 1))
    return len(nodes) <= MOST_NODES and not any(
        node.tag in _OTHERS or len(node.text or "") > LONGEST_PIECE or len(node.tail or "") > LONGEST_PIECE
        for node in nodes
    )
