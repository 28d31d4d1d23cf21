"""In the personal-data stage: the text under examination and what was found in it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """Personal data at `text[start:end]`. `value` is its canonical form: equal values get equal placeholders."""

    start: int
    end: int
    entity: str
    value: str


@dataclass(frozen=True, slots=True)
class Page:
    """The text under examination, with what the rules need to know about it."""

    text: str
    lower: str
    regions: tuple[str, ...]
    language: str | None

    def hit(self, start: int, end: int, entity: str, value: str | None = None) -> Hit:
        """A hit whose canonical value is, unless given, the lower-cased text without white space and separators."""
        raw = value if value is not None else re.sub(r"[\s.\-()/]", "", self.lower[start:end])
        return Hit(start, end, entity, raw)
