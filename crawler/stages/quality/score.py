"""The quality stage measures a text in numbers, and makes one score from 0 to 1 of them.

Every signal is a plain number a reader can check; `Profile` says which values are good and how much each counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np

from crawler.stages.quality.characters import Characters
from crawler.stages.quality.code_lines import is_code
from crawler.stages.quality.ngrams import Ints
from crawler.stages.quality.punctuation import OTHER_ENDS
from crawler.stages.quality.rules.base import Page
from crawler.stages.quality.rules.gopher_quality import STOP_WORDS

_URL = re.compile(r"[hHwW](?:(?<=[hH])(?i:ttps?://\S++)|(?<=[wW])(?i:ww\.\S++))")
_URL_PARTS = ("://", "ww.", "WW.", "Ww.", "wW.")
"""What has none of them has no URL."""
_CITATION = re.compile(
    r"[§\dAvSN](?:(?<=§)§?\s?\d|(?<=\bA)(?:rt(?:icle|ikel|\.)\s?\d|bs\.\s?\d)|(?<=\b\d)\d*+\s[A-Z][\w.]*+\s\d"
    r"|(?<=\bv)\.\s[A-Z]|(?<=\bS)ection\s?\d|(?<=\bN)[ro]\.\s?\d)"
)
"""Like `_URL`, it begins with a plain set of characters: such an expression is searched four times faster."""
_CITATION_OF_TEN_DIGITS = re.compile(_CITATION.pattern.replace(r"[§\dAvSN]", "[§0-9AvSN]").replace(r"\d", "[0-9]"))
"""The same for a text that has no other digits: half the time."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LEGAL_WORDS = _set(
    "pursuant hereby herein thereof hereinafter plaintiff defendant statute statutory jurisdiction court appeal "
    "provision paragraph subsection regulation directive liability obligation contract agreement clause warranty "
    "licensee licensor gemäß verordnung gesetz absatz vertrag gericht règlement directive alinéa tribunal contrat"
)


@dataclass(frozen=True, slots=True)
class Band:
    """Which values of a signal are good: 0 up to `low_bad`, 1 from `low_good` to `high_good`, 0 from `high_bad`."""

    low_bad: float
    low_good: float
    high_good: float = math.inf
    high_bad: float = math.inf
    weight: float = 1.0

    def score(self, value: float) -> float:
        """0 to 1, linear between the bounds."""
        if value < self.low_good:
            return max(0.0, (value - self.low_bad) / (self.low_good - self.low_bad))
        if value > self.high_good:
            return max(0.0, (self.high_bad - value) / (self.high_bad - self.high_good))
        return 1.0


_NEVER_LOW = -1.0

LANGUAGE_BOUNDS: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "cs": {"stop_words": (0.02, 0.08, 0.6, 0.8)},
    "de": {"stop_words": (0.02, 0.10, 0.6, 0.8), "mean_word_length": (2.5, 4.0, 8.5, 12.0)},
    "fi": {"stop_words": (0.02, 0.08, 0.6, 0.8), "mean_word_length": (3.0, 5.0, 9.5, 13.0)},
    "fr": {"stop_words": (0.03, 0.12, 0.6, 0.8)},
    "hu": {"mean_word_length": (2.5, 4.0, 8.5, 12.0)},
    "id": {"stop_words": (0.02, 0.09, 0.6, 0.8)},
    "it": {"stop_words": (0.02, 0.11, 0.6, 0.8)},
    "ko": {"mean_word_length": (1.5, 2.8, 6.0, 10.0)},
    "no": {"stop_words": (0.03, 0.13, 0.6, 0.8)},
    "pl": {"stop_words": (0.02, 0.09, 0.6, 0.8), "mean_word_length": (2.5, 4.0, 8.5, 12.0)},
    "ru": {"stop_words": (0.01, 0.04, 0.6, 0.8)},
    "tr": {"stop_words": (0.02, 0.08, 0.6, 0.8), "mean_word_length": (2.5, 4.0, 8.5, 12.0)},
    "vi": {"stop_words": (0.01, 0.03, 0.6, 0.8), "mean_word_length": (1.5, 2.5, 5.0, 8.0)},
}
"""Bounds instead of the profile's where words are longer or shorter, or the list of stop words catches fewer.

Lower bounds of stop words: what nine in ten of 45 real documentation pages of the language reach (`measure` on
translations of the Debian and Apache manuals); fi and pl, and word lengths: our own judgement. Weights stay the
profile's.
"""


def _prose() -> dict[str, Band]:
    """Bounds for articles: the middle of ordinary pages scores 1, what one page in ten shows begins to cost."""
    return {
        "log10_words": Band(1.5, 3.0, 4.7, 5.3, weight=2.0),  # 32 … 1,000 … 50,000 … 200,000 words
        "mean_word_length": Band(2.5, 4.0, 7.5, 11.0),
        "unique_words": Band(0.10, 0.40, 1.01, 1.02, weight=1.5),  # of the first 1,000 words
        "punctuation": Band(0.005, 0.018, 0.06, 0.20),
        "digits": Band(_NEVER_LOW, 0.0, 0.03, 0.20),
        "line_length_variation": Band(_NEVER_LOW, 0.0, 1.1, 3.0, weight=0.5),
        "urls_per_100_words": Band(_NEVER_LOW, 0.0, 0.5, 5.0),
        "stop_words": Band(0.03, 0.15, 0.6, 0.8, weight=2.0),
        "sentence_lines": Band(0.10, 0.75, 1.0, 1.01, weight=1.5),
    }


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a text has to have under a profile: a signal between bounds, or a legal field out of a list.

    `among` empty: any value will do. A signal that was not measured meets no bound.
    """

    name: str
    minimum: float | None = None
    maximum: float | None = None
    among: tuple[str, ...] = ()

    def complaint(self, value: Any) -> str:
        """What is wrong with a value; empty where nothing is."""
        if self.minimum is None and self.maximum is None:
            wanted = f" out of {', '.join(self.among)}" if self.among else ""
            return (
                ""
                if value and (not self.among or value in self.among)
                else f"{self.name} {value}, expected one{wanted}"
            )
        if not isinstance(value, int | float):
            return f"{self.name} was not measured"
        if self.minimum is not None and value < self.minimum:
            return f"{self.name} {value:.4g} < {self.minimum:g}"
        return (
            f"{self.name} {value:.4g} > {self.maximum:g}" if self.maximum is not None and value > self.maximum else ""
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """Bounds and weights of the signals for one kind of text. A signal that cannot be computed has no say.

    `requires` selects: a text that has not all of it is dropped. `reads_form`: the legal fields are read.
    `headings_of`: the field whose headings are counted (`field_headings`).
    """

    name: str = "prose"
    bands: dict[str, Band] = field(default_factory=_prose)
    requires: tuple[Requirement, ...] = ()
    reads_form: bool = False
    headings_of: str = ""

    def bands_for(self, language: str) -> dict[str, Band]:
        """The bands with the bounds of a language (`LANGUAGE_BOUNDS`), ISO 639-1."""
        own = LANGUAGE_BOUNDS.get(language)
        if own is None:
            return self.bands
        return {name: Band(*own[name], band.weight) if name in own else band for name, band in self.bands.items()}

    def score(self, signals: Mapping[str, float], language: str = "") -> float:
        """Weighted mean of the signals' scores, 0 to 1."""
        bands = self.bands_for(language).items()
        known = [(band.weight, band.score(signals[name])) for name, band in bands if name in signals]
        total = sum(weight for weight, _ in known)
        return sum(weight * value for weight, value in known) / total if total else 0.0


def _legal() -> dict[str, Band]:
    return _prose() | {
        "mean_word_length": Band(2.5, 3.5, 9.0, 13.0),
        "digits": Band(_NEVER_LOW, 0.0, 0.12, 0.35),
        "unique_words": Band(0.02, 0.12, 1.01, 1.02, weight=1.5),
        "citations_per_100_words": Band(0.0, 0.5, 30.0, 60.0, weight=0.5),
        "legal_words_per_100_words": Band(0.0, 1.0, 30.0, 60.0, weight=0.5),
    }


def _technical() -> dict[str, Band]:
    return _prose() | {
        "punctuation": Band(0.005, 0.02, 0.10, 0.35),
        "digits": Band(_NEVER_LOW, 0.0, 0.06, 0.30),
        "unique_words": Band(0.05, 0.33, 1.01, 1.02, weight=1.5),
        "stop_words": Band(0.02, 0.12, 0.6, 0.8, weight=2.0),
        "line_length_variation": Band(_NEVER_LOW, 0.0, 1.6, 5.0, weight=0.5),
        "sentence_lines": Band(0.05, 0.60, 1.0, 1.01, weight=1.0),
    }


def _verse() -> dict[str, Band]:
    """Verse is short, repeats itself and needs no marks; how its lines end says nothing."""
    bands = _prose() | {
        "log10_words": Band(1.3, 2.0, 4.7, 5.3, weight=2.0),
        "unique_words": Band(0.05, 0.25, 1.01, 1.02, weight=1.5),
        "punctuation": Band(_NEVER_LOW, 0.0, 0.08, 0.20),
    }
    del bands["sentence_lines"]
    return bands


def _slides() -> dict[str, Band]:
    """Points need no marks at their ends, and a deck is short; how its lines end says nothing."""
    bands = _prose() | {
        "log10_words": Band(1.5, 2.3, 4.7, 5.3, weight=2.0),
        "punctuation": Band(_NEVER_LOW, 0.0, 0.08, 0.20),
    }
    del bands["sentence_lines"]
    return bands


PROFILE_OF_KIND = {"pptx": "slides", "odp": "slides"}
"""Kinds of file (`document_kind`) whose texts are no articles. The others lose no more by the limits of pages than
pages do (`python -m bench.quality.by_kind`)."""
LEAST_CODE = 0.03
"""Share of a page's characters that it marks as code (`marked_code`) from which it is one of code."""
LEAST_HEADINGS = 3
"""Different headings of a field from which a text is one of its documents."""

PROFILES: dict[str, Profile] = {
    "prose": Profile(),
    "datatrove": Profile("datatrove"),
    "technical": Profile("technical", _technical()),
    "legal": Profile("legal", _legal(), reads_form=True),
    "verse": Profile("verse", _verse()),
    "slides": Profile("slides", _slides()),
    "law": Profile("law", _legal(), (Requirement("legal_document_type"),), reads_form=True),
    "code": Profile("code", _technical(), (Requirement("marked_code", minimum=LEAST_CODE),)),
}
PROFILES |= {
    name: Profile(name, _technical(), (Requirement("field_headings", minimum=LEAST_HEADINGS),), headings_of=name)
    for name in ("medicine", "science", "finance")
}
"""Profiles by the name `QUALITY_PROFILE` uses."""


def choose_profile(signals: Mapping[str, Any], kind: str | None = None) -> str:
    """The profile that fits a text. kind: of the file that it comes from.

    Slides: the kind says so (`PROFILE_OF_KIND`). Verse: the page marks half of it as stanzas (`marked_verse`, from the
    extraction), without code and with few figures; in languages whose stop words are known it has some, unlike a list
    of names. Technical: one line in twenty looks like code, or the page marks three of a hundred characters as code
    (`marked_code`, from the extraction). Legal: a citation and a term in every 100 words. Everything else is prose.
    """
    if kind in PROFILE_OF_KIND:
        return PROFILE_OF_KIND[kind]
    if signals.get("marked_verse", 0.0) >= 0.5 and _reads_like_verse(signals):
        return "verse"
    if signals["code_lines"] >= 0.05 or signals.get("marked_code", 0.0) >= LEAST_CODE:
        return "technical"
    if signals["citations_per_100_words"] >= 1.0 and signals["legal_words_per_100_words"] >= 1.0:
        return "legal"
    return "prose"


def _reads_like_verse(signals: Mapping[str, Any]) -> bool:
    has_figures = signals["digits"] > 0.02 or signals.get("marked_code", 0.0) >= LEAST_CODE
    return not has_figures and signals.get("stop_words", 1.0) >= 0.05 and signals["urls_per_100_words"] < 1.0


def measure(page: Page) -> dict[str, float]:
    """All signals of a text by name. Signals that make no sense for the language are left out."""
    text, size = page.text, max(len(page.text), 1)
    total = max(page.number_of_words, 1)
    characters = Characters(text)
    lines = page.lines or [""]
    lengths = [len(line) for line in lines]
    has_url = any(part in text for part in _URL_PARTS)
    citation = _CITATION if characters.has_other_digits() else _CITATION_OF_TEN_DIGITS
    signals = {
        "log10_words": math.log10(total),
        "punctuation": characters.marks() / size,
        "digits": characters.digits() / size,
        "line_length_variation": _deviation(lengths) / max(fmean(lengths), 1),
        "urls_per_100_words": 100 * (len(_URL.findall(text)) if has_url else 0) / total,
        "sentence_lines": sum(len(line) > 60 or line.rstrip()[-1:] in _ENDS for line in lines) / len(lines),
        "code_lines": sum(map(is_code, lines)) / len(lines),
        "citations_per_100_words": 100 * len(citation.findall(text)) / total,
        "legal_words_per_100_words": 100 * page.vocabulary.times(page.words, _LEGAL_WORDS) / total,
    }
    if not page.unspaced:
        signals |= _word_signals(page)
    return {name: round(value, 4) for name, value in signals.items()}


def _deviation(lengths: list[int]) -> float:
    """Standard deviation of the population, from exact sums."""
    number, total = len(lengths), sum(lengths)
    return math.sqrt(number * sum(length * length for length in lengths) - total * total) / number


def _word_signals(page: Page) -> dict[str, float]:
    known, words, total = page.vocabulary, page.words, max(page.number_of_words, 1)
    head = words[:1000]
    signals = {
        "mean_word_length": int(known.lower_lengths[words].sum()) / total,
        "unique_words": _different(known.lowers[head]) / max(len(head), 1),
    }
    stop_words = STOP_WORDS.get(page.language)
    if stop_words is not None:
        signals["stop_words"] = known.times(words, stop_words) / total
    return signals


def _different(numbers: Ints) -> int:
    """How many different numbers there are: sorted, a new one begins where two neighbours differ."""
    ordered = np.sort(numbers)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(ordered))


_ENDS = OTHER_ENDS | frozenset(":;…»”\"')」』")
