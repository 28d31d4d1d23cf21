"""The source of a page is asked first what its tree cannot hold: bytes are looked through faster than elements.

What the bytes do not say is not in the tree either, as long as every ASCII character is one byte. A character that is
written as a reference inside of a word ("&#97;uthor") is not seen; nobody was found who writes class names so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_WIDE = b"\0"
_LICENCE_TEXT = re.compile(rb"cc[^a-z]")
_LICENCE = (b"/by/", b"/by-", b"/zero/", b"creative")


@dataclass(frozen=True)
class Source:
    """The bytes that a tree was made of."""

    html: bytes

    @cached_property
    def is_plain(self) -> bool:
        """False for character sets in which ASCII characters are not single bytes (UTF-16, UTF-32)."""
        return bool(self.html) and _WIDE not in self.html

    def may_name_a_licence(self) -> bool:
        """False where no address and no text can name a Creative Commons licence."""
        if not self.is_plain:
            return True
        lower = self.html.lower()
        return any(part in lower for part in _LICENCE) or _LICENCE_TEXT.search(lower) is not None
