"""`words_left` counts what a redacted page says beside the entries of a directory: a list of persons is no text.

An entry is a line with a placeholder and little else, with the short lines around it (name, room, office).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from crawler.document import Span
from crawler.stages.text.words import count_words

_WORDS_EACH = 8  # words beside each placeholder from which a line is a sentence and no entry
_AROUND = 3  # short lines before and behind an entry that are part of it


def words_left(text: str, spans: Iterable[Span]) -> int:
    """Words of a redacted text, without its placeholders and without entries of a directory.

    spans: of the placeholders of persons' data in the text, in order.
    """
    lines = text.split("\n")
    ends = list(accumulate(len(line) + 1 for line in lines))
    held = [0] * len(lines)
    at = 0
    for start, _, _ in spans:
        while ends[at] <= start:
            at += 1
        held[at] += 1
    words = [count_words(line) - count for line, count in zip(lines, held, strict=True)]
    short = [word < _WORDS_EACH * max(1, count) for word, count in zip(words, held, strict=True)]
    entries = [place for place, count in enumerate(held) if count and short[place]]
    near = {other for place in entries for other in range(place - _AROUND, place + _AROUND + 1)}
    return sum(word for place, word in enumerate(words) if not (short[place] and place in near))
