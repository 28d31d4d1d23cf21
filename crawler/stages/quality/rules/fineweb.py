"""FineWeb's own rules: lists, fragments, repeated lines. As datatrove's `fineweb_quality_filter.py` computes them."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.document import DropReason
from crawler.stages.quality.punctuation import TERMINAL
from crawler.stages.quality.rules.base import Findings, Page, duplicates

DENSE_SCRIPTS = frozenset({"zh", "ja", "ko"})
"""Languages in which 30 characters are a whole sentence."""


@dataclass(frozen=True, slots=True)
class FineWeb:
    """Thresholds of datatrove 0.10.1, shares of 0 to 1. `None` switches a rule off."""

    min_punctuated_lines: float | None = 0.12
    """Share of lines that end in terminal punctuation."""
    max_short_lines: float | None = 0.67
    short_line_chars: int = 30
    """A line of at most so many characters is short."""
    max_duplicate_line_chars: float | None = 0.01
    """The paper's text says 0.1, its Table 2 and the code that made the data 0.01."""
    max_newlines_a_token: float | None = 0.3

    def judge(self, page: Page) -> Findings:
        """Measure everything, then name the first failing rule in datatrove's order."""
        found = Findings()
        lines = page.lines
        if not lines:
            found.fail(DropReason.FINEWEB_EMPTY, "no line has text")
            return found
        punctuated = sum(line.endswith(TERMINAL) for line in lines) / len(lines)
        found.below(
            "fineweb_punctuated_lines", punctuated, self.min_punctuated_lines, DropReason.FINEWEB_LINE_PUNCT_RATIO
        )
        self._short_lines(page, found)
        repeated = duplicates(lines)[1] / max(len(page.text) - page.text.count("\n"), 1)
        limit = self.max_duplicate_line_chars
        found.above("fineweb_duplicate_line_chars", repeated, limit, DropReason.FINEWEB_CHAR_DUP_RATIO)
        newlines = page.text.count("\n") / max(len(page.tokens), 1)
        found.above("fineweb_newlines_a_token", newlines, self.max_newlines_a_token, DropReason.FINEWEB_LIST_RATIO)
        return found

    def _short_lines(self, page: Page, found: Findings) -> None:
        if page.language in DENSE_SCRIPTS:
            found.skipped["fineweb_short_line_ratio"] = (
                f"{self.short_line_chars} characters are a sentence in {page.language}"
            )
            return
        short = sum(len(line) <= self.short_line_chars for line in page.lines) / len(page.lines)
        found.above("fineweb_short_lines", short, self.max_short_lines, DropReason.FINEWEB_SHORT_LINE_RATIO)
