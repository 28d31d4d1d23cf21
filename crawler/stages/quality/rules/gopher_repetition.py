"""Repetition rules of Gopher: does the text say the same thing again? As datatrove computes them, in linear time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crawler.document import DropReason as R
from crawler.native import library
from crawler.native.grams import repetition
from crawler.stages.quality.ngrams import Ints, Runs, Top, most_frequent
from crawler.stages.quality.rules.base import (
    LEAST_WORDS,
    TABLE_BAR,
    Findings,
    Page,
    RuleSet,
    duplicates,
    judge_prose,
    limit,
    mostly_sentences,
)


@dataclass(frozen=True, slots=True)
class GopherRepetition(RuleSet):
    """Thresholds of Rae et al. 2021, Table A1: shares of 0 to 1. `None` or an empty tuple switches a rule off."""

    name: ClassVar[str] = "gopher_repetition"
    source: ClassVar[str] = "Rae et al. 2021, Table A1"

    max_duplicate_paragraphs: float | None = limit(
        0.30, ("dup_para_frac", R.DUP_PARA_FRAC), above=True, unit="share of paragraphs"
    )
    max_duplicate_paragraph_chars: float | None = limit(
        0.20, ("dup_para_char_frac", R.DUP_PARA_CHAR_FRAC), above=True, unit="share of characters"
    )
    max_duplicate_lines: float | None = limit(
        0.30, ("dup_line_frac", R.DUP_LINE_FRAC), above=True, unit="share of lines"
    )
    max_duplicate_line_chars: float | None = limit(
        0.20, ("dup_line_char_frac", R.DUP_LINE_CHAR_FRAC), above=True, unit="share of characters"
    )
    top_n_grams: tuple[tuple[int, float], ...] = limit(
        ((2, 0.20), (3, 0.18), (4, 0.16)), ("top_{n}_gram", R.TOP_N_GRAM), above=True, unit="share of characters"
    )
    """(n, highest share of the characters that the most frequent n-gram may cover)."""
    duplicate_n_grams: tuple[tuple[int, float], ...] = limit(
        ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.10)),
        ("dup_{n}_gram", R.DUP_N_GRAM),
        above=True,
        unit="share of characters",
    )
    """(n, highest share of the characters in n-grams that stood before)."""

    count_rows: bool = True
    """The oracle compares the rows of tables, too, which repeat "Rest day" and "per month" as tables do."""
    enough_sentences: float | None = None
    """From this share of its words in sentences on, a page may repeat as many short lines as it likes."""

    count_code: bool = True
    """The oracle judges code as prose; else a page that fails is asked again without its lines of code."""

    def judge(self, page: Page) -> Findings:
        """Measure everything, then name the first failing rule in datatrove's order."""
        return self._judge(page) if self.count_code else judge_prose(page, self._judge)

    def _judge(self, page: Page) -> Findings:
        found = Findings()
        size = max(len(page.text), 1)
        _segments(page.text, size, found)
        self._n_grams(page, found)
        has_rows = not self.count_rows and TABLE_BAR in page.text
        is_asked_again = has_rows and found.misses(self, self._names_of_n_grams())
        if is_asked_again and page.without_rows.number_of_words >= LEAST_WORDS:
            self._n_grams(page.without_rows, found)
        found.excuse(self, ("dup_line_frac",), lambda: mostly_sentences(page, self.enough_sentences))
        return found.decide(self)

    def _names_of_n_grams(self) -> set[str]:
        return {f"top_{n}_gram" for n, _ in self.top_n_grams} | {f"dup_{n}_gram" for n, _ in self.duplicate_n_grams}

    def _n_grams(self, page: Page, found: Findings) -> None:
        numbers, joined, size = _beginning(page)
        lengths = page.vocabulary.lengths[numbers]
        tops, sizes = [n for n, _ in self.top_n_grams], [n for n, _ in self.duplicate_n_grams]
        top, repeated = _counted(numbers, joined, lengths, tops, sizes)
        for n in tops:
            found.measure(f"top_{n}_gram", top.get(n, 0) / size)
        for n, chars in zip(sizes, repeated, strict=True):
            found.measure(f"dup_{n}_gram", chars / size)


MOST_TOKENS = 200_000
"""Tokens in which repeated n-grams are looked for: a text with more has nearly twice the words that Gopher keeps, and
each of them would take half a kilobyte of memory."""


def _beginning(page: Page) -> tuple[Ints, str, int]:
    """The first `MOST_TOKENS` tokens, these with nothing between them, and the characters of text they stand for."""
    numbers, joined, size = page.numbers, page.joined, max(len(page.text), 1)
    if len(numbers) <= MOST_TOKENS:
        return numbers, joined, size
    numbers = numbers[:MOST_TOKENS]
    chars = int(page.vocabulary.lengths[numbers].sum())
    return numbers, joined[:chars], max(1, round(size * chars / len(joined)))


def _segments(text: str, size: int, found: Findings) -> None:
    paragraphs = _paragraphs(text.strip())
    count, chars = duplicates(paragraphs)
    found.measure("dup_para_frac", count / len(paragraphs))
    found.measure("dup_para_char_frac", chars / size)
    lines = _lines(text)
    count, chars = duplicates(lines)
    found.measure("dup_line_frac", count / len(lines))
    found.measure("dup_line_char_frac", chars / size)


def _paragraphs(text: str) -> list[str]:
    """What stands between runs of two line feeds and more; no such run at the ends of `text`."""
    return [kept for piece in text.split("\n\n") if (kept := piece.lstrip("\n"))] or [""]


def _lines(text: str) -> list[str]:
    """What stands between runs of line feeds: empty lines only before a run that begins the text, and after its end."""
    if not text:
        return [""]
    lines = [line for line in text.split("\n") if line]
    return [*[""] * text.startswith("\n"), *lines, *[""] * text.endswith("\n")]


def _counted(
    numbers: Ints, joined: str, lengths: Ints, tops: Sequence[int], sizes: Sequence[int]
) -> tuple[dict[int, int], Sequence[int]]:
    """Characters of the most frequent run of each n of `tops`, and of the repeats among the runs of each of `sizes`."""
    if (native := library()) is not None:
        among, ends = [n for n in tops if n <= len(numbers)], np.concatenate(([0], np.cumsum(lengths)))
        if (found := repetition(native, numbers, joined, ends, tops=among, sizes=sizes)) is not None:
            return _top_chars(lengths, (Top(n, *where) for n, where in zip(among, found[0], strict=True))), found[1]
    runs = Runs(joined, lengths)
    repeats = zip(sizes, runs.repeated(sizes), strict=True)
    chars = [_chars_of_repeats(runs, n, starts) for n, starts in repeats]
    return _top_chars(lengths, most_frequent(numbers, tops)), chars


def _top_chars(lengths: Ints, tops: Iterable[Top]) -> dict[int, int]:
    """For each n, the characters of the most frequent n-gram (first one wins a tie), joined by spaces, times its count.

    As in datatrove it counts even where it stands only once, so very short texts fail.
    """
    return {top.n: (int(lengths[top.first : top.first + top.n].sum()) + top.n - 1) * top.times for top in tops}


def _chars_of_repeats(runs: Runs, n: int, starts: Ints) -> int:
    """Only the runs at `starts`, whose hashes are equal, are compared."""
    rows = (row.tolist() for row in (starts, runs.ends[starts], runs.ends[starts + n]))
    seen: set[str] = set()
    repeated = free = 0
    for start, begin, end in zip(*rows, strict=True):
        if start < free:
            continue
        gram = runs.joined[begin:end]
        if gram in seen:
            repeated += end - begin
            free = start + n
        else:
            seen.add(gram)
    return repeated
