"""`gristmill diagnose` asks here: every threshold that decides on a text, and which of them a record misses.

Works on stored records alone: the stages leave what they measured in `quality_signals` and beside it, so the decision
can be taken again with other limits. Texts are not needed, and nothing is fetched or extracted again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crawler.config import Config
from crawler.document import DropReason, Reason
from crawler.stages.language.codes import Scores
from crawler.stages.quality.near_misses import DROP, PROBABILITY, shipped
from crawler.stages.quality.profile_file import read_profiles
from crawler.stages.quality.rules.base import RuleSet, limits_of
from crawler.stages.quality.rules.profiles import rules_for
from crawler.stages.text.words import ruled_by

Record = Mapping[str, Any]
R = DropReason


@dataclass(frozen=True, slots=True)
class Threshold:
    """One threshold as it stands. `setting` is a setting's name, or `rule_set.field` where a rule set holds it.

    value: the name of the measured value. above: True where values above the limit are dropped, else those below.
    profile: whose thresholds these are; empty for settings that hold for all. final: no later stage of the text has
    its say once this one is passed; personal data and duplicates always have. most: above it no value lies; None =
    nobody knows. movable: somebody can set it.
    """

    setting: str
    value: str
    above: bool
    limit: float
    reason: Reason
    profile: str = ""
    final: bool = True
    most: float | None = None
    movable: bool = True

    def is_missed_by(self, value: float, limit: float | None = None) -> bool:
        """True where a value is on the wrong side of the limit (or of another one), as the stages compare."""
        bound = self.limit if limit is None else limit
        return value > bound if self.above else value < bound

    def distance(self, value: float) -> float:
        """How far beyond the limit, as a share of it; of 1 where the limit is 0."""
        return abs(value - self.limit) / (abs(self.limit) or 1.0)


def _near(profile: str) -> Threshold:
    return Threshold("near a limit", PROBABILITY, False, DROP, R.UNLIKE_TEXT, profile, most=1.0, movable=False)


@dataclass(frozen=True, slots=True)
class Miss:
    """One record on the wrong side of one limit."""

    limit: Threshold
    value: float


class Thresholds:
    """Every limit of one configuration."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._own = read_profiles(config.quality.profiles_file)
        self._rules: dict[tuple[str, str], list[Threshold]] = {}

    def of_quality(self, profile: str, language: str = "") -> list[Threshold]:
        """The limits of the quality stage for a profile and a language, in the order they decide."""
        key = profile, language
        if key not in self._rules:
            minimum = self._config.quality.min_score
            score = Threshold("QUALITY_MIN_SCORE", "quality_score", False, minimum, R.LOW_QUALITY, most=1.0)
            names = self._config.quality.rules
            own = self._own.get(profile)
            rules = own.rules_for(names, language) if own else rules_for(profile, names, language)
            base = own.based_on if own else profile
            near = [_near(profile)] if base == "prose" and language in shipped().languages else []
            self._rules[key] = [*_rule_limits(profile, rules), *near, score]
        return self._rules[key]

    def of_record(self, record: Record) -> list[Threshold]:
        """The limits that judged a record with quality signals. Raises: KeyError for a profile that nobody knows."""
        language = ruled_by(record.get("language"), record.get("language_script"))
        return self.of_quality(str(record["quality_signals"]["profile"]), language)

    def misses(self, record: Record) -> list[Miss] | None:
        """What a record misses, the deciding limit first; None where something else than a number stands against it.

        A record that no stage of the text has seen (policy, fetch, no text) has no numbers to miss.
        """
        reason = record.get("reason") or ""
        if reason == R.TOO_SHORT:
            minimum = self._config.extraction.min_words
            return _missed(
                [Threshold("EXTRACTION_MIN_WORDS", "word_count", False, minimum, R.TOO_SHORT, final=False)], record
            )
        if reason == R.LANGUAGE_LOW_SCORE:
            return _missed([self._of_language(record)], record)
        signals = record.get("quality_signals") or {}
        if "profile" not in signals or not Reason.of(reason).measured:
            return None  # no threshold brings such a page back
        if "c4" in self._config.quality.rules and "c4_sentences" not in signals:
            return None  # condemned by a word or a bracket before anything was counted
        return _missed(self.of_record(record), {**record, **signals})

    def _of_language(self, record: Record) -> Threshold:
        language = str(record.get("language") or "")
        config = self._config.language
        own = Scores(config.min_score, config.min_scores).own(language, record.get("language_script"))
        name = "LANGUAGE_MIN_SCORE" if own is None else f"LANGUAGE_MIN_SCORES {language}"
        minimum = config.min_score if own is None else own
        return Threshold(name, "language_score", False, minimum, R.LANGUAGE_LOW_SCORE, final=False)


def _missed(limits: list[Threshold], values: Record) -> list[Miss]:
    found = ((limit, values.get(limit.value)) for limit in limits)
    return [Miss(limit, value) for limit, value in found if value is not None and limit.is_missed_by(value)]


def _rule_limits(profile: str, rule_sets: Mapping[str, RuleSet]) -> Iterator[Threshold]:
    """The limits that the rule sets declare, without those that are off."""
    for name, rules in rule_sets.items():
        for bound in limits_of(rules):
            if bound.value is not None:
                most = 1.0 if bound.unit.startswith("share of") else None
                setting, value = f"{name}.{bound.field}", bound.value
                yield Threshold(setting, bound.signal, bound.above, value, bound.reason, profile, most=most)
