"""The scan asks here which kinds of numbers can stand in a text at all, before an expression reads the whole of it.

The shapes are those of the skeleton (`outline`). A kind whose shape is not in the skeleton is not in the text; the
other way round nothing is said.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from crawler.stages.pii.outline import Outline

_SHAPES = {
    kind: (re.compile(shape), reach)
    for kind, shape, reach in (
        ("phone", rb"0(?:[^0\n]{0,4}0){4}", 5),
        ("card", rb"00{3}(?:-0{2,7}-00|0{8})", 0),
        ("ipv4", rb"0(?:\.0{1,3}){3}", 2),
        ("ipv6", rb"0[0Aa]{3}:[0Aa:]{4}", 0),
        ("iban", rb"0(?:(?<=[Aa]{2}0)(?:(?<![Aa]{3}0)|(?<=[Aa]{6}0))|(?<=A{2}-0))0[0Aa.-]{10}", 0),
        ("nif", rb"00{6}-?A", 1),
        ("hetu", rb"00{5}[-A ]0{3}[0A]", 0),
    )
}
"""What is in the skeleton of every number of a kind, and behind how many of its characters at most.

Each begins with one "0" and a repetition: such an expression is searched from digit to digit, ten times as fast as any
other."""
_RUNS = {"bitcoin": 26, "ether": 42}
"""Digits and letters that stand together in every number of a kind."""
_CAPITAL_RUNS = {"fiscal": 16}
"""Digits and capitals that do."""
_SHORTEST = min(*_RUNS.values(), *_CAPITAL_RUNS.values())

SHAPED = frozenset((*_SHAPES, *_RUNS, *_CAPITAL_RUNS))
"""The kinds that are known here."""


def possible_kinds(outline: Outline) -> dict[str, int]:
    """Kinds of numbers that the text may have, and where the first of each may begin at the earliest."""
    places = ((kind, earliest(kind, outline, 0)) for kind in _SHAPES)
    return {kind: place for kind, place in places if place is not None} | _kinds_with_runs(outline.skeleton)


def earliest(kind: str, outline: Outline, position: int) -> int | None:
    """Where a number of a possible kind may begin from `position` on; None where none does any more."""
    if kind not in _SHAPES:
        return position
    shape, reach = _SHAPES[kind]
    found = shape.search(outline.skeleton, position)
    return max(position, found.start() - reach) if found else None


def _kinds_with_runs(skeleton: bytes) -> dict[str, int]:
    classes = np.frombuffer(skeleton, dtype=np.uint8)
    inside = (classes >= ord("0")) & (classes != ord(":"))
    rows = runs(inside, _SHORTEST)
    if not np.count_nonzero(rows):
        return {}
    places = {kind: runs(rows, length, _SHORTEST) for kind, length in _RUNS.items()}
    capitals = inside & (classes != ord("a"))
    places |= {kind: runs(capitals, length) for kind, length in _CAPITAL_RUNS.items()}
    return {kind: int(place.argmax()) for kind, place in places.items() if np.count_nonzero(place)}


def runs(inside: npt.NDArray[np.bool_], length: int, known: int = 1) -> npt.NDArray[np.bool_]:
    """Where `length` in a row begin, told from where `known` in a row do: twice as many with each step."""
    while known < length and len(inside):
        step = min(known, length - known)
        inside, known = inside[:-step] & inside[step:], known + step
    return inside
