"""Where a page's source has no blank between two words that its reader sees apart, or has one that nobody sees.

Only what is written out follows this: the model reads the blocks as it was trained on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_UNSPACED = r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
_FOLD = re.compile(rf"(?<={_UNSPACED})[^\S\n]*+\n\s*+(?={_UNSPACED})")
"""A line break of the source between two characters of Chinese or Japanese is no blank (CSS Text 3, section 4.1.3)."""

_ENDS = "!?)%"
_NO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff"

LEAST_LETTERS, LONGEST_WORD = 2, 40
_WORD, _LAST, _FIRST = re.compile(r"\w+"), re.compile(r"\w+\Z"), re.compile(r"\w+")


def are_apart(before: str, behind: str) -> bool:
    """True for texts that touch without being one word, by the characters there: "AnnMay", "Price12", "12EUR".

    What has no width stands between nothing. On wcxb-dev the true text has a blank there 1,490 times, and one word
    twice; small letters on both sides are as often one word of which a part is marked.
    """
    last, first = before[-1:], behind[:1]
    if last in _NO_WIDTH or first in _NO_WIDTH:
        last, first = before.rstrip(_NO_WIDTH)[-1:], behind.lstrip(_NO_WIDTH)[:1]
    is_small = last.islower()
    if first.isupper():
        return is_small or last.isdecimal() or (last != "" and last in _ENDS)
    return is_small and first.isdecimal()


def are_words(before: str, behind: str, known: frozenset[str]) -> bool:
    """True for neighbouring elements of which one ends in a word and the next begins with one, both with small letters.

    known: the words that the page has elsewhere, in lower case. On wcxb-dev the true text has a blank between such
    elements 80 times (on 11 pages), and never one word; of single letters ("<span>y</span><span>ear</span>") it is one.
    """
    left, right = _LAST.search(before[-LONGEST_WORD:]), _FIRST.match(behind[:LONGEST_WORD])
    if left is None or right is None:
        return False
    return all(LEAST_LETTERS <= len(word) < LONGEST_WORD and word.lower() in known for word in (left[0], right[0]))


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of a page's blocks, in lower case."""
    return frozenset(word for text in texts for word in _WORD.findall(text.lower()))


def as_shown(pieces: Sequence[str], seams: Sequence[int]) -> str:
    """The text of a block as its reader sees it; seams: the pieces before which two elements are apart."""
    starts = set(seams)
    apart = "".join(f" {piece}" if i in starts else piece for i, piece in enumerate(pieces))
    return " ".join(_FOLD.sub("", apart).split())
