"""Hashed tables say how often a class, an id or a word stood in main texts: what people name things is evidence.

A table holds hashes and one number each, no word and no phrase. The number is the logarithm of the odds, over sites,
that text under such a name (or with such a word) belongs to the main text; 0 for what is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from zlib import crc32

Score = Callable[[int], float]
"""Log odds of a hash; 0.0 where it is not in the table."""

MAX_NAMES = 24
"""Names of an element that are looked up."""
MAX_WORDS = 12
"""Words at the beginning of a block that are looked up."""
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def name_hashes(names: str, tag: str, parent: str) -> list[int]:
    """Hashes of the class names and ids of an element, whole and in parts, and of its tag with that around it."""
    whole = names.split()[:MAX_NAMES]
    parts = [part.lower() for part in _PARTS.findall(" ".join(whole))][:MAX_NAMES]
    keys = {f"={name.lower()}" for name in whole} | set(parts) | {f"<{parent}>{tag}"}
    return [crc32(key.encode("utf-8", "replace")) for key in sorted(keys)]


def word_hashes(text: str) -> list[int]:
    """Hashes of the first words of a block, lower case, digits as one sign."""
    words = text[:120].lower().split()[:MAX_WORDS]
    return [crc32(("w" + word.strip(".,:;!?()\"'")).encode("utf-8", "replace")) for word in words]


def line_hash(text: str) -> int:
    """Hash of a whole short line."""
    return crc32(("l" + text[:60].lower()).encode("utf-8", "replace"))
