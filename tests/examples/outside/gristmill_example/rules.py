"""A rule set: a page whose words are mostly in capitals shouts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crawler.document import DropReason
from crawler.stages.quality.rules.base import Findings, Page, RuleSet, limit, reason

SHOUTING = reason("shouting", "Most of the words are in capitals.")


@dataclass(frozen=True, slots=True)
class Shouting(RuleSet):
    """Share of the words, split at white space, that are in capitals. `None` switches the rule off."""

    name: ClassVar[str] = "shouting"
    source: ClassVar[str] = "an example"
    reasons: ClassVar[tuple[DropReason, ...]] = (SHOUTING,)

    max_capitals: float | None = limit(0.5, ("capital_words", SHOUTING), above=True, unit="share of words")

    def judge(self, page: Page) -> Findings:
        """Measure, then decide."""
        found, words = Findings(), page.text.split()
        found.measure("capital_words", sum(map(str.isupper, words)) / max(len(words), 1))
        return found.decide(self)


RULES = Shouting()
