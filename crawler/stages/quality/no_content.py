"""The quality stage recognises pages that are no content at all, whatever their words look like.

Each recogniser looks only where such pages say it (title, first lines), and only on texts short enough to be one. The
phrases stand in `no_content_phrases.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from crawler.document import DropReason
from crawler.stages.quality.no_content_phrases import SAYS, TITLED

_SAYS = {kind: re.compile(rf"\b(?:{phrases})") for kind, phrases in SAYS.items()}
_TITLED = {kind: re.compile(rf"(?:{phrases})[ .!…]*+") for kind, phrases in TITLED.items()}
_TITLE_PARTS = re.compile(r" [-–—|·»:/]+ |\||: ")
_SENTENCE_END = re.compile(r"[.!?\n]")
_APOSTROPHE = str.maketrans("’ʼ", "''")


@dataclass(frozen=True, slots=True)
class Recognisers:
    """How long a page may be that is nothing but such a message. `None` = off. Our own judgement, no paper's."""

    placeholder_max_words: int | None = 400
    soft_404_max_words: int | None = 300
    login_wall_max_words: int | None = 300
    error_page_max_words: int | None = 300
    titled_max_words: int = 80
    """Up to so many words a heading alone is enough: articles about such pages bear it too, and are longer."""
    head_chars: int = 400
    """Characters of the text in which the message must stand; the title counts too."""
    lorem_ipsum_per_1000_words: float = 2.0
    """A page of any length that repeats "lorem ipsum" or its next words so often is a placeholder."""

    def judge(self, title: str | None, text: str, words: int) -> tuple[DropReason, str] | None:
        """The reason and the phrase kind that condemn the page, or None."""
        heading, head = (title or "")[: self.head_chars].lower().translate(_APOSTROPHE), self._head(text)
        for reason, limit in (
            (DropReason.SOFT_404, self.soft_404_max_words),
            (DropReason.LOGIN_WALL, self.login_wall_max_words),
            (DropReason.ERROR_PAGE, self.error_page_max_words),
            (DropReason.PLACEHOLDER, self.placeholder_max_words),
        ):
            if limit is None or words > limit:
                continue
            if _says(_SAYS[reason], heading) or _says(_SAYS[reason], head):
                return reason, f"{words} words, and its beginning says so"
            if words <= self.titled_max_words and any(map(_TITLED[reason].fullmatch, _headings(heading, head))):
                return reason, f"{words} words, and it is headed so"
        if 1000 * text.lower().count("dolor sit amet") > self.lorem_ipsum_per_1000_words * max(words, 1):
            return DropReason.PLACEHOLDER, "lorem ipsum"
        return None

    def _head(self, text: str) -> str:
        return text[: self.head_chars].lower().translate(_APOSTROPHE)


def _headings(title: str, head: str) -> Iterator[str]:
    """The title and each of its parts, the first lines, and the first sentence."""
    yield title.strip()
    yield from (part.strip() for part in _TITLE_PARTS.split(title))
    yield from (line.strip(" #*-") for line in head.split("\n")[:3])
    yield _SENTENCE_END.split(head, maxsplit=1)[0].strip()


def _says(pattern: re.Pattern[str], text: str) -> bool:
    """True where the text says it itself, and does not quote it."""
    return any(not _is_quoted(text, match.start()) for match in pattern.finditer(text))


def _is_quoted(text: str, at: int) -> bool:
    """True where a quotation is open at a place of the text. “ ends a quotation that „ began."""
    depth = 0
    for char in text[:at]:
        if char in "”»" or (char in '“"' and depth):
            depth = max(depth - 1, 0)
        elif char in '„“«"':
            depth += 1
    return depth > 0
