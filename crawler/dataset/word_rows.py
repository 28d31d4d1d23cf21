"""Word rows are documents as one row of numbers, one a word, and back (`dataset substrings`).

A word is what stands between white space; in scripts without spaces, a character. Letter case and punctuation count.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

import numpy as np

from crawler.dataset.suffixes import Ints, Tokens

_ALONE = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_WORD = re.compile(rf"[{_ALONE}]|[^\s{_ALONE}]+")


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return _WORD.findall(text)


def spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each word, in characters."""
    return [match.span() for match in _WORD.finditer(text)]


class Row:
    """Documents side by side. After each stands a number that nothing else has, so that no passage crosses its end."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._row = array("i")
        self._starts: list[int] = []
        self.urls: list[str] = []
        self.domains: list[str] = []

    def __len__(self) -> int:
        return len(self._row)

    def add(self, url: str, domain: str, text: str) -> None:
        """Append one document."""
        self._starts.append(len(self._row))
        self.urls.append(url)
        self.domains.append(domain)
        numbers = self._numbers
        self._row.extend(numbers.setdefault(word, len(numbers)) for word in words(text))
        self._row.append(-1 - len(self._starts))

    def tokens(self) -> Tokens:
        """The row as numbers from 0 up."""
        row = np.frombuffer(self._row, np.intc).astype(np.int32)
        ends = row < 0
        row[ends] = len(self._numbers) - row[ends]
        return row

    def documents(self, positions: Ints) -> Ints:
        """Number of the document of each position."""
        return np.searchsorted(np.asarray(self._starts), positions, side="right") - 1

    def bounds(self) -> Iterator[tuple[int, int]]:
        """First position of each document and the one behind its last word."""
        for start, end in zip(self._starts, [*self._starts[1:], len(self._row)], strict=True):
            yield start, end - 1

    def text(self, start: int, length: int) -> str:
        """The words from a position on, with single spaces."""
        listed = list(self._numbers)
        return " ".join(listed[number] for number in self._row[start : start + length] if number >= 0)
