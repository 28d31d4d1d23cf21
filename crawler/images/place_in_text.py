"""Where in a record's text does an element of its page stand? The text that leads up to it is looked for in it.

So what surrounds an image is cut from the record, in which personal data is replaced, and never from the page.
"""

from __future__ import annotations

import re

CONTEXT = 500
"""Characters of the record's text before an image, and as many behind it."""
_LEAST = 12
"""Letters and digits of a piece of text that is looked for; shorter ones stand everywhere."""
_PROBE, _TAIL = 48, 12
_REACH = 40_000
"""Letters and digits behind the last place within which the next one is looked for."""
_EDGE = re.compile(r"\s")


class Cursor:
    """Follows a page through the text of its record: `pass_by` each piece of text in page order, then ask `offset`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = [place for place, char in enumerate(text) if char.isalnum()]
        self._letters = "".join(text[place].lower()[:1] for place in self._at)
        self._seen = 0

    def pass_by(self, piece: str) -> None:
        """A piece of the page's text, without tags."""
        letters = "".join(char.lower()[:1] for char in piece if char.isalnum())
        if len(letters) < _LEAST:
            return
        for probe in (letters[:_PROBE], letters[-_TAIL:]):  # what was redacted may stand in the one or the other
            found = self._letters.find(probe, max(0, self._seen - len(probe)), self._seen + max(_REACH, len(letters)))
            if found >= 0:
                self._seen = max(self._seen, found + len(probe))

    @property
    def offset(self) -> int:
        """Characters of the record's text that stand before what comes next in the page."""
        return self._at[self._seen - 1] + 1 if self._seen else 0


def context_of(text: str, offset: int, size: int = CONTEXT) -> str:
    """The text around a place, cut where white space is, where there is some."""
    start, end = max(0, offset - size), min(len(text), offset + size)
    if start and (edge := _EDGE.search(text, start, offset)):
        start = edge.end()
    if end < len(text) and (edges := list(_EDGE.finditer(text, offset, end))):
        end = edges[-1].start()
    return text[start:end].strip()
