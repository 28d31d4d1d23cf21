"""Characters are folded here all at once, by tables, where each one of a text decides alone what becomes of it.

That is so in most texts; elsewhere the answer is None, and whoever asks takes the way that holds for every text. To
look a text up in a table takes a third of the time that expressions take to search it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Codes = npt.NDArray[np.uint32]

_END = 0x2E80
"""From here on: East Asia, signs outside of the first plane, and what few texts have."""
_UNSPACED = frozenset((*range(0x0E00, 0x10A0), *range(0x1780, 0x1800)))
"""Thai, Lao, Tibetan and Burmese; Khmer."""
_HANGUL_LETTERS = range(0x1100, 0x1200)
_MARKS = regex.compile(r"\p{Mn}+")
_NOT_ALONE, _NOTHING, _BETWEEN_DIGITS = 0xFFFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFD
_SPACE, _ZERO = ord(" "), ord("0")


def lower_words(text: str) -> str | None:
    """The text in NFC, lower case, without punctuation, one space between its words; None where it is not told here."""
    found = _looked_up(text, _lower())
    if found is None:
        return None
    found = found[found != _NOTHING]
    is_kept = found != _SPACE
    is_kept[1:] |= is_kept[:-1]  # the first space behind a word
    return _written(found[is_kept]).rstrip(" ")


def plain(text: str) -> str | None:
    """The text in lower case, numbers as 0, marks taken off letters, a space for each mark of punctuation and white
    space; None where it is not told here.
    """
    found = _looked_up(text, _bare())
    if found is None:
        return None
    is_number, is_between = found == _ZERO, found == _BETWEEN_DIGITS
    found[is_between] = _SPACE
    if is_number.any():
        is_number[1:-1] |= is_between[1:-1] & is_number[:-2] & is_number[2:]
        is_kept = ~is_number
        is_kept[1:] |= ~is_number[:-1]
        is_kept[:1] = True
        found = found[is_kept]
    return _written(found)


def _looked_up(text: str, table: Codes) -> Codes | None:
    """What becomes of each character; None where one of them does not decide alone."""
    import numpy as np

    found: Codes = table.take(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4"), mode="clip")
    return None if len(found) and int(found.max()) == _NOT_ALONE else found


def _written(codes: Codes) -> str:
    return codes.tobytes().decode("utf-32-le")


@cache
def _lower() -> Codes:
    marks = frozenset(_those(r"\p{P}"))
    return _table(lambda lower: _NOTHING if lower in marks else ord(lower), _is_composed)


@cache
def _bare() -> Codes:
    codes = dict.fromkeys(_those(r"\p{P}"), _SPACE) | dict.fromkeys(".,،٬٫", _BETWEEN_DIGITS)
    codes |= dict.fromkeys(_those(r"\p{Nd}"), _NOT_ALONE) | dict.fromkeys("0123456789", _ZERO)
    return _table(lambda lower: codes.get(lower) or _without_marks(lower), lambda char: ord(char) not in _UNSPACED)


def _those(expression: str) -> list[str]:
    """The characters up to the last one that are of a kind."""
    found: list[str] = regex.findall(expression, "".join(map(chr, range(_END))))
    return found


def _without_marks(char: str) -> int:
    letters = unicodedata.normalize("NFD", char)
    if len(letters) > 1:
        letters = _MARKS.sub("", letters)
    return ord(letters) if len(letters) == 1 else _NOT_ALONE


def _is_composed(char: str) -> bool:
    """True for what NFC leaves alone, whatever stands beside it."""
    return ord(char) not in _HANGUL_LETTERS and unicodedata.is_normalized("NFC", char)


def _table(fold: Callable[[str], int], is_alone: Callable[[str], bool]) -> Codes:
    """What becomes of each character up to the last one, which stands for all beyond it.

    Marks may join what stands before them, and a capital sigma asks its neighbours for its lower case.
    """
    import numpy as np  # late: the duplicate index needs none of this

    neighbours = {*_those(r"\p{M}"), "Σ"}
    found = np.full(_END + 1, _NOT_ALONE, dtype="<u4")
    for code, char in enumerate(map(chr, range(_END))):
        if char.isspace():
            found[code] = _SPACE
        elif char not in neighbours and len(lower := char.lower()) == 1 and is_alone(char):
            found[code] = fold(lower)
    return found
