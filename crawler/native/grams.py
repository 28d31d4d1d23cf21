"""Runs of tokens that repeat, counted in C: the reference is `stages/quality/rules/gopher_repetition.py`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.native.models import at

_LONGEST = 2**30
"""Tokens from which Python does the work: places in C are of 32 bits."""


def repetition(
    library: Any,
    tokens: NDArray[np.int64],
    joined: str,
    ends: NDArray[np.int64],
    *,
    tops: Sequence[int],
    sizes: Sequence[int],
) -> tuple[list[tuple[int, int]], list[int]] | None:
    """Where the most frequent run of each of `tops` tokens stands first, and how often; characters of the repeats among
    the runs of each of `sizes` tokens.

    ends: where the tokens begin in `joined`, and where the last one ends. None where Python has to answer.
    """
    many = len(tokens)
    if not 0 < many < _LONGEST or len(ends) != many + 1 or ends[0] != 0 or int(ends[-1]) != len(joined):
        return None
    if min((*tops, *sizes), default=1) < 1 or max(tops, default=1) > many:
        return None
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    tokens, ends = np.ascontiguousarray(tokens, np.int64), np.ascontiguousarray(ends, np.int64)
    of_tops, of_sizes = np.array(tops, np.int32), np.array(sizes, np.int32)
    first, times, chars = (np.empty(max(len(some), 1), np.int64) for some in (tops, tops, sizes))
    failed = library.native_repetition(
        *(at(tokens), ctypes.c_int64(many), at(codes), at(ends)),
        *(at(of_tops), len(tops), at(first), at(times), at(of_sizes), len(sizes), at(chars)),
    )
    if failed:
        return None
    return list(zip(first.tolist(), times.tolist(), strict=True))[: len(tops)], chars.tolist()[: len(sizes)]
