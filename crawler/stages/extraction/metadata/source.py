"""The source of a page is asked first what its tree cannot hold: bytes are looked through faster than elements.

What the bytes do not say is not in the tree either, as long as every ASCII character is one byte. A character that is
written as a reference inside of a word ("&#97;uthor") is not seen; nobody was found who writes class names so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_WIDE = b"\0"
_REACH = 300
"""Bytes before some letters in which the value that they stand in begins."""
_OPEN = rb"""\s*=\s*(?:"[^"]*|'[^']*|[^\s"'<>=`]*)\Z"""
_IN_A_VALUE = re.compile(_OPEN)
"""What stands before letters in a value that is not closed; in a script, too."""
_IN_A_PROPERTY = re.compile(rb"(?:itemprop|property)" + _OPEN, re.IGNORECASE)
"""The same for the attributes of microdata and RDFa."""
_TAG = re.compile(rb"<[^>]*+>?|^[^<>]*+>")
_MOST_PLACES = 20
"""Places of a name that are looked at."""
_JOINS = re.compile(rb"[\s\d*]*(?:[,;&]|(?:and|und|et|og|och|en)\b)")
_JOINED = re.compile(rb"(?:[,;&]|&amp;|\b(?:and|und|et|og|och|en))[\s\d*]*\Z")
_BODY = re.compile(rb"<body\b", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """The bytes that a tree was made of."""

    html: bytes

    @cached_property
    def is_plain(self) -> bool:
        """False for character sets in which ASCII characters are not single bytes (UTF-16, UTF-32)."""
        return bool(self.html) and _WIDE not in self.html

    def may_have_in_attributes(self, *parts: bytes) -> bool:
        """False where none of these ASCII letters stand in the value of an attribute in the body."""
        return self._may_have(parts, _IN_A_VALUE)

    def may_have_in_properties(self, *parts: bytes) -> bool:
        """False where none of these ASCII letters stand in an `itemprop` or a `property` in the body."""
        return self._may_have(parts, _IN_A_PROPERTY)

    def may_join(self, name: str) -> bool:
        """False where no comma, "and" or the like stands in the body behind this name or before it."""
        if not self.is_plain or not name.isascii():
            return True
        part = name.encode()
        at = self.html.find(part, self._begin)
        for _ in range(_MOST_PLACES):
            if at < 0:
                return False
            behind = _TAG.sub(b" ", self.html[at + len(part) : at + len(part) + _REACH])
            before = _TAG.sub(b" ", self.html[max(0, at - _REACH) : at])
            if _JOINS.match(behind) or _JOINED.search(before):
                return True
            at = self.html.find(part, at + len(part))
        return True

    def _may_have(self, parts: tuple[bytes, ...], before: re.Pattern[bytes]) -> bool:
        if not self.is_plain:
            return True
        return any(self._is_behind(before, part, self._begin) for part in parts)

    @cached_property
    def _begin(self) -> int:
        """Where the body begins."""
        body = _BODY.search(self.html)
        return body.end() if body else 0

    def _is_behind(self, before: re.Pattern[bytes], part: bytes, begin: int) -> bool:
        at = self.html.find(part, begin)
        while at >= 0:
            if before.search(self.html, max(begin, at - _REACH), at):
                return True
            at = self.html.find(part, at + len(part))
        return False
