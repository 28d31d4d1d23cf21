"""Numbers on the command line: what is out of bounds is a wrong call, before anything is read."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import TypeVar

N = TypeVar("N", int, float)


def _read(text: str, kind: type[N], holds: Callable[[N], bool], expected: str) -> N:
    try:
        number = kind(text)
    except ValueError:
        number = None
    if number is None or not holds(number):
        raise argparse.ArgumentTypeError(f"expected {expected}, not {text!r}")
    return number


def whole(least: int) -> Callable[[str], int]:
    """A type for `add_argument`: a whole number from `least` up."""
    return lambda text: _read(text, int, lambda number: number >= least, f"a whole number from {least} up")


def share(text: str) -> float:
    """A type for `add_argument`: a number from 0 to 1."""
    return _read(text, float, lambda number: 0.0 <= number <= 1.0, "a number from 0 to 1")


def days(text: str) -> float:
    """A type for `add_argument`: a number of days above 0."""
    return _read(text, float, lambda number: 0.0 < number < math.inf, "a number of days above 0")
