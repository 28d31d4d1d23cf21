"""Trigger words find the rules for identity numbers, and each rule its recogniser.

A number without letters is only personal data where a word says so: every rule here asks for its trigger on the page
and, where one exists, for a check digit. Rules with `weak=True` have neither letters nor check digit: the number must
follow its word directly.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from crawler.stages.pii.id_rules import ID_RULES, IdRule
from crawler.stages.pii.presidio import presidio, recogniser

TRIGGERS: dict[str, tuple[IdRule, ...]] = {
    word: tuple(rule for rule in ID_RULES if word in rule.triggers) for rule in ID_RULES for word in rule.triggers
}
"""Rules by trigger word."""


@cache
def recogniser_of(rule: IdRule) -> Any:
    """The Presidio recogniser of a rule, made on first use and kept for the life of the process."""
    if rule.recogniser:
        return recogniser(rule.recogniser, supported_entity=rule.entity)
    pattern = presidio().Pattern(rule.entity, rule.pattern, 0.5)
    return presidio().PatternRecognizer(rule.entity, patterns=[pattern])
