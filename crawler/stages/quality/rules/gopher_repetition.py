"""Repetition rules of Gopher: does the text say the same thing again? As datatrove computes them, in linear time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from crawler.document import DropReason as R
from crawler.stages.quality.rules.base import Findings, Page, duplicates, limit

_BASE = 0x9E3779B97F4A7C15  # any odd number has an inverse
_INVERSE = pow(_BASE, -1, 2**64)


@dataclass(frozen=True, slots=True)
class GopherRepetition:
    """Thresholds of Rae et al. 2021, Table A1: shares of 0 to 1. `None` or an empty tuple switches a rule off."""

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

    def judge(self, page: Page) -> Findings:
        """Measure everything, then name the first failing rule in datatrove's order."""
        found = Findings()
        size = max(len(page.text), 1)
        _segments(page.text, size, found)
        numbered = _Numbered(page.tokens, page.counts)
        for n, _ in self.top_n_grams:
            found.measure(f"top_{n}_gram", numbered.top_chars(n) / size)
        for n, share in duplicate_n_gram_shares(page.tokens, [n for n, _ in self.duplicate_n_grams], size):
            found.measure(f"dup_{n}_gram", share)
        return found.decide(self)


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


def top_n_gram_chars(tokens: Sequence[str], n: int) -> int:
    """Characters of the most frequent n-gram (first one wins a tie), joined by spaces, times its count. 0 if too short.

    As in datatrove it counts even where it stands only once, so very short texts fail.
    """
    return _Numbered(tokens, dict.fromkeys(tokens)).top_chars(n)


class _Numbered:
    """The tokens as numbers, equal for equal tokens: n-grams are then numbers, too, and counted by sorting them."""

    def __init__(self, tokens: Sequence[str], kinds: Iterable[str]) -> None:
        """`kinds`: the different tokens."""
        number = {token: place for place, token in enumerate(kinds)}
        self._tokens = tokens
        self._kinds = len(number)
        self._ids = np.fromiter(map(number.__getitem__, tokens), dtype=np.int64, count=len(tokens))

    def top_chars(self, n: int) -> int:
        """See `top_n_gram_chars`."""
        if len(self._tokens) < n:
            return 0
        first, count = _most_frequent(self._grams(n))
        return len(" ".join(self._tokens[first : first + n])) * count

    def _grams(self, n: int) -> npt.NDArray[np.int64]:
        """A number for each run of n tokens, by where it begins; runs of equal tokens have equal numbers."""
        grams, highest = self._ids, self._kinds
        for i in range(1, n):
            if highest * self._kinds > _MOST:
                kinds, grams = np.unique(grams, return_inverse=True)
                highest = len(kinds)
            grams = grams[:-1] * self._kinds + self._ids[i:]
            highest *= self._kinds
        return grams


_MOST = 2**63 - 1


def _most_frequent(numbers: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Where the most frequent number stands first (of several the one that stands first), and how often it stands."""
    order = np.argsort(numbers)
    ordered = numbers[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    times = np.diff(np.append(starts, len(ordered)))
    count = times.max()
    return int(order[np.repeat(times == count, times)].min()), int(count)


def duplicate_n_gram_shares(tokens: Sequence[str], sizes: Sequence[int], chars: int) -> list[tuple[int, float]]:
    """For each n, the share of `chars` in n-grams that stood before; a repeat is jumped over whole."""
    joined = "".join(tokens)
    ends = [0, *accumulate(map(len, tokens))]
    hashes = _Hashes(joined, ends)
    return [(n, _duplicate_chars(joined, ends, n, hashes.repeated(n)) / chars) for n in sizes]


class _Hashes:
    """Polynomial hashes, modulo 2^64, of runs of tokens: which runs can stand more than once at all."""

    def __init__(self, joined: str, ends: Sequence[int]) -> None:
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
        at = np.array(ends)
        powers, inverses = _powers(len(codes))
        self._sums = np.concatenate(([np.uint64(0)], np.cumsum(codes * powers[:-1])))[at]
        self._shifts = inverses[at]

    def repeated(self, n: int) -> list[int]:
        """The tokens at which a run of n begins whose hash another run has, too, in order."""
        if len(self._sums) <= n + 1:
            return []
        hashes = (self._sums[n:] - self._sums[:-n]) * self._shifts[:-n]
        order = np.argsort(hashes)
        ordered = hashes[order]
        twins = ordered[1:] == ordered[:-1]
        repeated = np.zeros(len(hashes), dtype=bool)
        repeated[order[1:][twins]] = repeated[order[:-1][twins]] = True
        starts: list[int] = np.flatnonzero(repeated).tolist()
        return starts


def _powers(count: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """The powers 0 … count of the base and of its inverse, modulo 2^64; those of a usual text are kept."""
    if count >= len(_POWERS[0]):
        return _first_powers(_BASE, count + 1), _first_powers(_INVERSE, count + 1)
    return _POWERS[0][: count + 1], _POWERS[1][: count + 1]


def _first_powers(base: int, count: int) -> npt.NDArray[np.uint64]:
    factors = np.full(count, base, dtype=np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)


_POWERS = (_first_powers(_BASE, 16_384), _first_powers(_INVERSE, 16_384))


def _duplicate_chars(joined: str, ends: Sequence[int], n: int, starts: Sequence[int]) -> int:
    """Characters of the repeats among the runs of n tokens at `starts`; the runs elsewhere stand once."""
    seen: set[str] = set()
    repeated = free = 0
    for start in starts:
        if start < free:
            continue
        gram = joined[ends[start] : ends[start + n]]
        if gram in seen:
            repeated += len(gram)
            free = start + n
        else:
            seen.add(gram)
    return repeated
