"""What stands before the items of a list: a sign, or a number that the program counts and the text does not hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x")),
    *((9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LARGEST = 3_999
_DEEPEST = 9
"""Levels that a list of an office program has, and one more."""
_PLACE = re.compile(r"%(\d)")
BULLET = "-"


@dataclass(frozen=True, slots=True)
class Level:
    """form: "decimal", "letter", "LETTER", "roman", "ROMAN", "" for a sign. said: "%1." with %1 to %9 for numbers."""

    form: str = ""
    said: str = ""
    start: int = 1


@dataclass(slots=True)
class Count:
    """The numbers of one list, level by level from 0."""

    levels: Mapping[int, Level]
    numbers: dict[int, int] = field(default_factory=dict)

    def mark(self, level: int, start: int | None = None) -> str:
        """What stands before the next item of a level. start: its own number, where the list begins anew with it."""
        level = max(0, min(level, _DEEPEST))
        kind = self.levels.get(level, Level())
        before = self.numbers.get(level)
        self.numbers[level] = start if start is not None else kind.start if before is None else before + 1
        for deeper in [one for one in self.numbers if one > level]:
            del self.numbers[deeper]
        if not kind.form or "%" not in kind.said:
            return BULLET
        return " ".join(_PLACE.sub(lambda found: self._number(int(found[1]) - 1), kind.said).split()) or BULLET

    def _number(self, level: int) -> str:
        kind = self.levels.get(level, Level("decimal"))
        return written(self.numbers.get(level, kind.start), kind.form)


def written(number: int, form: str) -> str:
    """A number in a form of `Level`."""
    if not 0 < number <= _LARGEST or form not in {"letter", "LETTER", "roman", "ROMAN"}:
        return str(number)
    if form.lower() == "letter":
        text = chr(ord("a") + (number - 1) % 26) * (1 + (number - 1) // 26)
    else:
        text, left = "", number
        for value, sign in _ROMAN:
            text, left = text + sign * (left // value), left % value
    return text.upper() if form.isupper() else text
