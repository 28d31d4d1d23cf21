"""A page that C has walked over: rules in, arrays out, as walk.h declares them.

What a tag or a character is, the caller says (`Rules`); what the arrays mean, `stages/extraction/learned/walk.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.native.models import at

IS_SPAN, IS_PRE, IS_ITEM, IS_CELL, IS_PARAGRAPH = (1 << bit for bit in range(5))
NUMBER, LANGUAGE, COLUMNS, ROWS = range(4)
"""Attributes that are handed on: of items, of <pre>, of cells."""
CASES = 0x20000
"""Characters whose case is looked up: none behind them has one, nor is a decimal digit."""
_BUFFERS = (
    *("text", "text_ends", "lengths", "kinds", "holders", "linked", "links", "shown", "pieces"),
    *("parents", "tag", "name", "marks", "depths", "starts", "ends", "notes", "note_text"),
    *(f"{strings}_{part}" for strings in ("tags", "names") for part in ("text", "ends", "slots")),
)


class _Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), *((name, ctypes.c_uint64) for name in ("used", "room", "failed"))]


class _Page(ctypes.Structure):
    _fields_ = [(name, _Buffer) for name in _BUFFERS]


class _Rules(ctypes.Structure):
    _fields_ = [
        *(("tags", ctypes.c_int32), ("names", ctypes.c_char_p), ("traits", ctypes.c_void_p)),
        *(("roles", ctypes.c_int32), ("role_names", ctypes.c_char_p), ("role_marks", ctypes.c_void_p)),
        *(("characters", ctypes.c_int32), ("cases", ctypes.c_char_p)),
        *((name, ctypes.c_int32) for name in ("kind_text", "kind_heading", "kind_code", "mark_hidden")),
        *((name, ctypes.c_int32) for name in ("most_blocks", "least_data", "most_name")),
        *(("number_name", ctypes.c_char_p), ("language_name", ctypes.c_char_p)),
    ]


class Rules:
    """What the walk knows, packed once a process."""

    def __init__(
        self, tags: Mapping[str, tuple[int, int, int, int]], roles: Mapping[str, int], **others: int | bytes
    ) -> None:
        """tags: role, kind of block, marks and IS_… of each. roles: marks by ARIA role. others: fields of `Rules`."""
        self.tags = tuple(tags)
        self._traits = np.array(list(tags.values()), np.int32)
        self._marks = np.array(list(roles.values()), np.int32)
        self._held = _joined(tags), _joined(roles), _cases()
        names, role_names, cases = self._held
        self.struct = _Rules(
            *(len(tags), names, at(self._traits), len(roles), role_names, at(self._marks), len(cases), cases),
            **others,
        )


def _joined(names: Mapping[str, Any]) -> bytes:
    return b"".join(name.encode() + b"\0" for name in names)


def _cases() -> bytes:
    """Of every character: 1 for a small letter, 2 for a capital one, 4 for a decimal digit, as Python has it."""
    return bytes(c.islower() | c.isupper() << 1 | c.isdecimal() << 2 for c in map(chr, range(CASES)))


class NativePage:
    """The arrays of a page while it is open."""

    def __init__(self, library: Any, page: _Page) -> None:
        self.library, self.struct = library, page

    def bytes(self, name: str) -> bytes:
        """What is in a buffer."""
        buffer = getattr(self.struct, name)
        return ctypes.string_at(buffer.data, buffer.used) if buffer.used else b""

    def ints(self, name: str) -> NDArray[np.int32]:
        """The numbers in a buffer."""
        return np.frombuffer(self.bytes(name), np.int32)

    def numbers(self, name: str) -> list[int]:
        """The numbers in a buffer, as Python's own."""
        found: list[int] = self.ints(name).tolist()
        return found

    def strings(self, name: str, first: int = 0) -> list[str]:
        """Numbered strings (`tags`, `names`) from this number on."""
        raw, ends = self.bytes(f"{name}_text"), [0, *self.numbers(f"{name}_ends")]
        return [raw[ends[i] : ends[i + 1]].decode() for i in range(first, len(ends) - 1)]

    def mark(self, said: NDArray[np.int32]) -> None:
        """Give every element the marks of its names, and what is inside it. said: of each of `names`."""
        said = np.ascontiguousarray(said, np.int32)
        self.library.native_walk_marks(ctypes.byref(self.struct), at(said))


@contextmanager
def walked(library: Any, rules: Rules, xml: bytes) -> Iterator[NativePage | None]:
    """The page of an element that lxml has written as XML in UTF-8; None where Python has to walk."""
    page = _Page()
    failed = library.native_walk(ctypes.byref(rules.struct), xml, ctypes.c_int64(len(xml)), ctypes.byref(page))
    try:
        yield None if failed else NativePage(library, page)
    finally:
        library.native_walk_free(ctypes.byref(page))
