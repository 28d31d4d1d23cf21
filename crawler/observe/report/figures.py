"""The figures of an account, with unit and formula, from figures.tsv: table, page, gates and docs use the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Literal, cast

from crawler.number import size

Unit = Literal["count", "share", "ratio", "bytes", "seconds", "money"]
PII = "pii_rate/"
"""Begins the name of a figure for one type of personal data."""


@dataclass(frozen=True, slots=True)
class Figure:
    """label: above a column. formula: how it is computed, for docs/report.md."""

    name: str
    label: str
    unit: Unit
    formula: str

    def show(self, value: float | None) -> str:
        """The value as people read it; a dash where there is none."""
        return "–" if value is None else _SHOWN[self.unit](value)


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.3g}"


_SHOWN: dict[Unit, Callable[[float], str]] = {
    "count": lambda value: f"{value:,.0f}",
    "share": lambda value: f"{100 * value:.1f} %",
    "ratio": _ratio,
    "bytes": size,
    "seconds": lambda value: f"{value:,.1f} s",
    "money": lambda value: f"{value:,.2f}" if value >= 1 else f"{value:.3g}",
}

_ROWS = resources.files("crawler").joinpath("observe", "report", "figures.tsv").read_text("utf-8").splitlines()[1:]
FIGURES = {row[0]: Figure(row[0], row[1], cast("Unit", row[2]), row[3]) for row in (line.split("\t") for line in _ROWS)}


def figure_of(name: str) -> Figure | None:
    """The figure of this name, a type of personal data among them; None where there is no such figure."""
    if name.startswith(PII) and (kind := name.removeprefix(PII)):
        return Figure(name, kind, "share", FIGURES["pii_rate"].formula)
    return FIGURES.get(name)


def markdown() -> str:
    """The table of docs/report.md."""
    rows = [f"| `{figure.name}` | {figure.formula} |" for figure in FIGURES.values()]
    return "\n".join(["| figure | is |", "|---|---|", *rows]) + "\n"
