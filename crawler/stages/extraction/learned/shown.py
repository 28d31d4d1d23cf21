"""Where a page's source has no blank between two words that its reader sees apart, or has one that nobody sees.

Only what is written out follows this: the model reads the blocks as it was trained on them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNSPACED = r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
_FOLD = re.compile(rf"(?<={_UNSPACED})[^\S\n]*+\n\s*+(?={_UNSPACED})")
"""A line break of the source between two characters of Chinese or Japanese is no blank (CSS Text 3, section 4.1.3)."""

_ENDS = "!?)%"


def are_apart(before: str, behind: str) -> bool:
    """True for the characters at which two elements touch without being one word: "AnnMay", "Price12", "12EUR".

    On wcxb-dev the true text has a blank there 1,490 times, and one word twice; small letters on both sides are as
    often one word of which a part is marked.
    """
    is_small = before.islower()
    if behind.isupper():
        return is_small or before.isdecimal() or before in _ENDS
    return is_small and behind.isdecimal()


def as_shown(pieces: Sequence[str], seams: Sequence[int]) -> str:
    """The text of a block as its reader sees it; seams: the pieces before which two elements are apart."""
    starts = set(seams)
    apart = "".join(f" {piece}" if i in starts else piece for i, piece in enumerate(pieces))
    return " ".join(_FOLD.sub("", apart).split())
