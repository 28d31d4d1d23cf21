"""Numbers on the command line: what is out of bounds is a wrong call, before anything is read."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def whole(least: int) -> Callable[[str], int]:
    """A type for `add_argument`: a whole number from `least` up."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"expected a whole number from {least} up, not {text!r}")
        return number

    return read


def share(text: str) -> float:
    """A type for `add_argument`: a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, not {text!r}")
    return number


def days(text: str) -> float:
    """A type for `add_argument`: a number of days above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of days above 0, not {text!r}")
    return number
