"""The features that py3langid's automaton passes on a text, counted in C: what its `visit_counts` counts."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.native.models import at


class Automaton:
    """The tables of an automaton as the library reads them."""

    def __init__(self, moves: array[int], rows: Sequence[int], features: Sequence[int], many: int) -> None:
        """moves: next state by row and byte. rows, features: of each state; -1 = no feature. many: features."""
        self._moves = np.frombuffer(moves, np.dtype(f"u{moves.itemsize}")).astype(np.uint32, copy=False)
        self._rows, self._features = np.array(rows, np.int32), np.array(features, np.int32)
        self._many = many

    def visits(self, library: Any, text: bytes) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """The features in the order in which they first came, and how often each did; None: Python has to answer."""
        places, (order, counts) = np.zeros(self._many, np.int32), np.empty((2, min(self._many, len(text))), np.int32)
        ask = library.native_visits
        ask.restype = ctypes.c_int64
        found = ask(
            *(text, ctypes.c_int64(len(text))),
            *(at(self._moves), ctypes.c_int64(len(self._moves))),
            *(at(self._rows), at(self._features), ctypes.c_int64(len(self._rows))),
            *(at(places), ctypes.c_int64(self._many), at(order), at(counts)),
        )
        return None if found < 0 else (order[:found], counts[:found])
