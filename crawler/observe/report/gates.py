"""Gates are bounds on the accounts of a corpus, read from a file: what is out of bounds is named, for CI and cron jobs.

Format: docs/report.md, example: docs/examples/gates.yaml. Nothing in the file is executed.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from crawler.config.yaml_file import load_yaml
from crawler.observe.report.accounts import BY, Account, Books
from crawler.observe.report.balance import Balance
from crawler.observe.report.concentration import LARGEST
from crawler.observe.report.figures import FIGURES, PII, figure_of

MAX_FILE_BYTES = 2**16
WHOLE = "whole"
_KEYS = ("min", "max", "at_least", "missing", "only", "except")
CONCENTRATION = (
    *(f"top{count}_{of}" for of in ("documents", "tokens") for count in LARGEST),
    *(f"{name}_{of}" for of in ("documents", "tokens") for name in ("hhi", "gini")),
    "target_distance",
)
"""Figures of the whole corpus that no group has."""


class GatesError(ValueError):
    """The file cannot be used. `problems` holds one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@dataclass(frozen=True, slots=True)
class Gate:
    """Bounds on one figure. of: `whole` or a grouping.

    at_least: requests from which a group is looked at. missing: what to do where there is no figure, "fail" or "pass".
    only, but_not: names of groups; no `only` = all.
    """

    of: str
    figure: str
    low: float = -math.inf
    high: float = math.inf
    at_least: int = 0
    missing: str = "fail"
    only: tuple[str, ...] = ()
    but_not: tuple[str, ...] = ()

    def holds(self, value: float | None) -> bool:
        """True where the value is within its bounds, both of them included."""
        return self.missing == "pass" if value is None else self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Breach:
    """One value out of its bounds."""

    gate: Gate
    name: str
    value: float | None

    def __str__(self) -> str:
        """The sentence that names it."""
        of = self.name if self.gate.of == WHOLE else f"{self.gate.of} {self.name}"
        where = f"{of}: {self.gate.figure}"
        if self.value is None:
            return f"{where} has no value (`missing: pass` in the gates lets that go)"
        bound, word = (self.gate.low, "minimum") if self.value < self.gate.low else (self.gate.high, "maximum")
        side = "below" if word == "minimum" else "above"
        return f"{where} is {self.value:.6g}, {side} the {word} {bound:g}"


def read(path: Path) -> list[Gate]:
    """Read and check the file. Raises: GatesError that lists every problem."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise GatesError([f"{path}: expected a readable file: {error.strerror}"]) from None
    if len(data) > MAX_FILE_BYTES:
        raise GatesError([f"{path}: {len(data)} bytes, expected at most {MAX_FILE_BYTES}"])
    try:
        content = load_yaml(data)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise GatesError([f"{path}: expected YAML: {' '.join(str(error).split())[:300]}"]) from None
    problems: list[str] = []
    found = list(_gates(content, problems))
    if not found and not problems:
        problems.append("expected at least one gate, such as whole: {uniqueness: {min: 0.9}} (docs/report.md)")
    if problems:
        raise GatesError([f"{path}: {problem}" for problem in problems])
    return found


def check(gates: list[Gate], books: Books, balance: Balance) -> list[Breach]:
    """What is out of bounds, in the order of the gates.

    A group that a gate names with `only`, and that is not in the corpus, has no value.
    """
    return [
        Breach(gate, name, value)
        for gate in gates
        for name, value in _values(gate, books, balance)
        if not gate.holds(value)
    ]


def _values(gate: Gate, books: Books, balance: Balance) -> Iterator[tuple[str, float | None]]:
    if gate.of == WHOLE:
        figures: Mapping[str, float | None] = books.whole.figures() | balance.as_dict()
        yield WHOLE, figures.get(gate.figure, _none(gate, books.whole))
        return
    for account in books.groups[gate.of]:
        if account.name in gate.but_not or (gate.only and account.name not in gate.only):
            continue
        if account.counts.get("requests", 0) >= gate.at_least:
            yield account.name, account.figures().get(gate.figure, _none(gate, account))
    there = {account.name for account in books.groups[gate.of]}
    yield from ((name, None) for name in gate.only if name not in there)


def _none(gate: Gate, account: Account) -> float | None:
    """A type of personal data that nobody found has the rate 0, where anything was kept."""
    return 0.0 if gate.figure.startswith(PII) and account.counts.get("kept") else None


def _gates(content: Any, problems: list[str]) -> Iterator[Gate]:
    if not isinstance(content, dict):
        problems.append("expected a mapping with the keys " + ", ".join((WHOLE, *BY)))
        return
    for of, figures in content.items():
        if of not in (WHOLE, *BY):
            problems.append(f"{of!r}: expected one of {', '.join((WHOLE, *BY))}{_meant(of, (WHOLE, *BY))}")
        elif not isinstance(figures, dict):
            problems.append(f"{of}: expected figures with their bounds, such as uniqueness: {{min: 0.9}}")
        else:
            for figure, bounds in figures.items():
                yield from _gate(str(of), figure, bounds, problems)


def _gate(of: str, figure: Any, bounds: Any, problems: list[str]) -> Iterator[Gate]:
    known = (*FIGURES, *(CONCENTRATION if of == WHOLE else ()))
    before = len(problems)
    if not isinstance(figure, str) or (figure not in known and figure_of(figure) is None):
        problems.append(f"{of}: no figure is called {figure!r}{_meant(figure, known)}")
        return
    where = f"{of}: {figure}"
    if not isinstance(bounds, dict) or not {"min", "max"} & bounds.keys():
        problems.append(f"{where}: expected min or max, such as {{min: 0.9}}")
        return
    problems += [f"{where}: {problem}" for problem in _wrong(bounds, whole=of == WHOLE)]
    if len(problems) == before:
        low, high, least = bounds.get("min", -math.inf), bounds.get("max", math.inf), bounds.get("at_least", 0)
        only, but_not = tuple(bounds.get("only", ())), tuple(bounds.get("except", ()))
        yield Gate(of, figure, low, high, least, bounds.get("missing", "fail"), only, but_not)


def _wrong(bounds: dict[Any, Any], *, whole: bool) -> Iterator[str]:
    for key in (key for key in bounds if key not in _KEYS):
        yield f"{key!r}: expected one of {', '.join(_KEYS)}{_meant(key, _KEYS)}"
    numbers = {key: bounds[key] for key in ("min", "max", "at_least") if key in bounds}
    for key, value in numbers.items():
        if not _is_number(value):
            yield f"{key}: expected a number, not {value!r}"
    if all(map(_is_number, numbers.values())) and numbers.get("min", -math.inf) > numbers.get("max", math.inf):
        yield f"min {numbers['min']:g} is larger than max {numbers['max']:g}"
    if bounds.get("missing", "fail") not in ("fail", "pass"):
        yield f"missing: expected fail or pass, not {bounds['missing']!r}"
    for key in ("only", "except"):
        value = bounds.get(key, [])
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            yield f"{key}: expected a list of names, not {value!r}"
    if whole and {"only", "except", "at_least"} & bounds.keys():
        yield "only, except and at_least are for groups"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _meant(word: Any, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(str(word), known, 1)
    return f" (do you mean {close[0]}?)" if close else ""
