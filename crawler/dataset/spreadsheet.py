"""A CSV file that people open in a spreadsheet runs nothing of what a page wrote into it (CWE-1236, OWASP)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The last four are the full-width forms of the first, which spreadsheets read alike."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")


def harmless(value: Any) -> Any:
    """A cell for CSV: text that a spreadsheet would take for a formula begins with an apostrophe instead.

    A number stays a number, a negative one too, also where it is written as text.
    """
    if value is None or isinstance(value, (int, float, Decimal)):
        return value
    text = str(value)
    return f"'{text}" if text.startswith(_BEGINS_A_FORMULA) and not _NUMBER.match(text) else text
