"""`gristmill dataset duplicates eval`: what bands and thresholds do on pairs of texts that somebody labelled.

Each pair goes through the crawl's own fingerprints and the index's own arithmetic: the first text is in the index, the
second comes later and asks. Pure; no server. Settings are recommended for these pairs only: confirm them on others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np
import orjson

from crawler.config import DedupConfig
from crawler.dedup.index import Question, Questions, candidate_probability, needed_agreement
from crawler.document import Document
from crawler.number import number_of
from crawler.stages.fingerprint import FingerprintStage

Bands = tuple[int, int]
"""(bands, rows)."""
TRIED: tuple[Bands, ...] = ((14, 8), (16, 7), (18, 6), (20, 6), (24, 6), (25, 5), (32, 8), (9, 13))
THRESHOLDS = tuple(step / 100 for step in range(50, 100))
FEW = 100
"""Pairs of one kind under which a share says little: its standard error is beyond 0.03 at 0.9."""
_ENTRY, _EXACT = 8, 14  # bytes of an index entry of a band, and of the exact digest


class PairsError(ValueError):
    """The file of pairs cannot be used; the text names the line and what was expected."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts, and whether a person holds the second for a duplicate of the first."""

    a: str
    b: str
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one setting does: duplicates found and missed, and pairs taken for duplicates that are none."""

    bands: int
    rows: int
    threshold: float
    found: int
    missed: int
    false: int

    @property
    def precision(self) -> float:
        """Share of the pairs it drops that are duplicates; 1 where it drops none."""
        return self.found / (self.found + self.false) if self.found + self.false else 1.0

    @property
    def recall(self) -> float:
        """Share of the duplicates that it drops; 1 where there are none."""
        return self.found / (self.found + self.missed) if self.found + self.missed else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall (van Rijsbergen 1979)."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def bytes_a_document(self) -> int:
        """In an index, without the owner's URL and without what the server adds."""
        return self.bands * _ENTRY + self.bands * self.rows + _EXACT

    def settings(self) -> str:
        """As a command line takes them."""
        return f"-s NEARDUP_BANDS={self.bands} -s NEARDUP_ROWS={self.rows} -s NEARDUP_THRESHOLD={self.threshold:g}"

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        shares = {name: round(getattr(self, name), 4) for name in ("precision", "recall", "f1")}
        return dataclasses.asdict(self) | shares | {"bytes_a_document": self.bytes_a_document}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All that was tried. exact: pairs of the same text. unasked: pairs too short for anything but the same text."""

    pairs: int
    duplicates: int
    exact: int
    unasked: int
    current: Outcome
    outcomes: dict[Bands, list[Outcome]]

    @property
    def best(self) -> Outcome:
        """The highest F1 of all; of equals the most precise, then the smallest, then the middle threshold."""
        return best_of([outcome for outcomes in self.outcomes.values() for outcome in outcomes])

    @property
    def is_thin(self) -> bool:
        """True where one kind of pair is too rare to choose by."""
        return min(self.duplicates, self.pairs - self.duplicates) < FEW

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types, for `--json`."""
        counts = {name: getattr(self, name) for name in ("pairs", "duplicates", "exact", "unasked")}
        tried = [outcome.as_dict() for outcomes in self.outcomes.values() for outcome in outcomes]
        return counts | {"current": self.current.as_dict(), "best": self.best.as_dict(), "tried": tried}


def best_of(outcomes: Sequence[Outcome]) -> Outcome:
    """As `Evaluation.best`, of some."""
    top = max(_merit(outcome) for outcome in outcomes)
    equal = [outcome for outcome in outcomes if _merit(outcome) == top]
    first = [outcome for outcome in equal if (outcome.bands, outcome.rows) == (equal[0].bands, equal[0].rows)]
    middle = median_low(outcome.threshold for outcome in first)
    return next(outcome for outcome in first if outcome.threshold == middle)


def _merit(outcome: Outcome) -> tuple[float, float, int]:
    return round(outcome.f1, 6), round(outcome.precision, 6), -outcome.bytes_a_document


def read_pairs(path: Path) -> Iterator[LabelledPair]:
    """Pairs of a file of JSON lines {"a": text, "b": text, "duplicate": true or false}; other fields are ignored.

    Raises: PairsError with the line, OSError.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _pair(line, f"{path}:{number}")


def _pair(line: bytes, where: str) -> LabelledPair:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise PairsError(f"{where}: not JSON ({error}); one pair a line is expected") from None
    if not isinstance(found, dict):
        raise PairsError(f"{where}: expected an object with the fields a, b and duplicate")
    for name, kind, what in (("a", str, "a text"), ("b", str, "a text"), ("duplicate", bool, "true or false")):
        if not isinstance(found.get(name), kind):
            raise PairsError(f"{where}: the field {name!r} must be {what}")
    return LabelledPair(found["a"], found["b"], found["duplicate"])


def evaluate(pairs: Iterable[LabelledPair], config: DedupConfig, tried: Iterable[Bands] = TRIED) -> Evaluation:
    """Every band setting and every threshold on every pair. The other settings are those of `config`.

    Raises: PairsError where there is no pair.
    """
    configs = {
        (bands, rows): dataclasses.replace(config, bands=bands, rows=rows)
        for bands, rows in dict.fromkeys([(config.bands, config.rows), *tried])
    }
    judges = {bands: _Judge(changed) for bands, changed in configs.items()}
    labels = []
    for pair in pairs:
        labels.append(pair.duplicate)
        for judge in judges.values():
            judge.read(pair)
    if not labels:
        raise PairsError("no pair to evaluate: the file is empty")
    outcomes = {bands: [judge.outcome(labels, t) for t in THRESHOLDS] for bands, judge in judges.items()}
    first = judges[config.bands, config.rows]
    current = first.outcome(labels, config.threshold)
    exact, unasked = first.asked.count(_EXACTLY), first.asked.count(_NOT_ASKED)
    return Evaluation(len(labels), sum(labels), exact, unasked, current, outcomes)


_NOT_ASKED, _EXACTLY, _NO_BAND = -1, -2, -3


class _Judge:
    """One band setting: for each pair the agreeing positions, or why they do not count."""

    def __init__(self, config: DedupConfig) -> None:
        self._config, self._stage, self._questions = config, FingerprintStage(config), Questions(config)
        self._short = needed_agreement(config.short_threshold, config.bands * config.rows)
        self.asked: list[int] = []
        self._is_short: list[bool] = []

    def read(self, pair: LabelledPair) -> None:
        """Ask the second text against the first."""
        left, right = (self._fingerprinted(text) for text in (pair.a, pair.b))
        a, b = (self._questions.about(d.doc_id, d.signature, d.shingle_count) for d in (left, right))
        self.asked.append(_agreement(a, b))
        self._is_short.append(right.shingle_count < self._config.short_shingles)

    def _fingerprinted(self, text: str) -> Document:
        doc = Document(url="", text=text)
        self._stage(doc)
        return doc

    def outcome(self, labels: Sequence[bool], threshold: float) -> Outcome:
        """What the bands do at a threshold; short texts keep theirs (`NEARDUP_SHORT_THRESHOLD`)."""
        bands, rows = self._config.bands, self._config.rows
        needed = needed_agreement(threshold, bands * rows)
        dropped = [
            agreeing == _EXACTLY or agreeing >= (self._short if short else needed)
            for agreeing, short in zip(self.asked, self._is_short, strict=True)
        ]
        found = sum(drop and label for drop, label in zip(dropped, labels, strict=True))
        return Outcome(bands, rows, threshold, found, sum(labels) - found, sum(dropped) - found)


def _agreement(a: Question, b: Question) -> int:
    if a.digest == b.digest:
        return _EXACTLY
    if not (a.signature and b.signature):
        return _NOT_ASKED
    if all(x != y for x, y in zip(a.bands, b.bands, strict=True)):
        return _NO_BAND
    return int(np.count_nonzero(np.frombuffer(a.signature, np.uint8) == np.frombuffer(b.signature, np.uint8)))


def report(found: Evaluation) -> Iterator[str]:
    """The evaluation for people, line by line."""
    yield f"{number_of(found.pairs, 'pair')}, {found.duplicates:,} of them labelled as duplicates"
    yield f"  {found.exact:,} are the same text; {found.unasked:,} are compared exactly only (NEARDUP_MIN_SHINGLES)"
    now = found.current
    yield f"\nAs it is set: {now.settings()}"
    yield f"  {_shares(now)}; {now.false:,} of {found.pairs - found.duplicates:,} others dropped"
    yield f"\n{now.bands} × {now.rows} bands by threshold"
    for outcome in found.outcomes[now.bands, now.rows][::5]:
        yield f"  {outcome.threshold:.2f}  {_shares(outcome)}"
    yield "\nBest threshold by bands × rows; a pair of similarity 0.6 | 0.8 is compared at all; bytes a document"
    for (bands, rows), outcomes in found.outcomes.items():
        outcome = best_of(outcomes)
        compared = " | ".join(f"{candidate_probability(s, bands, rows):.0%}" for s in (0.6, 0.8))
        size = outcome.bytes_a_document
        yield f"  {bands:2} × {rows:2}  {outcome.threshold:.2f}  {_shares(outcome)}  {compared}  {size}"
    yield f"\nBest on these pairs: {found.best.settings()}"
    yield f"  {_shares(found.best)}"
    yield "  Confirm it on held-out pairs; an index made with other bands has to be rebuilt."
    if found.is_thin:
        yield f"  Fewer than {FEW} pairs of one kind: the shares above may be chance."


def _shares(outcome: Outcome) -> str:
    return f"precision {outcome.precision:.3f}, recall {outcome.recall:.3f}, F1 {outcome.f1:.3f}"
