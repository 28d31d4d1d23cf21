"""The quality rules count here: every token of a process has a number, and what the rules ask of it is asked once.

A text is then a row of numbers, and a rule a sum over what is known of them. What stands between white space is split
once, too, where the tokenizer says that it decides alone (`Tokenizer.split`). Nothing of it changes an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from sys import byteorder
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from crawler.stages.quality.ngrams import Ints
from crawler.stages.quality.punctuation import PUNCTUATION
from crawler.stages.quality.tokenizers import Split, Tokenizer

MOST_ENTRIES = 131_072
"""Tokens and chunks, some 30 MB, from which the next page begins a new vocabulary."""
MOST_CHARS = 4_000_000
"""Their characters: pages without white space must not stay in memory."""


PIECE = 500_000
"""Characters of a text whose chunks are looked up at once."""
_SPACE = re.compile(r"\s")  # what `str.split` splits at: the test holds both together
_SIZE = np.dtype(np.int64).itemsize
_Kind = TypeVar("_Kind", np.int64, np.bool_)


class Vocabulary:
    """What is known of the tokens; the rows are read by the numbers of the tokens."""

    def __init__(self) -> None:
        self._tokens, self._lowers = _Rows(), _Numbers()
        self._chunks: dict[Tokenizer, dict[str, bytes]] = {}
        self._entries = self._chars = self._known = 0
        self._loses = False  # a tokenizer left characters out: the tokens are then joined one by one
        self.lengths: Ints = np.zeros(1024, np.int64)
        self.lower_lengths: Ints = np.zeros(1024, np.int64)
        """Characters in lower case: "İ" has two."""
        self.lowers: Ints = np.zeros(1024, np.int64)
        """A number for each token in lower case."""
        self.are_words: npt.NDArray[np.bool_] = np.zeros(1024, np.bool_)
        """At least one character is no punctuation."""
        self.have_letters: npt.NDArray[np.bool_] = np.zeros(1024, np.bool_)

    @property
    def is_full(self) -> bool:
        """True where the next page had better begin a new one."""
        return self._entries > MOST_ENTRIES or self._chars > MOST_CHARS

    def read(self, tokenizer: Tokenizer, text: str) -> tuple[Ints, str]:
        """The numbers of the tokens of a text, in order, and the tokens with nothing between them."""
        if tokenizer.split is None:
            tokens = tokenizer.words(text)
            return self.numbers(tokens), "".join(tokens)
        known, rows, joined = self._chunks.setdefault(tokenizer, {}), list[bytes](), list[str]()
        for piece in _pieces(text):
            chunks = piece.split()
            if unknown := set(chunks).difference(known):
                self._split(tokenizer.split, unknown, known)
            rows.append(b"".join(map(known.__getitem__, chunks)))
            joined.append("".join(chunks))
        numbers = np.frombuffer(b"".join(rows), dtype=np.int64)
        return numbers, "".join(self.strings(numbers) if self._loses else joined)

    def numbers(self, tokens: Iterable[str]) -> Ints:
        """The numbers of tokens."""
        row = b"".join(map(self._tokens.__getitem__, tokens))
        self._learn()
        return np.frombuffer(row, dtype=np.int64)

    def strings(self, numbers: Ints) -> list[str]:
        """The tokens of these numbers."""
        return list(map(self._tokens.order.__getitem__, numbers.tolist()))

    def times(self, numbers: Ints, lower_words: Iterable[str]) -> int:
        """How many of the tokens, in lower case, are one of these words."""
        wanted = np.zeros(len(self._lowers) + 1, np.bool_)
        wanted[[number for word in lower_words if (number := self._lowers.get(word)) is not None]] = True
        return int(np.count_nonzero(wanted[self.lowers[numbers]]))

    def different(self, numbers: Ints, words: Iterable[str]) -> int:
        """How many of these words are among the tokens, in letter case, too."""
        present = np.zeros(len(self._tokens) + 1, np.bool_)
        present[numbers] = True
        known = b"".join(number for word in words if (number := self._tokens.get(word)) is not None)
        return int(np.count_nonzero(present[np.frombuffer(known, dtype=np.int64)]))

    def _split(self, split: Split, chunks: set[str], known: dict[str, bytes]) -> None:
        """Remember the numbers of the tokens of each chunk, as they stand in memory: such rows are joined at once."""
        parts = list(split(chunks))
        self._loses = self._loses or "".join(chain.from_iterable(parts)) != "".join(chunks)
        number, join = self._tokens.__getitem__, b"".join
        rows = (number(part[0]) if len(part) == 1 else join(map(number, part)) for part in parts)
        known.update(zip(chunks, rows, strict=True))
        self._entries += len(chunks)
        self._chars += sum(map(len, chunks))
        self._learn()

    def _learn(self) -> None:
        """Ask of the new tokens what the rules want to know."""
        new = self._tokens.order[self._known :]
        if not new:
            return
        lower = [token if (low := token.lower()) == token else low for token in new]
        lengths, start = list(map(len, new)), self._known
        self.lengths = _with(self.lengths, start, lengths)
        self.lower_lengths = _with(self.lower_lengths, start, list(map(len, lower)))
        self.lowers = _with(self.lowers, start, list(map(self._lowers.__getitem__, lower)))
        are_words = [token.isalnum() or not PUNCTUATION.issuperset(token) for token in new]
        self.are_words = _with(self.are_words, start, are_words)
        have_letters = [token.isalpha() or any(map(str.isalpha, token)) for token in new]
        self.have_letters = _with(self.have_letters, start, have_letters)
        self._known += len(new)
        self._entries += len(new)
        self._chars += sum(lengths)


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that end at white space: of a long one only the chunks of one piece are in memory."""
    start = 0
    while len(text) - start > PIECE:
        space = _SPACE.search(text, start + PIECE)
        end = space.start() if space else len(text)
        yield text[start:end]
        start = end
    yield text[start:] if start else text


class _Rows(dict[str, bytes]):
    """String → number, as it stands in memory; a new string gets the next one."""

    def __init__(self) -> None:
        self.order: list[str] = []

    def __missing__(self, string: str) -> bytes:
        self[string] = number = len(self.order).to_bytes(_SIZE, byteorder)
        self.order.append(string)
        return number


class _Numbers(dict[str, int]):
    """String → number; a new string gets the next one."""

    def __init__(self) -> None:
        self.order: list[str] = []

    def __missing__(self, string: str) -> int:
        self[string] = number = len(self.order)
        self.order.append(string)
        return number


def _with(row: npt.NDArray[_Kind], start: int, values: Sequence[int]) -> npt.NDArray[_Kind]:
    """The row with these values from `start` on, longer by half and more where they do not fit."""
    end = start + len(values)
    if end > len(row):
        row = np.concatenate((row, np.zeros(max(end - len(row), len(row) // 2), row.dtype)))
    row[start:end] = values
    return row


_vocabulary = Vocabulary()


def vocabulary() -> Vocabulary:
    """The one of this process; a page keeps the one with which it was read."""
    global _vocabulary  # noqa: PLW0603  # a cache, begun anew where it is full
    if _vocabulary.is_full:
        _vocabulary = Vocabulary()
    return _vocabulary
