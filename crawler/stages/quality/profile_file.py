"""Quality profiles of one's own are read from a YAML file (QUALITY_PROFILES_FILE), every problem with line and column.

A profile is based on a built-in one and changes thresholds of rule sets (named `rule_set.field`, as `diagnose`
names them), bounds of the score, and what a text has to have. One that bears the name of a built-in profile takes its
place wherever that is chosen, by a page, too.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crawler.config import yaml_file
from crawler.config.text import PROFILE_NAMES
from crawler.config.yaml_file import Value
from crawler.problems import did_you_mean
from crawler.stages.quality.legal import FIELDS as LEGAL_FIELDS
from crawler.stages.quality.rules import rule_sets
from crawler.stages.quality.rules.base import RuleSet
from crawler.stages.quality.rules.by_language import for_language
from crawler.stages.quality.rules.profiles import rules_for
from crawler.stages.quality.score import PROFILES, Band, Profile, Requirement

MAX_FILE_BYTES = 2**20
EXPECTED = "expected a mapping of names to profiles, such as 'minutes:' with 'based_on: prose' below it"
_FIXED = ("auto", "datatrove")
"""Names that nobody takes: the choice by the page, and the limits as papers and datatrove have them."""
_KEYS = ("based_on", "thresholds", "score", "require")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_FIELD = re.compile(r"([\w-]{1,40})\.(\w{1,60})(?:\[(\d{1,3})\])?")
_BOUNDS = "expected bounds such as {high_good: 0.1, high_bad: 0.3}, or null to leave it out"
_TRUE, _FALSE = {"true", "yes", "on"}, {"false", "no", "off"}


@dataclass(frozen=True, slots=True)
class OwnProfile:
    """One profile of the file: the built-in one it is based on, its rule sets, and its score with requirements."""

    based_on: str
    rules: dict[str, RuleSet]
    profile: Profile

    def rules_for(self, names: Iterable[str], language: str) -> dict[str, RuleSet]:
        """The named rule sets, with the limits of a language where the file sets none."""
        rules = {name: self.rules[name] for name in names}
        return rules if self.based_on == "datatrove" else for_language(rules, language, rules_for(self.based_on, rules))


def read_profiles(path: str | None) -> dict[str, OwnProfile]:
    """Every profile of the file by its name; none without a file.

    Raises: InputError that lists every problem.
    """
    return yaml_file.read(Path(path), _profiles, most=MAX_FILE_BYTES, what="a readable YAML file") if path else {}


def _profiles(root: Value) -> dict[str, OwnProfile]:
    profiles = {}
    for name, value in root.items(EXPECTED):
        if name in _FIXED:
            value.key_problem("is built in and stays as it is; choose another name")
        elif not _NAME.fullmatch(name):
            value.key_problem("expected a name of small letters, digits, - and _")
        elif not value.is_mapping:
            value.problem(EXPECTED)
        else:
            profiles[name] = _profile(name, value)
    if not profiles and not root.count:
        root.problem(EXPECTED)
    return profiles


def _profile(name: str, value: Value) -> OwnProfile:
    parts = value.mapping(_KEYS)
    usual = name if name in PROFILE_NAMES else "prose"
    based_on = parts["based_on"].text(_base) or usual if "based_on" in parts else usual
    if name in PROFILE_NAMES and based_on != name:
        parts["based_on"].problem(f"expected {name}: a profile with the name of a built-in one changes that one")
    base = PROFILES[based_on]
    rules = rules_for(based_on, rule_sets())
    bands = dict(base.bands)
    requires = {one.name: one for one in base.requires}
    for key, below in _below(parts, "thresholds"):
        _threshold(rules, key, below)
    for key, below in _below(parts, "score"):
        _band(bands, key, below)
    for key, below in _below(parts, "require"):
        _requirement(requires, key, below)
    return OwnProfile(based_on, rules, replace(base, name=name, bands=bands, requires=tuple(requires.values())))


def _base(text: str) -> str:
    if text not in PROFILE_NAMES:
        raise ValueError(f"expected one of {', '.join(PROFILE_NAMES)}")
    return text


def _below(parts: dict[str, Value], key: str) -> Iterator[tuple[str, Value]]:
    return parts[key].items("expected a mapping of names to values") if key in parts else iter(())


def _threshold(rules: dict[str, RuleSet], key: str, value: Value) -> None:
    found = _FIELD.fullmatch(key)
    rule_set = rules.get(found[1]) if found else None
    names = [f.name for f in dataclasses.fields(rule_set)] if rule_set else []
    if found is None or rule_set is None or found[2] not in names:
        value.key_problem(f"unknown threshold{did_you_mean(key, _every_threshold())}")
        return
    changed = value.text(lambda text: _changed(rule_set, found[2], found[3], None if value.is_null else text))
    if changed is not None:
        rules[found[1]] = changed


def _band(bands: dict[str, Band], key: str, value: Value) -> None:
    known = sorted({name for profile in PROFILES.values() for name in profile.bands})
    if key not in known:
        value.key_problem(f"no signal of the score{did_you_mean(key, known)}")
    elif value.is_null:
        bands.pop(key, None)
    else:
        numbers = _numbers(value, ("low_bad", "low_good", "high_good", "high_bad", "weight"), _BOUNDS)
        band = replace(bands.get(key) or _any_band(key), **numbers)
        if band.low_bad < band.low_good <= band.high_good and not band.high_bad <= band.high_good < math.inf:
            bands[key] = band
        else:
            value.problem(f"expected low_bad < low_good <= high_good < high_bad, found {band}")


def _requirement(requires: dict[str, Requirement], key: str, value: Value) -> None:
    if key in LEGAL_FIELDS:
        words = [item.text(_word) for item in value.one_or_more()]
        requires[key] = Requirement(key, among=tuple(word for word in words if word))
    elif not re.fullmatch(r"[a-z][a-z0-9_]{0,60}", key):
        value.problem(f"expected the name of a quality signal or one of {', '.join(LEGAL_FIELDS)}")
    else:
        numbers = _numbers(value, ("minimum", "maximum"), "expected {minimum: …} or {maximum: …}")
        requires[key] = Requirement(key, numbers.get("minimum"), numbers.get("maximum"))


def _numbers(value: Value, known: tuple[str, ...], expected: str) -> dict[str, float]:
    found = {name: below.text(_number) for name, below in value.mapping(known, expected).items()}
    return {name: number for name, number in found.items() if number is not None}


def _changed(rules: RuleSet, name: str, n: str | None, text: str | None) -> RuleSet:
    """The rule set with one field set. Raises: ValueError saying what was expected."""
    old = getattr(rules, name)
    default = next(f.default for f in dataclasses.fields(rules) if f.name == name)
    new: Any
    if isinstance(default, tuple):
        new = _with_n(old, n, text)
    elif n is not None:
        raise ValueError("has no [n]")
    elif isinstance(default, bool):
        new = _boolean(text)
    elif text is None:
        new = None
    else:
        new = _number(text)
        new = int(new) if isinstance(default, int) and new == int(new) else new
    if new is not None and not isinstance(default, bool) and not isinstance(new, tuple) and new < 0:
        raise ValueError("expected a number from 0 up, or null to switch the rule off")
    return replace(rules, **{name: new})


def _with_n(pairs: tuple[tuple[int, float], ...], n: str | None, text: str | None) -> tuple[tuple[int, float], ...]:
    if n is None:
        if text is None:
            return ()
        raise ValueError("expected [n] behind the name, such as [5], or null to switch the rule off")
    known = dict(pairs)
    if int(n) not in known:
        raise ValueError(f"expected n out of {', '.join(map(str, known))}")
    if text is None:
        return tuple((k, v) for k, v in pairs if k != int(n))
    return tuple((k, _number(text) if k == int(n) else v) for k, v in pairs)


def _number(text: str | None) -> float:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError("expected a number")
    return value


def _word(text: str) -> str:
    if not text:
        raise ValueError("expected a value or a list of values, such as [opinion, statute]")
    return text


def _boolean(text: str | None) -> bool:
    lowered = (text or "").lower()
    if lowered not in _TRUE | _FALSE:
        raise ValueError("expected true or false")
    return lowered in _TRUE


def _every_threshold() -> list[str]:
    return [f"{name}.{f.name}" for name, rules in rule_sets().items() for f in dataclasses.fields(rules)]


def _any_band(key: str) -> Band:
    return next(profile.bands[key] for profile in PROFILES.values() if key in profile.bands)
