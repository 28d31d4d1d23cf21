"""Scripts that put no space between a word and a number or an address tell here where such a value begins and ends.

Chinese, Japanese, Thai and their like write no spaces at all, Korean glues its particles to what stands before. A
letter of these scripts that touches a number is another word, while a Latin one makes both a part number.
"""

from __future__ import annotations

import re

UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, old Hangul, Khmer
    "\u3005-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
)
"""Characters of these scripts, ready for a set of a regular expression: Unicode's blocks of CJK, Hangul and Brahmi."""

JOINING = rf"[^\W{UNSPACED}]"
"""A letter, digit or underscore that makes one word with a number it touches."""

_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORDS_BEFORE = re.compile(rf".*[{UNSPACED}](?=[!-~]+\Z)", re.DOTALL)


def is_joining(char: str) -> bool:
    """True for a letter or a digit that makes one word with a number it touches; False for ""."""
    return char.isalnum() and not is_unspaced(char)


def is_unspaced(char: str) -> bool:
    """True for a letter of a script that puts no space between words and numbers."""
    return _IS_UNSPACED.match(char) is not None


def words_before(name: str) -> int:
    """How many characters at the start of an address's local part are words of the sentence: 写信到anna has three.

    0 where its last character is of such a script, too: a name in it (RFC 6531).
    """
    if name.isascii():
        return 0
    words = _WORDS_BEFORE.match(name)
    return words.end() if words else 0
