"""FineWeb's own rules: lists, fragments, repeated lines. As datatrove's `fineweb_quality_filter.py` computes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crawler.document import DropReason as R
from crawler.stages.quality.punctuation import ENDS, ends_a_sentence
from crawler.stages.quality.rules.base import (
    TABLE_BAR,
    Findings,
    Page,
    RuleSet,
    duplicates,
    is_short_item,
    judge_prose,
    limit,
    mostly_sentences,
)
from crawler.stages.text.words import count_words

DENSE_SCRIPTS = frozenset({"zh", "ja", "ko"})
"""Languages in which 30 characters are a whole sentence."""

_OF_LINES = frozenset({"fineweb_punctuated_lines", "fineweb_short_lines"})
_OF_REPEATS = frozenset({"fineweb_duplicate_line_chars"})


@dataclass(frozen=True, slots=True)
class FineWeb(RuleSet):
    """Thresholds of datatrove 0.10.1, shares of 0 to 1. `None` switches a rule off."""

    name: ClassVar[str] = "fineweb"
    source: ClassVar[str] = "datatrove 0.10.1, fineweb_quality_filter.py"

    min_punctuated_lines: float | None = limit(
        0.12, ("fineweb_punctuated_lines", R.FINEWEB_LINE_PUNCT_RATIO), above=False, unit="share of lines"
    )
    """Lines that end in terminal punctuation."""
    max_short_lines: float | None = limit(
        0.67, ("fineweb_short_lines", R.FINEWEB_SHORT_LINE_RATIO), above=True, unit="share of lines"
    )
    short_line_chars: int = 30
    """A line of at most so many characters is short."""
    max_duplicate_line_chars: float | None = limit(
        0.01,
        ("fineweb_duplicate_line_chars", R.FINEWEB_CHAR_DUP_RATIO),
        above=True,
        unit="share of characters",
        source="Penedo et al. 2024, Table 2, and the code that made the data; the paper's text says 0.1",
    )
    label_chars: int = 0
    """A line of at most so many characters is no repetition: "Pros", "Further reading". The oracle counts all."""
    count_rows: bool = True
    """The oracle takes a row of a table for a line; else none is short, repeated, or lacks its full stop."""
    count_items: bool = True
    """The oracle takes an item of a list for a line; else none is short: "- 500 g flour" beside what to do with it."""
    point_words: int = 0
    """A line of at most so many words lacks no full stop: a point of a slide. The oracle counts all."""
    quoted_ends: bool = False
    """A line of direct speech ends in terminal punctuation though a closing mark follows it: “He said so.” The oracle
    takes the mark for its end."""
    enough_sentences: float | None = None
    """From this share of its words in sentences on, a page may have as many labels and lists beside them as it likes.
    The oracle counts lines, of which an article with a checklist has many short ones."""
    forgive_repeats: bool = False
    """Such a page may repeat lines as well: a reference says again of each call what several of them share."""
    max_newlines_a_token: float | None = limit(
        0.3, ("fineweb_newlines_a_token", R.FINEWEB_LIST_RATIO), above=True, unit="line breaks a token"
    )

    count_code: bool = True
    """The oracle judges code as prose; else a page that fails is asked again without its lines of code."""

    def judge(self, page: Page) -> Findings:
        """Measure everything, then name the first failing rule in datatrove's order."""
        return self._judge(page) if self.count_code else judge_prose(page, self._judge)

    def _judge(self, page: Page) -> Findings:
        found = Findings()
        if not page.lines:
            found.fail(R.FINEWEB_EMPTY, "no line has text")
            return found
        prose = page.lines if self.count_rows else [line for line in page.lines if TABLE_BAR not in line] or page.lines
        self._punctuated(page, prose, found)
        self._short_lines(page, prose, found)
        repeated = duplicates(line for line in prose if len(line) > self.label_chars)[1]
        found.measure("fineweb_duplicate_line_chars", repeated / max(len(page.text) - page.text.count("\n"), 1))
        found.measure("fineweb_newlines_a_token", page.text.count("\n") / max(page.number_of_tokens, 1))
        forgiven = _OF_LINES | _OF_REPEATS if self.forgive_repeats else _OF_LINES
        found.excuse(self, forgiven, lambda: mostly_sentences(page, self.enough_sentences))
        return found.decide(self)

    def _punctuated(self, page: Page, prose: list[str], found: Findings) -> None:
        open_lines = [line for line in page.lines if not self._is_ended(line, page.language)]
        rows = prose is not page.lines
        excused = sum((rows and TABLE_BAR in line) or self._is_point(line) for line in open_lines)
        ended = len(page.lines) - len(open_lines)
        if ended or excused < len(open_lines) or not self.point_words:  # nothing but points says nothing
            found.measure("fineweb_punctuated_lines", ended / max(len(page.lines) - excused, 1))

    def _is_point(self, line: str) -> bool:
        return bool(self.point_words) and count_words(line) <= self.point_words

    def _is_ended(self, line: str, language: str) -> bool:
        return ends_a_sentence(line.rstrip(), language) if self.quoted_ends else line[-1] in ENDS

    def _short_lines(self, page: Page, prose: list[str], found: Findings) -> None:
        if page.language in DENSE_SCRIPTS:
            found.skipped["fineweb_short_line_ratio"] = (
                f"{self.short_line_chars} characters are a sentence in {page.language}"
            )
            return
        short = sum(
            len(line) <= self.short_line_chars and (self.count_items or not is_short_item(line)) for line in prose
        )
        found.measure("fineweb_short_lines", short / len(page.lines))
