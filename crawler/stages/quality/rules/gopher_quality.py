"""Quality rules of Gopher: is this prose at all? As datatrove's `gopher_quality_filter.py` computes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crawler.document import DropReason as R
from crawler.stages.quality.punctuation import ends_a_sentence
from crawler.stages.quality.rules.base import LEAST_WORDS, Findings, Page, RuleSet, judge_prose, limit
from crawler.stages.text.tables import sections
from crawler.stages.text.words import count_words

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words)
    for language, *words in map(str.split, sections("crawler.stages.quality", "stop_words.txt")[""])
}
"""Function words by ISO 639-1 code."""


@dataclass(frozen=True, slots=True)
class GopherQuality(RuleSet):
    """Thresholds of Rae et al. 2021, section A1.1. `None` switches a rule off."""

    name: ClassVar[str] = "gopher_quality"
    source: ClassVar[str] = "Rae et al. 2021, section A1.1"

    min_words: int | None = limit(50, ("gopher_words", R.GOPHER_SHORT_DOC), above=False, unit="words")
    """Punctuation tokens not counted."""
    max_words: int | None = limit(100_000, ("gopher_words", R.GOPHER_LONG_DOC), above=True, unit="words")
    min_mean_word_length: float | None = limit(
        3, ("gopher_mean_word_length", R.GOPHER_BELOW_AVG_THRESHOLD), above=False, unit="characters a word"
    )
    max_mean_word_length: float | None = limit(
        10, ("gopher_mean_word_length", R.GOPHER_ABOVE_AVG_THRESHOLD), above=True, unit="characters a word"
    )
    max_symbols_a_token: float | None = limit(
        0.1,
        ("gopher_hashes", R.GOPHER_TOO_MANY_HASHES),
        ("gopher_ellipses", R.GOPHER_TOO_MANY_ELLIPSIS),
        above=True,
        unit='"#", and ellipses, a token',
    )
    max_bullet_lines: float | None = limit(
        0.9, ("gopher_bullet_lines", R.GOPHER_TOO_MANY_BULLETS), above=True, unit="share of lines"
    )
    sentence_bullet_words: int | None = None
    """A bullet of so many words that ends in terminal punctuation is a sentence, no bullet. The oracle knows none."""
    max_ellipsis_lines: float | None = limit(
        0.3, ("gopher_ellipsis_lines", R.GOPHER_TOO_MANY_END_ELLIPSIS), above=True, unit="share of lines"
    )
    min_alphabetic_tokens: float | None = limit(
        0.8, ("gopher_alphabetic_tokens", R.GOPHER_BELOW_ALPHA_THRESHOLD), above=False, unit="share of tokens"
    )
    """Tokens with a letter in them, punctuation tokens counted."""
    count_items: bool = True
    """The oracle counts rows of tables and short items of lists, too: figures, and "500 g flour"."""
    min_stop_words: int | None = limit(
        2, ("gopher_stop_words", R.GOPHER_ENOUGH_STOP_WORDS), above=False, unit="distinct stop words"
    )
    """Case-sensitive."""

    count_code: bool = True
    """The oracle judges code as prose; else a page that fails is asked again without its lines of code."""

    def judge(self, page: Page) -> Findings:
        """Measure everything, then name the first failing rule in datatrove's order."""
        return self._judge(page) if self.count_code else judge_prose(page, self._judge)

    def _judge(self, page: Page) -> Findings:
        found = Findings()
        _lengths(page, found)
        _symbols(page, found)
        self._lines(page, found)
        _tokens(page, found)
        is_asked_again = not self.count_items and found.misses(self, (_ALPHABETIC,))
        if is_asked_again and page.running.number_of_words >= LEAST_WORDS:
            found.measure(_ALPHABETIC, _alphabetic(page.running))
        return found.decide(self)

    def _lines(self, page: Page, found: Findings) -> None:
        lines = page.text.splitlines()
        total = max(len(lines), 1)
        bullets = sum(self._is_bullet(line, page.language) for line in lines if line.lstrip()[:1] in _BULLETS)
        found.measure("gopher_bullet_lines", bullets / total)
        has_ellipsis = "..." in page.text or "…" in page.text
        ended = sum(line.rstrip().endswith(("...", "…")) for line in lines) if has_ellipsis else 0
        found.measure("gopher_ellipsis_lines", ended / total)

    def _is_bullet(self, line: str, language: str) -> bool:
        """Of a line that begins like one."""
        least = self.sentence_bullet_words
        return least is None or not ends_a_sentence(line.rstrip(), language) or count_words(line) <= least


_BULLETS = frozenset("•-")
_ALPHABETIC = "gopher_alphabetic_tokens"


def _alphabetic(page: Page) -> float:
    return int(np.count_nonzero(page.vocabulary.have_letters[page.numbers])) / max(page.number_of_tokens, 1)


def _lengths(page: Page, found: Findings) -> None:
    found.measure("gopher_words", page.number_of_words)
    if page.short_words:
        for rule in ("gopher_below_avg_threshold", "gopher_above_avg_threshold"):
            found.skipped[rule] = f"words of {page.language} are short"
        return
    chars = int(page.vocabulary.lengths[page.words].sum())
    found.measure("gopher_mean_word_length", chars / max(page.number_of_words, 1))


def _symbols(page: Page, found: Findings) -> None:
    text, total = page.text, max(page.number_of_tokens, 1)
    found.measure("gopher_hashes", text.count("#") / total)
    found.measure("gopher_ellipses", (text.count("...") + text.count("…")) / total)


def _tokens(page: Page, found: Findings) -> None:
    found.measure(_ALPHABETIC, _alphabetic(page))
    stop_words = STOP_WORDS.get(page.language)
    if stop_words is None:
        found.skipped["gopher_enough_stop_words"] = f"no list of stop words for {page.language}"
        return
    found.measure("gopher_stop_words", page.vocabulary.different(page.numbers, stop_words))
