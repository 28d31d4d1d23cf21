"""`Needles` are many words that are looked for at once: most of them are told not to be in a text without a search.

A word can only be in a text that has every few letters in a row of it, from its first to its last. One pass over the
text says which of them it has, whatever the number of words (as hashes: now and then a foreign one passes for one of
them). The few words that are left have to be searched for by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

_FACTOR = np.uint16(0x9E35)  # odd, so that none of the letters is lost in sixteen bits


class Needles:
    """Words, each with the bytes that stand for it in a haystack of bytes (see `outline`).

    width: letters in a row that are looked for. The more, the fewer words pass; shorter words pass always.
    """

    def __init__(self, needles: Mapping[str, bytes], width: int) -> None:
        self.needles, self._width = dict(needles), width
        self._short = [word for word, needle in self.needles.items() if len(needle) < width]
        self._long = [word for word, needle in self.needles.items() if len(needle) >= width]
        parts = [_hashes(self.needles[word], width) for word in self._long]
        self._parts = np.concatenate([*parts, np.empty(0, np.uint16)])
        self._starts = np.cumsum([0, *map(len, parts)])[: len(parts)]

    def possible(self, haystack: bytes) -> list[str]:
        """The words that the haystack may have; all others are not in it."""
        seen = np.zeros(1 << 16, dtype=np.bool_)
        seen[_hashes(haystack, self._width)] = True
        whole = np.logical_and.reduceat(seen[self._parts], self._starts)
        return self._short + [self._long[place] for place in np.flatnonzero(whole)]


def _hashes(haystack: bytes, width: int) -> npt.NDArray[np.uint16]:
    """A number for every `width` bytes in a row."""
    codes = np.frombuffer(haystack, dtype=np.uint8).astype(np.uint16)
    hashes = codes[: max(0, len(codes) - width + 1)]
    for place in range(1, width):
        hashes = hashes * _FACTOR + codes[place : place + len(hashes)]
    return hashes
