"""Pieces of a line that one pattern of a markup has read, kept from the patterns after it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_KEPT = re.compile("\ue000(\\d{1,9})\ue001")


@dataclass(slots=True)
class Kept:
    """Each piece stands in the line as a number between two characters of private use until the line is whole again."""

    kept: list[str] = field(default_factory=list, kw_only=True)

    def keep(self, said: str) -> str:
        """What stands in the line in place of the piece."""
        self.kept.append(said)
        return f"\ue000{len(self.kept) - 1}\ue001"

    def whole(self, text: str) -> str:
        """The line with its pieces back; a piece may hold another one."""
        for _ in range(2):
            text = _KEPT.sub(lambda found: self.kept[int(found[1])], text)
        return text
