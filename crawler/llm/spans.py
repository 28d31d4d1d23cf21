"""Where a quote stands in a page: as it is, or with other white space between its words."""

from __future__ import annotations

import re

Span = tuple[int, int]
"""Begin and end in the text, in characters."""


def span_of(text: str, quote: str, start: int = 0) -> Span | None:
    """The first place of a quote from `start` on; None where the text does not have it, or it says nothing."""
    if not (words := quote.split()):
        return None
    found = text.find(quote, start)
    if found >= 0 and quote == quote.strip():
        return found, found + len(quote)
    match = re.compile(r"\s+".join(map(re.escape, words))).search(text, start)
    return match.span() if match else None
