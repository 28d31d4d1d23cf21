"""The scan asks here which kinds of numbers can stand in a text at all, before an expression reads the whole of it.

The skeleton of a text has "0" for each digit, "A" for each Latin letter, "-" for what may part groups of digits, "."
and ":" for themselves, and a space for everything else. A kind whose shape is not in the skeleton is not in the text;
the other way round nothing is said.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_PLANE = 0x10000
_PARTING = " \u00a0\u202f\u2009-\u2010\u2011\u2012\u2013"
_OTHER, _DIGIT, _LETTER = b" "[0], b"0"[0], b"A"[0]


def _table() -> npt.NDArray[np.uint8]:
    codes = map(chr, range(_PLANE))
    table = np.array([_DIGIT if char.isdecimal() else _OTHER for char in codes], dtype=np.uint8)
    for char in _PARTING:
        table[ord(char)] = b"-"[0]
    for first, last in ("AZ", "az"):
        table[ord(first) : ord(last) + 1] = _LETTER
    for mark in ".:":
        table[ord(mark)] = ord(mark)
    table[_PLANE - 1] = _DIGIT  # it stands for everything beyond, digits among it
    return table


_TABLE = _table()

_SHAPES: dict[str, tuple[bytes, ...]] = {
    "card": (b"0000-00", b"0" * 12),
    "ipv4": (b".0.", b".00.", b".000."),
    "ipv6": tuple(b"0" + bytes((a, b, c)) + b":" for a in b"0A" for b in b"0A" for c in b"0A"),
    "iban": (b"AA00",),
    "nif": (b"0" * 7,),
    "hetu": (b"0" * 6,),
}
"""What is in the skeleton of every number of a kind."""
_RUNS = {"bitcoin": 26, "ether": 42, "fiscal": 16}
"""Digits and letters that stand together in every number of a kind."""


def possible_kinds(text: str) -> frozenset[str]:
    """Kinds of numbers that the text may have, out of those with a shape; the others are always possible."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    classes = _TABLE.take(codes, mode="clip")
    skeleton = classes.tobytes()
    longest = _longest_run((classes == _DIGIT) | (classes == _LETTER))
    shaped = (kind for kind, shapes in _SHAPES.items() if any(shape in skeleton for shape in shapes))
    return frozenset((*shaped, *(kind for kind, least in _RUNS.items() if longest >= least)))


SHAPED = frozenset((*_SHAPES, *_RUNS))
"""The kinds that have a shape."""


def _longest_run(inside: npt.NDArray[np.bool_]) -> int:
    gaps = np.flatnonzero(~inside)
    edges = np.concatenate(([-1], gaps, [len(inside)]))
    return int(np.diff(edges).max()) - 1
