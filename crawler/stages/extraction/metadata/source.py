"""The source of a page is asked first what its tree cannot hold: bytes are looked through faster than elements.

What the bytes do not say is not in the tree either, as long as every ASCII character is one byte. A character that is
written as a reference inside of a word ("&#97;uthor") is not seen; nobody was found who writes class names so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_WIDE = b"\0"
_BODY = re.compile(rb"<body\b", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """The bytes that a tree was made of."""

    html: bytes

    @cached_property
    def is_plain(self) -> bool:
        """False for character sets in which ASCII characters are not single bytes (UTF-16, UTF-32)."""
        return bool(self.html) and _WIDE not in self.html

    def may_have_in_tags(self, *parts: bytes) -> bool:
        """False where none of these ASCII letters stand in a tag of the body."""
        if not self.is_plain:
            return True
        body = _BODY.search(self.html)
        begin = body.end() if body else 0
        return any(self._is_in_a_tag(part, begin) for part in parts)

    def _is_in_a_tag(self, part: bytes, begin: int) -> bool:
        at = self.html.find(part, begin)
        while at >= 0:
            if self.html.rfind(b"<", begin, at) > self.html.rfind(b">", begin, at):
                return True
            at = self.html.find(part, at + len(part))
        return False
