"""The MinHash signature of a text in C: what `stages/fingerprint.py` computes of the hashes of its units."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.native.models import at


def minhash(
    library: Any, hashed: NDArray[np.uint64], size: int, factors: NDArray[np.uint32], offsets: NDArray[np.uint32]
) -> tuple[bytes, int] | None:
    """Signature, four bytes for each permutation, little-endian, and the number of different runs of `size` hashes.

    None where Python has to answer: for no text, and where memory is lacking.
    """
    size = min(size, len(hashed))
    if size < 1:
        return None
    hashed, least = np.ascontiguousarray(hashed, np.uint64), np.empty(len(factors), np.uint32)
    ask = library.native_minhash
    ask.restype = ctypes.c_int64
    count = ask(
        *(at(hashed), ctypes.c_int64(len(hashed)), ctypes.c_int64(size)),
        *(at(factors), at(offsets), len(factors), at(least)),
    )
    return None if count < 0 else (least.astype("<u4").tobytes(), count)
