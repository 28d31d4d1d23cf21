"""RefinedWeb's line corrections: buttons, counters and shouting. As DCLM's `refinedweb.yaml` computes them.

This rule set changes the text; a page that loses more than a twentieth of its words is dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crawler.document import DropReason
from crawler.stages.rules.base import Findings, Page

_COUNTER = re.compile(
    r"\W*+\d(?:,|\.|\d)*+[kmb]?\s++(?:likes|shares|comments|retweets|reposts|quotes|bookmarks|upvotes|downvotes|downloads"
    r"|views|followers)\W*+"
)


@dataclass(frozen=True, slots=True)
class RefinedWebLines:
    """Thresholds of DCLM. `None` switches a rule off."""

    max_uppercase: float | None = 0.5
    """Share of a line's characters."""
    max_digits: float | None = 0.999999
    min_words: int | None = 2
    """Lines with fewer words go; empty lines stay."""
    short_line_words: int = 10
    """Up to so many words, button texts are cut out of a line."""
    max_removed: float | None = 0.05
    """Share of the page's words that may go."""

    def judge(self, page: Page) -> Findings:
        """Correct the lines; `Findings.text` is what is left."""
        found = Findings()
        before = len(page.text.split())
        kept = [corrected for line in page.text.split("\n") if (corrected := self._line(line)) is not None]
        text = "\n".join(kept)
        removed = (before - len(text.split())) / max(before, 1)
        found.above("refinedweb_removed_words", removed, self.max_removed, DropReason.REFINEDWEB_LINES)
        found.text = text.strip("\n")
        return found

    def _line(self, line: str) -> str | None:
        """The corrected line, or None where it goes."""
        if not line.strip():
            return line
        size, words = len(line), len(line.split())
        if self.max_uppercase is not None and sum(map(str.isupper, line)) / size > self.max_uppercase:
            return None
        if self.max_digits is not None and sum(map(str.isdigit, line)) / size > self.max_digits:
            return None
        if _COUNTER.fullmatch(line.lower()) or (self.min_words is not None and words < self.min_words):
            return None
        return _without_buttons(line) if words <= self.short_line_words else line


def _without_buttons(line: str) -> str:
    line = line.replace("items in cart", "")
    line = line.removesuffix("Read more...")
    return line.removeprefix("Sign-in").strip()
