"""RefinedWeb's line corrections: buttons, counters and shouting. As DCLM's `refinedweb.yaml` computes them.

This rule set changes the text; a page that loses more than a twentieth of its words is dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from crawler.document import DropReason
from crawler.stages.quality.rules.base import Findings, Page, RuleSet, limit
from crawler.stages.text.words import count_words

_COUNTER = re.compile(
    r"\W*+\d(?:,|\.|\d)*+[kmb]?\s++(?:likes|shares|comments|retweets|reposts|quotes|bookmarks|upvotes|downvotes|downloads"
    r"|views|followers)\W*+"
)
_BUTTONS = (
    re.compile(r"\s?items in cart", re.IGNORECASE),
    re.compile(r"\s?read more\.\.\.$", re.IGNORECASE),
    re.compile(r"^sign-in\s?", re.IGNORECASE),
)
"""In DCLM's order, with one white space beside them. (Its own pattern takes any three characters for the dots.)"""


@dataclass(frozen=True, slots=True)
class RefinedWebLines(RuleSet):
    """Thresholds of DCLM. `None` switches a rule off."""

    name: ClassVar[str] = "refinedweb_lines"
    source: ClassVar[str] = "DCLM, refinedweb.yaml"

    max_uppercase: float | None = 0.5
    """Share of a line's characters."""
    max_digits: float | None = 0.999999
    count_spaced: bool = True
    """The oracle counts words by white space; else those of scripts without spaces count as in `word_count`."""
    min_words: int | None = 2
    """Lines with fewer words go; empty lines stay."""
    short_line_words: int = 10
    """Up to so many words, button texts are cut out of a line."""
    max_removed: float | None = limit(
        0.05, ("refinedweb_removed_words", DropReason.REFINEDWEB_LINES), above=True, unit="share of words"
    )
    """What may go; a word begins with a letter or a digit."""

    def judge(self, page: Page) -> Findings:
        """Correct the lines; `Findings.text` is what is left."""
        found = Findings()
        text = page.text
        for keep in (self._is_quiet, self._is_no_number, _is_no_counter):
            text = "\n".join(filter(keep, text.split("\n"))).strip()
        lines = filter(self._has_words, text.split("\n"))
        text = "\n".join(kept for line in lines if (kept := self._without_buttons(line)) is not None).strip()
        count = _count if self.count_spaced else count_words
        before = count(page.text)
        removed = (before - count(text)) / max(before, 1)
        found.measure("refinedweb_removed_words", removed)
        found.text = text
        return found.decide(self)

    def _is_quiet(self, line: str) -> bool:
        limit = self.max_uppercase
        return limit is None or not line or sum(map(str.isupper, line)) / len(line) <= limit

    def _is_no_number(self, line: str) -> bool:
        limit = self.max_digits
        return limit is None or not line or sum(map(str.isdigit, line)) / len(line) <= limit

    def _words(self, line: str) -> int:
        return len(line.split()) if self.count_spaced else count_words(line)

    def _has_words(self, line: str) -> bool:
        return self.min_words is None or not line or self._words(line) >= self.min_words

    def _without_buttons(self, line: str) -> str | None:
        """The line without button texts; None where it was nothing else."""
        for pattern in _BUTTONS:
            if line and self._words(line) <= self.short_line_words:
                line = pattern.sub("", line)
                if not line or line.isspace():
                    return None
        return line


def _is_no_counter(line: str) -> bool:
    return _COUNTER.fullmatch(line.lower()) is None


def _count(text: str) -> int:
    return sum(word[0].isalnum() for word in text.split())
