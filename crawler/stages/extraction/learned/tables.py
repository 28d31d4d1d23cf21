"""Hashed tables say how often a class, an id or a word stood in main texts: what people name things is evidence.

A table holds hashes and one number each, no word and no phrase. The number is the logarithm of the odds, over sites,
that text under such a name (or with such a word) belongs to the main text; 0 for what is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from zlib import crc32

from crawler.native.words import NativeTable

Score = Callable[[int], float]
"""Log odds of a hash; 0.0 where it is not in the table."""

MAX_NAMES = 24
"""Names of an element that are looked up."""
MAX_WORDS = 12
"""Words at the beginning of a block that are looked up."""
LONGEST_LINE = 60
"""Characters of a block that is looked up as a whole."""
MAX_REMEMBERED = 20_000
"""Names, words and short blocks, of each kind, whose scores are remembered; beyond it the memory starts anew."""
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_ENDS = ".,:;!?()\"'"


def name_keys(names: str, tag: str, parent: str) -> set[str]:
    """What is hashed of an element: its class names and ids, whole and in parts, and its tag with that around it."""
    whole = names.split()[:MAX_NAMES]
    keys = {f"={name}" for name in " ".join(whole).lower().split()}
    keys.update(" ".join(_PARTS.findall(" ".join(whole))[:MAX_NAMES]).lower().split())
    keys.add(f"<{parent}>{tag}")
    return keys


def first_words(text: str) -> list[str]:
    """The words at the beginning of a block as they stand there."""
    return text[:120].split(None, MAX_WORDS)[:MAX_WORDS]


def word_hash(word: str) -> int:
    """Hash of a word, lower case, without punctuation around it."""
    return hash_of("w" + word.lower().strip(_ENDS))


def line_hash(text: str) -> int:
    """Hash of a whole short line."""
    return hash_of("l" + text[:LONGEST_LINE].lower())


def hash_of(key: str) -> int:
    """CRC-32: no key has to be kept."""
    return crc32(key.encode("utf-8", "replace"))


OfBlock = tuple[float, float, float, float, int, int]
"""Lowest, highest and mean score of the words, that of the line, how many words were looked up and are not known."""


def _of_block(words: list[float], line: float) -> OfBlock:
    if not words:
        return 0.0, 0.0, 0.0, line, 0, 0
    return min(words), max(words), sum(words) / len(words), line, len(words), words.count(0.0)


class Scores:
    """A table asked by names and words; pages repeat them, so that most are answered from memory."""

    def __init__(self, score: Score, native: NativeTable | None = None) -> None:
        """native: the same table in C, where it gives whole numbers."""
        self._score, self.native = score, native
        self._names: dict[tuple[str, str, str], tuple[float, float, float]] = {}
        self._words: dict[str, float] = {}
        self._lines: dict[str, OfBlock] = {}

    def of_names(self, names: str, tag: str, parent: str) -> tuple[float, float, float]:
        """Sum, lowest and highest score of an element's names."""
        key = names, tag, parent
        found = self._names.get(key)
        if found is None:
            score = self._score  # of whole numbers: their sum is the same in any order
            scores = [score(hash_of(one)) for one in name_keys(names, tag, parent)]
            if len(self._names) >= MAX_REMEMBERED:
                self._names.clear()
            found = self._names[key] = (sum(scores), min(scores), max(scores))
        return found

    def of_block(self, text: str) -> OfBlock:
        """What the first words of a block and the block as a whole say. Menus stand on every page of a site."""
        found = self._lines.get(text)
        if found is None:
            found = _of_block(self.of_words(text), self.of_line(text))
            if len(text) <= LONGEST_LINE:
                if len(self._lines) >= MAX_REMEMBERED:
                    self._lines.clear()
                self._lines[text] = found
        return found

    def of_words(self, text: str) -> list[float]:
        """Scores of the first words of a block."""
        known = self._words
        words = first_words(text)
        return [score if (score := known.get(word)) is not None else self._of_word(word) for word in words]

    def of_line(self, text: str) -> float:
        """Score of a short block as a whole; 0.0 for a longer one."""
        return self._score(line_hash(text)) if len(text) <= LONGEST_LINE else 0.0

    def _of_word(self, word: str) -> float:
        if len(self._words) >= MAX_REMEMBERED:
            self._words.clear()
        score = self._words[word] = self._score(word_hash(word))
        return score
