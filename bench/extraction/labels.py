"""Labels say of every block how much of it the annotator took, also of short lines that stand far from any long one.

`coverage` finds long blocks by their runs of words and short ones near them. A grid of cards or a table has no long
block, so that what is left of the expected text is given out besides: whole lines first, then single words between
blocks that were taken. Every word of the expected text is given out once.
"""

from __future__ import annotations

from collections import Counter

from crawler.stages.extraction.learned.coverage import RUN, WORD, coverage

LONGEST_LINE = 12
"""Words of a block that is found as a whole line."""
TAKEN = 0.5
"""Share of a block from which it counts as taken."""

Words = tuple[str, ...]


def labels(blocks: list[str], expected: str) -> list[float]:
    """Share of each block that stands in the expected text, 0 to 1."""
    found = coverage(blocks, expected)
    own = [_words(block) for block in blocks]
    left = Counter(WORD.findall(expected.lower()))
    for words, share in zip(own, found, strict=True):
        if share >= TAKEN:
            left.subtract(words)
    _give_lines(own, found, left, _lines(expected))
    _give_words(own, found, left)
    return found


def _words(text: str) -> Words:
    return tuple(WORD.findall(text.lower()))


def _lines(expected: str) -> Counter[Words]:
    """Lines of the expected text, and the cells of those that are rows."""
    lines: Counter[Words] = Counter()
    for line in expected.split("\n"):
        lines.update(words for part in {line, *line.split(" | ")} if (words := _words(part)))
    return lines


def _give_lines(own: list[Words], found: list[float], left: Counter[str], lines: Counter[Words]) -> None:
    lines.subtract(words for words, share in zip(own, found, strict=True) if share >= TAKEN and words in lines)
    for i, words in enumerate(own):
        if 0 < len(words) <= LONGEST_LINE and lines[words] > 0:
            lines[words] -= _give(i, words, found, left)


def _give_words(own: list[Words], found: list[float], left: Counter[str]) -> None:
    taken = [i for i, share in enumerate(found) if share >= TAKEN]
    for i in range(taken[0], taken[-1]) if taken else ():
        if 0 < len(own[i]) < RUN:
            _give(i, own[i], found, left)


def _give(i: int, words: Words, found: list[float], left: Counter[str]) -> bool:
    """Give a block its words where all of them are left."""
    if found[i] >= TAKEN or not all(left[word] > 0 for word in words):
        return False
    found[i] = 1.0
    left.subtract(words)
    return True
