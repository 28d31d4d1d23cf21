"""A line of a page: what the readers of pages make, and what layout works on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Line:
    """A line: x0 to x1 from the left, y its baseline from the bottom, size the height of its letters, all in points.
    at: its baseline as a share of the page's height, 0 to 1 from the bottom.

    broken: it ends with a hyphen that PDFium has taken out. page: from 0. mono: its letters are all of one width.
    """

    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool = False
    broken: bool = False
    page: int = 0
    at: float = 0.5
    mono: bool = False
