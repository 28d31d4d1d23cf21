"""Marks of punctuation (Unicode's category P) are taken out of a text here, all at once: its characters as numbers.

A loop over the different marks of a page of prose costs five times as much. Without marks a text comes back as it is.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_PUNCTUATION = regex.compile(r"\p{P}")
_BMP = 0x10000


def without_punctuation(text: str, instead: str) -> str:
    """The text with `instead`, one character or none, for each mark."""
    import numpy as np  # late: the duplicate index needs none of this

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    is_mark = _table().take(codes, mode="clip")
    beyond = np.flatnonzero(codes >= _BMP)
    is_mark[beyond] = [_is_punctuation(chr(code)) for code in codes[beyond].tolist()]
    if not is_mark.any():
        return text
    kept = np.where(is_mark, np.uint32(ord(instead)), codes) if instead else codes[~is_mark]
    return kept.tobytes().decode("utf-32-le", "surrogatepass")


@cache
def _table() -> npt.NDArray[np.bool_]:
    """Which code points of the first plane are marks; its last one is none."""
    import numpy as np

    found = np.zeros(_BMP, np.bool_)
    found[[match.start() for match in _PUNCTUATION.finditer("".join(map(chr, range(_BMP))))]] = True
    return found


@cache
def _is_punctuation(char: str) -> bool:
    return _PUNCTUATION.match(char) is not None
