"""C4's rules: line cleaning and a few words that condemn a page. As datatrove's `c4_filters.py` computes them.

This rule set changes the text: lines it drops are gone for the rules behind it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from crawler.document import DropReason, Reason
from crawler.stages.quality.punctuation import UNMARKED
from crawler.stages.quality.rules.base import Findings, Page, RuleSet, limit
from crawler.stages.text.words import count_words

_CITATION = re.compile(r"\[\d*+]|\[edit]|\[citation needed]")
_END = (".", "?", "!", '"', "'")
_POLICY = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")


@dataclass(frozen=True, slots=True)
class C4(RuleSet):
    """Thresholds of datatrove 0.10.1; terminal punctuation is off, as FineWeb runs it. `None` switches a rule off."""

    name: ClassVar[str] = "c4"
    source: ClassVar[str] = "Raffel et al. 2020, section 2.2, as datatrove 0.10.1 computes it"

    max_word_chars: int | None = 1000
    """A line with a longer word is dropped."""
    remove_citations: bool = True
    """Delete "[1]", "[edit]" and "[citation needed]"."""
    terminal_punctuation: bool = False
    """Drop lines that do not end in . ? ! or a quotation mark."""
    min_words_a_line: int | None = 3
    count_spaced: bool = True
    """The oracle counts the words of a line by white space, and sentences where nothing marks their end; else words are
    those of the script, and such sentences are not counted."""
    min_sentences: int | None = limit(
        5, ("c4_sentences", DropReason.C4_TOO_FEW_SENTENCES), above=False, unit="sentences"
    )
    lorem_ipsum: bool = True
    """Drop the page."""
    javascript: bool = True
    """Drop the line."""
    curly_bracket: bool = True
    """Drop the page: C4 wants no code. Documentation wants it: the technical profile turns this off."""
    policy: bool = True
    """Drop lines about cookies, terms of use and privacy policies."""

    def judge(self, page: Page) -> Findings:
        """Clean the lines in datatrove's order; `Findings.text` is what is left."""
        found = Findings()
        dropped: Counter[str] = Counter()
        kept: list[str] = []
        sentences = 0
        for raw in page.text.splitlines():
            line, verdict = self._line(raw.strip())
            if isinstance(verdict, Reason):
                found.fail(verdict)
            elif verdict:
                dropped[verdict] += 1
                continue
            kept.append(line)
            sentences += page.counter.sentences(line)
        found.values = {f"c4_{name}": float(count) for name, count in dropped.items()}
        if self.count_spaced or page.language not in UNMARKED:
            found.measure("c4_sentences", sentences)
        else:
            found.skipped["c4_too_few_sentences"] = f"nothing marks the end of a sentence in {page.language}"
        found.text = "\n".join(kept).strip()
        return found.decide(self)

    def _line(self, line: str) -> tuple[str, str | Reason]:
        """The cleaned line, and why it goes ("" = it stays, a DropReason = the whole page goes)."""
        words = line.split()
        if self.max_word_chars is not None and any(len(word) > self.max_word_chars for word in words):
            return line, "lines_long_word"
        if self.remove_citations:
            line = _CITATION.sub("", line)
        if self.terminal_punctuation and (not line.endswith(_END) or line.endswith("...")):
            return line, "lines_no_terminal_punctuation"
        number = len(words) if self.count_spaced else count_words(line)
        if self.min_words_a_line is not None and number < self.min_words_a_line:
            return line, "lines_too_few_words"
        return line, self._content(line)

    def _content(self, line: str) -> str | Reason:
        lower = line.lower()
        if self.lorem_ipsum and "lorem ipsum" in lower:
            return DropReason.C4_LOREM_IPSUM
        if self.javascript and "javascript" in lower:
            return "lines_javascript"
        if self.curly_bracket and "{" in line:
            return DropReason.C4_CURLY_BRACKET
        if self.policy and any(phrase in lower for phrase in _POLICY):
            return "lines_policy"
        return ""


@dataclass(frozen=True, slots=True)
class C4Paragraphs(RuleSet):
    """mC4's rule: a page has some long lines. `None` switches it off."""

    name: ClassVar[str] = "c4_paragraphs"
    source: ClassVar[str] = "Xue et al. 2021 (mC4), section 3.1, as datatrove 0.10.1 computes it"

    min_paragraphs: int | None = limit(
        3, ("c4_paragraphs", DropReason.C4_TOO_FEW_PARAGRAPHS), above=False, unit="long lines"
    )
    min_chars: int = 200
    """Length of a long line."""

    def judge(self, page: Page) -> Findings:
        """Count the long lines."""
        found = Findings()
        long = sum(len(line) >= self.min_chars for line in page.text.split("\n"))
        found.measure("c4_paragraphs", long)
        return found.decide(self)
