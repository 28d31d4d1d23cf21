"""Gates are bounds on the accounts of a corpus, read from a file: what is out of bounds is named, for CI and cron jobs.

Format: docs/report.md, example: docs/examples/gates.yaml.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.config import yaml_file
from crawler.config.yaml_file import Value
from crawler.dataset.records import filters
from crawler.dataset.records.fields import stored
from crawler.dataset.records.filters import Condition
from crawler.observe.report.accounts import BY, Account, Books
from crawler.observe.report.balance import Balance
from crawler.observe.report.concentration import LARGEST
from crawler.observe.report.figures import FIGURES, PII, figure_of
from crawler.problems import InputError, did_you_mean
from crawler.storage.corpus.registry import is_tag

if TYPE_CHECKING:
    from crawler.trial.earlier import Bound

MAX_FILE_BYTES = 2**16
WHOLE, TRIAL = "whole", "trial"
_KEYS = ("min", "max", "at_least", "missing", "only", "except", "where")
CONCENTRATION = (
    *(f"top{count}_{of}" for of in ("documents", "tokens") for count in LARGEST),
    *(f"{name}_{of}" for of in ("documents", "tokens") for name in ("hhi", "gini")),
    "target_distance",
)
"""Figures of the whole corpus that no group has."""
_FIGURES = {name: stored(name, "double") for name in FIGURES}
"""What `where` may compare."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Bounds on one figure. of: `whole` or a grouping.

    at_least: requests from which a group is looked at. missing: what to do where there is no figure, "fail" or "pass".
    only, but_not: names of groups; no `only` = all. where: holds for the figures of a group that is looked at.
    """

    of: str
    figure: str
    low: float = -math.inf
    high: float = math.inf
    at_least: int = 0
    missing: str = "fail"
    only: tuple[str, ...] = ()
    but_not: tuple[str, ...] = ()
    where: Condition | None = None

    def holds(self, value: float | None) -> bool:
        """True where the value is within its bounds, both of them included."""
        return self.missing == "pass" if value is None else self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Gates:
    """What a file asks for. trial: what the corpus may lose against an earlier version; None where it does not say."""

    bounds: list[Gate] = field(default_factory=list)
    trial: Bound | None = None

    def __len__(self) -> int:
        return len(self.bounds) + (self.trial is not None)


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
            return f"{where} has no value (`missing: pass` in the gates accepts that)"
        bound, word = (self.gate.low, "minimum") if self.value < self.gate.low else (self.gate.high, "maximum")
        side = "below" if word == "minimum" else "above"
        return f"{where} is {self.value:.6g}, {side} the {word} {bound:g}"


def read(path: Path) -> Gates:
    """Read and check the file; its paths are relative to the working folder. Raises: InputError that lists every
    problem.
    """
    return yaml_file.read(path, _gates, most=MAX_FILE_BYTES)


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
        figures = account.figures()
        if account.counts.get("requests", 0) >= gate.at_least and (gate.where is None or gate.where.holds(figures)):
            yield account.name, figures.get(gate.figure, _none(gate, account))
    there = {account.name for account in books.groups[gate.of]}
    yield from ((name, None) for name in gate.only if name not in there)


def _none(gate: Gate, account: Account) -> float | None:
    """A type of personal data that nobody found has the rate 0, where anything was kept."""
    return 0.0 if gate.figure.startswith(PII) and account.counts.get("kept") else None


def _gates(root: Value) -> Gates:
    given = root.mapping((WHOLE, *BY, TRIAL))
    trial = _trial(given.pop(TRIAL)) if TRIAL in given else None
    found = [
        gate
        for of, figures in given.items()
        for figure, bounds in figures.items("expected figures with their bounds, such as uniqueness: {min: 0.9}")
        if (gate := _gate(of, figure, bounds)) is not None
    ]
    if not found and trial is None and not root.count:
        root.problem("expected at least one gate, such as whole: {uniqueness: {min: 0.9}} (docs/report.md)")
    return Gates(found, trial)


def _trial(value: Value) -> Bound | None:
    from crawler.trial.earlier import Bound  # late: the models of a trial
    from crawler.trial.held_out import places_of

    before, names = value.count, ("than", "held_out", "worse")
    given = value.mapping(names)
    for name in names if value.is_mapping else ():
        if name not in given:
            value.problem("is missing, as in {than: released, held_out: [texts], worse: 0.01}", below=name)
    if value.count > before:
        return None
    texts = [item.text(str) or "" for item in given["held_out"].one_or_more()]
    try:
        places_of(texts)
    except InputError as error:
        for problem in error.problems:
            given["held_out"].problem(problem.removeprefix("--held-out: "))
    tag, worse = given["than"].text(_tag), given["worse"].number(least=0, most=8)
    return None if value.count > before or tag is None else Bound(tag, tuple(texts), worse)


def _tag(text: str) -> str:
    if not is_tag(text):
        raise ValueError("expected a tag as `gristmill dataset tag` sets it")
    return text


def _gate(of: str, figure: str, bounds: Value) -> Gate | None:
    known, before = (*FIGURES, *(CONCENTRATION if of == WHOLE else ())), bounds.count
    if figure not in known and figure_of(figure) is None:
        bounds.key_problem(f"there is no figure {figure!r}{did_you_mean(figure, known)}")
        return None
    given = bounds.mapping(_KEYS)
    if bounds.is_mapping and not {"min", "max"} & given.keys():
        bounds.problem("expected min or max, such as {min: 0.9}")
    low = given["min"].number() if "min" in given else -math.inf
    high = given["max"].number() if "max" in given else math.inf
    at_least = given["at_least"].number(least=0) if "at_least" in given else 0
    missing = given["missing"].text(_missing) if "missing" in given else "fail"
    only, but_not = (_names(given[key]) if key in given else () for key in ("only", "except"))
    where = given["where"].text(lambda text: filters.read(text, _FIGURES, "figure")) if "where" in given else None
    if low > high:
        bounds.problem(f"min {low:g} is larger than max {high:g}")
    if of == WHOLE and {"only", "except", "at_least", "where"} & given.keys():
        bounds.problem("only, except, at_least and where are for groups")
    if bounds.count > before or missing is None:
        return None
    return Gate(of, figure, low, high, int(at_least), missing, only, but_not, where)


def _missing(text: str) -> str:
    if text not in ("fail", "pass"):
        raise ValueError("expected fail or pass")
    return text


def _names(value: Value) -> tuple[str, ...]:
    names = [item.text(str) for item in value.sequence("expected a list of names")]
    return tuple(name for name in names if name is not None)
