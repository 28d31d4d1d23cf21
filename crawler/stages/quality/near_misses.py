"""A page near a limit is judged by all of its numbers together: how probable is it that a reader would call it text?

A limit that one number misses by a hair says little. Within a band around the limits a model decides: a page
that misses some of them is kept where it is probable (`KEEP`), a page that meets all of them is dropped where it is
improbable (`DROP`). Beyond the band the limits decide alone, and so they do under some profiles (`UNFITTED`).

The model (`near_misses.json`) is additive: each signal has a piecewise linear curve, and what a page's value adds is
its part in the verdict. `python -m bench.quality.near_misses` fits it to texts that people marked and to junk of the
same and of other sites, and says how often it is right on sites that it has not seen. No signal in it depends on the
words of one language.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from crawler.document import DropReason
from crawler.stages.quality.rules.base import Failure, Findings, Limit, RuleSet

MISSED_BY = 12.0
"""How many times the limit's the odds of a share may be that misses it, and is near; of what is no share: the value."""
MET_BY = 2.0
"""The same on the other side of a limit."""
KEEP = 0.3
"""Probability from which a page is kept that misses limits, and none by more than `MISSED_BY`. The model was fitted to
five times as much junk as text; what an extractor gives is mostly text."""
DROP = 0.05
"""Probability under which a page of prose is dropped that meets all limits, and one by less than `MET_BY`. Only in the
languages that most of the texts are in: others have other marks and lines."""
PROBABILITY = "text_probability"
"""What the record calls it."""
PARTS = 3
"""Signals that the record and the detail name, those that say most."""
SETS = frozenset({"gopher_repetition", "gopher_quality", "fineweb"})
"""Rule sets whose limits have a band; those that cut lines, or are another package's, decide as they did."""
UNFITTED = frozenset({"datatrove", "slides"})
"""Profiles that decide alone: the oracle's, and one of texts that the model has not seen."""
HARD = frozenset({"gopher_words", "gopher_mean_word_length"})
"""Signals whose limits have no band: how long a text is says a setting, and words are not half as long again."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What a signal adds to the log odds: linear between `knots`, constant beyond them; `values` stand at the knots."""

    knots: tuple[float, ...]
    values: tuple[float, ...]

    def at(self, value: float) -> float:
        """What this value adds."""
        knots, values = self.knots, self.values
        if value <= knots[0]:
            return values[0]
        for i in range(1, len(knots)):
            if value <= knots[i]:
                share = (value - knots[i - 1]) / (knots[i] - knots[i - 1])
                return values[i - 1] + share * (values[i] - values[i - 1])
        return values[-1]


@dataclass(frozen=True, slots=True)
class TextModel:
    """Log odds that a page is text: the sum of what its signals add. One that was not measured adds nothing."""

    base: float
    curves: Mapping[str, Curve]
    languages: frozenset[str] = frozenset()
    """ISO 639-1 codes of those in which it was fitted to many texts."""

    def parts(self, signals: Mapping[str, object]) -> dict[str, float]:
        """What each signal adds, in log odds."""
        return {
            name: curve.at(value)
            for name, curve in self.curves.items()
            if isinstance(value := signals.get(name), int | float)
        }

    def probability(self, parts: Mapping[str, float]) -> float:
        """0 to 1, of a page with these parts."""
        return 1 / (1 + math.exp(-max(-700.0, min(700.0, self.base + sum(parts.values())))))


@cache
def shipped() -> TextModel:
    """The model of `near_misses.json`."""
    read = json.loads(resources.files(__package__).joinpath("near_misses.json").read_text("utf-8"))
    curves = {name: Curve(*map(tuple, curve)) for name, curve in read["curves"].items()}
    return TextModel(read["base"], curves, frozenset(read["languages"]))


@dataclass(frozen=True, slots=True)
class NearMisses:
    """Asks the model where a page is near a limit. `model` None: never."""

    model: TextModel | None

    def judge(
        self,
        judged: Sequence[tuple[RuleSet, Findings]],
        signals: dict[str, object],
        skipped: dict[str, str],
        language: str,
        profile: str,
    ) -> Failure | None:
        """The first failure that stays, or that of a page which no rule fails; what is forgiven goes to `skipped`.

        `signals` of the page lose what is forgiven, as what no rule has measured, and get the probability. `language`:
        ISO 639-1. `profile`: the built-in one that the page's is based on.
        """
        failure = next((found.failure for _, found in judged if found.failure is not None), None)
        missed = [miss for rules, found in judged for miss in found.missed_by(rules)]
        if self.model is None or profile in UNFITTED or any(_is_final(rules, found) for rules, found in judged):
            return failure
        if not all(_is_near(bound, value, MISSED_BY) for bound, value in missed):
            return failure
        if failure is None and not self._may_drop(judged, language, profile):
            return None
        parts = self.model.parts(signals)
        probability = round(self.model.probability(parts), 4)
        signals[PROBABILITY] = probability
        if failure is None:
            said = f"{PROBABILITY} {probability:.3f} < {DROP:g}: {_strongest(parts)}"
            return Failure(DropReason.UNLIKE_TEXT, said) if probability < DROP else None
        if probability < KEEP:
            return failure
        for bound, value in reversed(missed):  # of several with one reason the first is said, which decided
            signals.pop(bound.signal, None)
            skipped[bound.reason.value] = f"{bound.detail(value)}, but it is text with probability {probability:.2f}"
        return None

    def _may_drop(self, judged: Sequence[tuple[RuleSet, Findings]], language: str, profile: str) -> bool:
        if self.model is None or language not in self.model.languages or profile != "prose":
            return False
        measured = (one for rules, found in judged if rules.name in SETS for one in found.measured_by(rules))
        return any(_is_near(bound, value, MET_BY) for bound, value in measured)


def _is_final(rules: RuleSet, found: Findings) -> bool:
    """True for a failure of another set, and for one that no number stands for: no line has text."""
    if found.failure is None:
        return False
    return rules.name not in SETS or not found.missed_by(rules)


def _is_near(bound: Limit, value: float, band: float) -> bool:
    """True where a value is within the band, on whichever side of the limit it is."""
    if bound.value is None or bound.signal in HARD:
        return False
    at, limit = (_odds(value), _odds(bound.value)) if bound.unit.startswith("share of") else (value, bound.value)
    return limit <= at * band and at <= limit * band


def _odds(share: float) -> float:
    return share / (1 - share) if share < 1 else math.inf


def _strongest(parts: Mapping[str, float]) -> str:
    """The signals that say most against a page."""
    ordered = sorted(parts.items(), key=lambda part: part[1])[:PARTS]
    return ", ".join(f"{name} {value:+.1f}" for name, value in ordered)
