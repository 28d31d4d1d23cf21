"""The address of a chunk in its page: a text fragment, which browsers scroll to and mark.

Source: https://wicg.github.io/scroll-to-text-fragment/ (`#:~:text=START,END`; section 3.3, syntax).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

import regex

from crawler.document import LEVELS, Span
from crawler.stages.text.words import UNSPACED

_WORDS = 6
"""Of the beginning and of the end of a chunk, that tell it from others."""
_MOST_CHARS = 300
_AS_DRAWN = frozenset(name for level in LEVELS for name in level) - {"table", "code"}
"""Parts whose words the page has as the text has them; of a placeholder it has none."""
_MARKS = regex.compile(r"(?:#{1,6}|[-*•>]|\d+[.)])\s+")
"""What the text puts in front of a line, and the page draws."""
_DOUBT = frozenset("*_`|[]\\")
"""Signs of Markdown."""
_WORD = regex.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Fragments:
    """Of one text. parts: of the record, with the places of its placeholders.

    In scripts without spaces between words whole lines are named: a browser looks for whole words.
    """

    text: str
    parts: Sequence[Span]
    language: str = ""

    def of(self, start: int, end: int) -> str | None:
        """What follows the address, from `#` on; None where the page may not have the words as they stand here."""
        first, last = self._line(start, self._line_end(start, end)), self._line(self._line_start(start, end), end)
        begins, ends = self._first_words(*first), self._last_words(*last)
        named = [first] if first == last and begins >= ends else [(first[0], begins), (ends, last[1])]
        if not all(self._is_drawn(*words) for words in named):
            return None
        return "#:~:text=" + ",".join(_encoded(self.text[slice(*words)]) for words in named)

    def _line_end(self, start: int, end: int) -> int:
        found = self.text.find("\n", start, end)
        return end if found < 0 else found

    def _line_start(self, start: int, end: int) -> int:
        return max(start, self.text.rfind("\n", start, end) + 1)

    def _line(self, start: int, end: int) -> tuple[int, int]:
        mark = _MARKS.match(self.text, start, end)
        return (mark.end() if mark else start), end

    def _first_words(self, start: int, end: int) -> int:
        words = [*_WORD.finditer(self.text, start, end)][:_WORDS]
        return end if self.language in UNSPACED or not words else words[-1].end()

    def _last_words(self, start: int, end: int) -> int:
        words = [*_WORD.finditer(self.text, start, end)][-_WORDS:]
        return start if self.language in UNSPACED or not words else words[0].start()

    def _is_drawn(self, start: int, end: int) -> bool:
        if not 0 < end - start <= _MOST_CHARS or not _DOUBT.isdisjoint(self.text[start:end]):
            return False
        return all(form in _AS_DRAWN for at, behind, form in self.parts if at < end and behind > start)


def _encoded(words: str) -> str:
    """Percent-encoded, with the sign that separates what stands around the words."""
    return quote(words, safe="").replace("-", "%2D")
