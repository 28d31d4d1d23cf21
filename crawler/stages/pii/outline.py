"""`Outline` is a text in bytes, one a character: what stands nowhere in it is told there before the text is read.

Most pages hold nothing personal, and to say so costs least in bytes: a table renames all characters at once, and a
search that begins with one byte runs at the speed of memory. An outline knows ASCII only, so it says "perhaps" where
the text may say no; it never says no where the text says yes.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

FOREIGN = b"\x80"
"""Any character beyond ASCII, but for those below."""
_KELVIN_SIGN, _KELVIN = "\u212a", b"\x81"  # the one character whose small letter is ASCII: "k"
_FOREIGN_DIGIT = b"\x82"

_PLANES = 0x20000  # behind these codes no digit stands
_WESTERN_END, _SIGNS, _SIGNS_END = 0x660, 0x2000, 0xA620
"""Below the first code (Latin, Greek, Cyrillic, Hebrew) and between the others (signs, Chinese) no digit stands."""


def _image_table() -> npt.NDArray[np.uint8]:
    table = np.full(_PLANES, FOREIGN[0], dtype=np.uint8)
    table[:0x80] = range(0x80)
    table[[code for code in range(0x80, _PLANES) if chr(code).isdecimal()]] = _FOREIGN_DIGIT[0]
    table[ord(_KELVIN_SIGN)] = _KELVIN[0]
    return table


_IMAGE = _image_table()


def image(text: str) -> bytes:
    """ASCII as it is; other characters as `FOREIGN`, but digits of other scripts and the Kelvin sign told apart."""
    if text.isascii():
        return text.encode()
    codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
    strange = (codes - np.uint16(_WESTERN_END) < _SIGNS - _WESTERN_END) | (codes >= _SIGNS_END)
    if np.count_nonzero(strange) or _KELVIN_SIGN in text:
        wide = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        told = _IMAGE.take(wide, mode="clip")
    else:
        told = np.minimum(codes, FOREIGN[0]).astype(np.uint8)
    return bytes(told)


_CAPITALS = bytes(range(ord("A"), ord("Z") + 1))
_FOLDED = bytes.maketrans(_CAPITALS + b"[{<" + _KELVIN, _CAPITALS.lower() + b"(((" + b"k")


def _skeleton_table() -> bytes:
    table = bytearray(b" " * 256)
    for members, name in (
        (b"0123456789" + _FOREIGN_DIGIT, b"0"),
        (_CAPITALS, b"A"),
        (_CAPITALS.lower(), b"a"),
        (b" -" + FOREIGN, b"-"),
        *((mark, mark) for mark in (b".", b":", b"\n")),
    ):
        for member in members:
            table[member] = name[0]
    return bytes(table)


_WORDS = bytes(code if bytes([code]).isalnum() else b" "[0] for code in range(256))
_SKELETON = _skeleton_table()


class Outline:
    """A text with its image, and what is made of that when it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def image(self) -> bytes:
        """ASCII as it is, one byte for any other character (see `image`)."""
        return image(self.text)

    @cached_property
    def folded(self) -> bytes:
        """Small letters for capitals and "(" for every opening bracket."""
        return self.image.translate(_FOLDED)

    @cached_property
    def words(self) -> bytes:
        """Letters and digits; everything else, and what is before and behind the text, is a space."""
        return b" " + self.image.translate(_WORDS) + b" "

    @cached_property
    def skeleton(self) -> bytes:
        """Digits "0", capitals "A", small letters "a", what may part groups of digits "-"; ".", ":" and line ends.

        Everything else is a space.
        """
        return self.image.translate(_SKELETON)

    @cached_property
    def has_foreign_digits(self) -> bool:
        """Digits of other scripts may be in the text, so that "0" is not always an ASCII digit."""
        return _FOREIGN_DIGIT in self.image or _KELVIN in self.image
