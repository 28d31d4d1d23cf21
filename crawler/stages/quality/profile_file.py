"""Quality profiles of one's own are read from a YAML file (QUALITY_PROFILES_FILE), every problem with its line.

A profile is based on a built-in one and changes thresholds of rule sets (named `rule_set.field`, as `scrapy diagnose`
names them), bounds of the score, and what a text has to have. The file is read as nodes: no tags, nothing executed.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from crawler.config.text import PROFILE_NAMES
from crawler.stages.quality.legal import FIELDS as LEGAL_FIELDS
from crawler.stages.quality.rules import rule_sets
from crawler.stages.quality.rules.base import RuleSet
from crawler.stages.quality.rules.profiles import rules_for
from crawler.stages.quality.score import PROFILES, Band, Profile, Requirement

MAX_FILE_BYTES = 2**20
EXPECTED = "expected a mapping of names to profiles, such as 'minutes:' with 'based_on: prose' below it"
_KEYS = ("based_on", "thresholds", "score", "require")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_FIELD = re.compile(r"([\w-]{1,40})\.(\w{1,60})(?:\[(\d{1,3})\])?")
_NULL = "tag:yaml.org,2002:null"
_TRUE, _FALSE = {"true", "yes", "on"}, {"false", "no", "off"}


class ProfileFileError(ValueError):
    """The file cannot be used. `problems` holds one sentence each: file, line, what was expected."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@dataclass(frozen=True, slots=True)
class OwnProfile:
    """One profile of the file: the built-in one it is based on, its rule sets, and its score with requirements."""

    based_on: str
    rules: dict[str, RuleSet]
    profile: Profile


def read_profiles(path: str | None) -> dict[str, OwnProfile]:
    """Every profile of the file by its name; none without a file.

    Raises: ProfileFileError that lists every problem.
    """
    if not path:
        return {}
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ProfileFileError([f"{path}: expected a readable YAML file: {error.strerror}"]) from None
    if len(data) > MAX_FILE_BYTES:
        raise ProfileFileError([f"{path}: {len(data)} bytes, expected at most {MAX_FILE_BYTES}"])
    reader = _Reader(path)
    profiles = reader.read(data)
    if reader.problems:
        raise ProfileFileError(reader.problems)
    return profiles


class _Reader:
    """Walks the nodes of the file and collects problems with their lines."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[str] = []

    def read(self, data: bytes) -> dict[str, OwnProfile]:
        try:
            root = yaml.compose(data.decode("utf-8-sig"), Loader=yaml.SafeLoader)
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            self.problems.append(f"{self.name}:{line}: expected UTF-8: save the file in that encoding")
            return {}
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark else 1
            self.problems.append(f"{self.name}:{line}: expected YAML: {getattr(error, 'problem', None) or error}")
            return {}
        if not isinstance(root, yaml.MappingNode) or not root.value:
            self.problems.append(f"{self.name}:1: {EXPECTED}")
            return {}
        return dict(self._profiles(root))

    def _profiles(self, root: yaml.MappingNode) -> Iterator[tuple[str, OwnProfile]]:
        for name, key, node in self._items(root):
            if name in (*PROFILE_NAMES, "auto"):
                self._problem(key, f"{name}: is built in; choose another name and write 'based_on: {name}'")
            elif not _NAME.fullmatch(name):
                self._problem(key, f"{name[:50]!r}: expected a name of small letters, digits, - and _")
            elif not isinstance(node, yaml.MappingNode):
                self._problem(node, f"{name}: {EXPECTED}")
            else:
                yield name, self._profile(name, node)

    def _profile(self, name: str, node: yaml.MappingNode) -> OwnProfile:
        parts = {key: (key_node, value) for key, key_node, value in self._items(node)}
        for key, (key_node, _) in parts.items():
            if key not in _KEYS:
                self._problem(key_node, f"{key[:50]}: unknown key{_near(key, _KEYS)}; known: {', '.join(_KEYS)}")
        based_on = self._base(parts.get("based_on"))
        base = PROFILES[based_on]
        rules = rules_for(based_on, rule_sets())
        bands = dict(base.bands)
        requires = {one.name: one for one in base.requires}
        for key, key_node, value in self._below(parts, "thresholds"):
            self._threshold(rules, key, key_node, value)
        for key, key_node, value in self._below(parts, "score"):
            self._band(bands, key, key_node, value)
        for key, key_node, value in self._below(parts, "require"):
            self._requirement(requires, key, key_node, value)
        return OwnProfile(based_on, rules, replace(base, name=name, bands=bands, requires=tuple(requires.values())))

    def _base(self, part: tuple[yaml.Node, yaml.Node] | None) -> str:
        if part is None:
            return "prose"
        node = part[1]
        if isinstance(node, yaml.ScalarNode) and node.value in PROFILE_NAMES:
            return str(node.value)
        self._problem(node, f"based_on: expected one of {', '.join(PROFILE_NAMES)}")
        return "prose"

    # --- thresholds ---------------------------------------------------------------------------------------------------
    def _threshold(self, rules: dict[str, RuleSet], key: str, key_node: yaml.Node, node: yaml.Node) -> None:
        found = _FIELD.fullmatch(key)
        rule_set = rules.get(found[1]) if found else None
        names = [f.name for f in dataclasses.fields(rule_set)] if rule_set else []
        if found is None or rule_set is None or found[2] not in names:
            self._problem(key_node, f"{key[:80]}: unknown threshold{_near(key, _every_threshold())}")
            return
        try:
            changed = _changed(rule_set, found[2], found[3], _scalar(node))
        except ValueError as error:
            self._problem(node, f"{key}: {error}")
            return
        rules[found[1]] = changed

    # --- the score ----------------------------------------------------------------------------------------------------
    def _band(self, bands: dict[str, Band], key: str, key_node: yaml.Node, node: yaml.Node) -> None:
        known = sorted({name for profile in PROFILES.values() for name in profile.bands})
        if key not in known:
            self._problem(key_node, f"{key[:80]}: no signal of the score{_near(key, known)}; known: {', '.join(known)}")
        elif node.tag == _NULL:
            bands.pop(key, None)
        elif isinstance(node, yaml.MappingNode):
            numbers = self._numbers(key, node, ("low_bad", "low_good", "high_good", "high_bad", "weight"))
            band = replace(bands.get(key) or _any_band(key), **numbers)
            if band.low_bad < band.low_good <= band.high_good and not band.high_bad <= band.high_good < math.inf:
                bands[key] = band
            else:
                self._problem(node, f"{key}: expected low_bad < low_good <= high_good < high_bad, found {band}")
        else:
            self._problem(
                node, f"{key}: expected bounds such as {{high_good: 0.1, high_bad: 0.3}}, or null to leave it out"
            )

    # --- what a text has to have --------------------------------------------------------------------------------------
    def _requirement(self, requires: dict[str, Requirement], key: str, key_node: yaml.Node, node: yaml.Node) -> None:
        if key in LEGAL_FIELDS:
            values = self._words(key, node)
            if values:
                requires[key] = Requirement(key, among=values)
        elif not re.fullmatch(r"[a-z][a-z0-9_]{0,60}", key):
            self._problem(
                key_node, f"{key[:80]!r}: expected the name of a quality signal or one of {', '.join(LEGAL_FIELDS)}"
            )
        elif isinstance(node, yaml.MappingNode):
            numbers = self._numbers(key, node, ("minimum", "maximum"))
            requires[key] = Requirement(key, numbers.get("minimum"), numbers.get("maximum"))
        else:
            self._problem(node, f"{key}: expected {{minimum: …}} or {{maximum: …}}")

    def _words(self, key: str, node: yaml.Node) -> tuple[str, ...]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if nodes and all(isinstance(item, yaml.ScalarNode) and item.value for item in nodes):
            return tuple(str(item.value) for item in nodes)
        self._problem(node, f"{key}: expected a value or a list of values, such as [opinion, statute]")
        return ()

    def _numbers(self, key: str, node: yaml.MappingNode, known: tuple[str, ...]) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, key_node, value in self._items(node):
            if name not in known:
                self._problem(key_node, f"{key}.{name[:50]}: unknown{_near(name, known)}; known: {', '.join(known)}")
                continue
            try:
                found[name] = _number(_scalar(value))
            except ValueError as error:
                self._problem(value, f"{key}.{name}: {error}")
        return found

    # --- nodes --------------------------------------------------------------------------------------------------------
    def _below(
        self, parts: dict[str, tuple[yaml.Node, yaml.Node]], key: str
    ) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        if key not in parts:
            return
        node = parts[key][1]
        if isinstance(node, yaml.MappingNode):
            yield from self._items(node)
        else:
            self._problem(node, f"{key}: expected a mapping of names to values")

    def _items(self, node: yaml.MappingNode) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._problem(key, "a key has to be a plain word")
            elif key.value in seen:
                self._problem(key, f"{key.value[:80]}: given twice")
            else:
                seen.add(key.value)
                yield str(key.value), key, value

    def _problem(self, node: yaml.Node, text: str) -> None:
        self.problems.append(f"{self.name}:{node.start_mark.line + 1}: {text}")


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


def _scalar(node: yaml.Node) -> str | None:
    """The text of a single value; None for null. Raises: ValueError for anything else."""
    if not isinstance(node, yaml.ScalarNode):
        raise ValueError("expected a single value")  # noqa: TRY004  # the file is wrong, not the program
    return None if node.tag == _NULL else str(node.value)


def _number(text: str | None) -> float:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"expected a number, found {text!r}")
    return value


def _boolean(text: str | None) -> bool:
    lowered = (text or "").lower()
    if lowered not in _TRUE | _FALSE:
        raise ValueError("expected true or false")
    return lowered in _TRUE


def _every_threshold() -> list[str]:
    return [f"{name}.{f.name}" for name, rules in rule_sets().items() for f in dataclasses.fields(rules)]


def _any_band(key: str) -> Band:
    return next(profile.bands[key] for profile in PROFILES.values() if key in profile.bands)


def _near(text: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(text, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
