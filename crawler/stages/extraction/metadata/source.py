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
_IN_A_VALUE = re.compile(rb"""=\s*(?:"[^"]*|'[^']*|[^\s"'<>=`]*)\Z""")
"""What stands before letters in a value that is not closed; in a script, too."""
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
        if not self.is_plain:
            return True
        body = _BODY.search(self.html)
        begin = body.end() if body else 0
        return any(self._is_in_a_value(part, begin) for part in parts)

    def _is_in_a_value(self, part: bytes, begin: int) -> bool:
        at = self.html.find(part, begin)
        while at >= 0:
            if _IN_A_VALUE.search(self.html, max(begin, at - _REACH), at):
                return True
            at = self.html.find(part, at + len(part))
        return False
