"""Scores of names and words in C: what `Scores` of the extractor answers, for a page at once."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.native.models import at

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """What the elements of a page are called: numbers of strings, which stand one behind the other in UTF-8.

    parents, tag, name: of each element; −1 for the parent of the first one and where there is no name.
    """

    parents: Counts
    tag: Counts
    name: Counts
    tags: bytes
    tag_ends: Counts
    names: bytes
    name_ends: Counts


class _Table(ctypes.Structure):
    _fields_ = [("size", ctypes.c_int64), *((name, ctypes.c_void_p) for name in ("keys", "values", "starts"))]


class _Texts(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("ends", ctypes.c_void_p)]


class NativeTable:
    """Scores by hash, as words.c looks them up."""

    def __init__(self, table: Mapping[int, int]) -> None:
        keys = sorted(table)
        self._keys = np.array(keys, np.uint32)
        self._values = np.array([table[key] for key in keys], np.int32)
        bounds = np.arange(2**16 + 1, dtype=np.uint64) << 16
        self._starts = np.searchsorted(self._keys.astype(np.uint64), bounds).astype(np.int32)
        self.struct = _Table(len(keys), at(self._keys), at(self._values), at(self._starts))

    def of_texts(self, library: Any, texts: Sequence[str]) -> tuple[list[Floats], Counts, Counts, list[int]]:
        """Lowest, highest and mean score of the first words of each text, and that of its line; words that were asked
        for, and of these the unknown; the numbers of the texts that Python has to ask for.
        """
        joined = "".join(texts)
        text = joined.encode("utf-8", "surrogatepass")
        lengths = np.fromiter(map(len, texts), np.int32, len(texts))
        ends = np.cumsum(lengths, dtype=np.int32)
        if len(text) != len(joined):
            starts = np.flatnonzero(np.frombuffer(text, np.uint8) & 0xC0 != 0x80)  # of characters
            ends = np.append(starts, len(text))[ends].astype(np.int32)
        floats = [np.empty(len(texts)) for _ in range(4)]
        asked, unknown = np.empty(len(texts), np.int32), np.empty(len(texts), np.int32)
        is_done = np.empty(len(texts), np.uint8)
        library.native_words(
            *(ctypes.byref(self.struct), text, at(ends), at(lengths), len(texts)),
            *(*map(at, floats), at(asked), at(unknown), at(is_done)),
        )
        return floats, asked, unknown, np.flatnonzero(is_done == 0).tolist()

    def of_names(self, library: Any, page: Names) -> list[Floats] | None:
        """Of every element: the score of its own names, lowest, highest and sum over it and all above; None where
        Python has to answer.
        """
        if not page.names.isascii():
            return None
        found = [np.empty(len(page.tag)) for _ in range(4)]
        failed = library.native_names(
            *(ctypes.byref(self.struct), at(page.parents), at(page.tag), at(page.name), len(page.tag)),
            ctypes.byref(_Texts(page.tags, at(page.tag_ends))),
            ctypes.byref(_Texts(page.names, at(page.name_ends))),
            *map(at, found),
        )
        return None if failed else found
