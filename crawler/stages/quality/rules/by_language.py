"""The quality rules have other limits in languages for which the English ones are wrong.

FineWeb-2 publishes limits by language (`language_limits.txt`). Of its limit and that of the profile the looser one
holds, and none is looser than half as much again (`MOST`): some of its languages had few pages. The profile
`datatrove`, and what a profile of one's own sets itself, stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

from crawler.stages.quality.rules.base import RuleSet
from crawler.stages.text.tables import sections

MOST = 1.5
"""How many times as loose as the profile's a limit can be that drops what is above it."""
_COLUMNS = (
    "punct",
    "lines",
    *(f"top{n}" for n in (2, 3, 4)),
    *(f"dup{n}" for n in range(5, 11)),
    "breaks",
    "least",
    "most",
)
_FIELDS = {
    ("fineweb", "min_punctuated_lines"): "punct",
    ("fineweb", "max_newlines_a_token"): "breaks",
    ("gopher_repetition", "max_duplicate_lines"): "lines",
    ("gopher_repetition", "top_n_grams"): "top",
    ("gopher_repetition", "duplicate_n_grams"): "dup",
    ("gopher_quality", "min_mean_word_length"): "least",
    ("gopher_quality", "max_mean_word_length"): "most",
}


@cache
def _limits() -> dict[str, dict[str, float]]:
    """Language → column → limit."""
    rows = map(str.split, sections("crawler.stages.quality", "language_limits.txt")[""])
    return {
        language: {name: float(value) for name, value in zip(_COLUMNS, values, strict=True) if value != "-"}
        for language, *values in rows
    }


def languages() -> frozenset[str]:
    """Those with limits of their own, ISO 639-1."""
    return frozenset(_limits())


def for_language(rules: Mapping[str, RuleSet], language: str, base: Mapping[str, RuleSet]) -> dict[str, RuleSet]:
    """The rule sets with the limits of a language (ISO 639-1), where they are still those of `base`."""
    limits = _limits().get(language)
    if limits is None:
        return dict(rules)
    return {name: _changed(name, one, base.get(name, one), limits) for name, one in rules.items()}


def _changed(name: str, rules: RuleSet, base: RuleSet, limits: Mapping[str, float]) -> RuleSet:
    changes = {
        f.name: new
        for f in fields(rules)
        if (column := _FIELDS.get((name, f.name))) and getattr(rules, f.name) == getattr(base, f.name)
        if (new := _looser(getattr(rules, f.name), column, limits)) is not None
    }
    return replace(rules, **changes)


def _looser(value: Any, column: str, limits: Mapping[str, float]) -> Any:
    """The limit of the profile or of the language, whichever drops less; None where nothing changes."""
    if isinstance(value, tuple):
        return tuple((n, _above(bound, limits.get(f"{column}{n}", bound))) for n, bound in value)
    if value is None or column not in limits:
        return None
    return min(value, limits[column]) if column in ("punct", "least") else _above(value, limits[column])


def _above(value: float, other: float) -> float:
    return max(value, min(other, round(MOST * value, 4)))
