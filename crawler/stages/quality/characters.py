"""The quality signals count characters here, all of a text at once: as numbers, they are looked up in one table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crawler.stages.quality.punctuation import PUNCTUATION

_MARKS = frozenset(c for c in PUNCTUATION if (c.isprintable() and ord(c) < 0x3020) or c in "！？，、：；。")
_IS_MARK = np.array([chr(code) in _MARKS for code in range(0x10000)])
"""The last one, U+FFFF, is none; it stands for all beyond it."""
_DIGITS_FROM, _NO_DIGITS = 0x660, (0x2000, 0xA620)
"""Where Unicode's other decimal digits begin, and a stretch with signs and East Asian letters that has none."""


class Characters:
    """The characters of one text."""

    def __init__(self, text: str) -> None:
        self._codes: npt.NDArray[np.uint32] = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")

    def marks(self) -> int:
        """Punctuation marks, without those of rare scripts and without control characters."""
        return int(np.count_nonzero(_IS_MARK.take(self._codes, mode="clip")))

    def digits(self) -> int:
        """The digits 0 to 9."""
        return int(np.count_nonzero(self._codes - np.uint32(ord("0")) < 10))

    def has_other_digits(self) -> bool:
        """False where every character that a regular expression takes for `\\d` is one of 0 to 9; True in doubt."""
        first, end = _NO_DIGITS
        known = (self._codes < _DIGITS_FROM) | (self._codes - np.uint32(first) < end - first)
        return not known.all()
