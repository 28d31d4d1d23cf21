"""The figures of an account are named here, with their unit and formula: table, page, gates and docs use the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from crawler.observe.report.terminal import size

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

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure(
            "requests",
            "requests",
            "count",
            "records whose verdict took a request for the page: kept and rejected ones, without holds and "
            "without `robots_disallowed`, `network_forbidden`, `withdrawn`; each counts once",
        ),
        Figure(
            "kept",
            "kept",
            "count",
            "records in `shards/`",
        ),
        Figure(
            "rejected",
            "rejected",
            "count",
            "records in `rejected/`, without holds and `unchanged`",
        ),
        Figure(
            "tokens",
            "tokens",
            "count",
            "sum of `token_estimate` of the kept records",
        ),
        Figure(
            "token_share",
            "of all tokens",
            "share",
            "tokens ÷ tokens of the corpus",
        ),
        Figure(
            "target_share",
            "target",
            "share",
            "by language: what TARGET_LANGUAGES asks for",
        ),
        Figure(
            "uniqueness",
            "unique",
            "share",
            "kept ÷ (kept + rejected as `exact_duplicate` or `near_duplicate`)",
        ),
        Figure(
            "tokens_per_request",
            "tokens a request",
            "ratio",
            "tokens ÷ requests",
        ),
        Figure(
            "all_requests",
            "all requests",
            "count",
            "counter `downloader/request_count`: also robots.txt, sitemaps, opt-out files, redirects, second "
            "tries, files of drawn pages; a group other than a batch: × its requests ÷ all records' requests",
        ),
        Figure(
            "received_bytes",
            "received",
            "bytes",
            "counter `downloader/response_bytes`; a group other than a batch: × its requests ÷ all records' requests",
        ),
        Figure(
            "cpu_seconds",
            "CPU",
            "seconds",
            "counter `stage/cpu_ms` ÷ 1,000; a group other than a batch: × its pages ÷ all pages that the "
            "extraction read or a browser drew",
        ),
        Figure(
            "tokens_per_cpu_second",
            "tokens a CPU second",
            "ratio",
            "tokens ÷ cpu_seconds",
        ),
        Figure(
            "cost",
            "cost",
            "money",
            "COST_REQUEST × all_requests + COST_GB × received_bytes ÷ 10⁹ + COST_CPU_HOUR × cpu_seconds ÷ "
            "3,600 + COST_BROWSER_MINUTE × counter `browser/ms` ÷ 60,000 (a group other than a batch: × its "
            "drawn pages ÷ all drawn pages)",
        ),
        Figure(
            "tokens_per_cost",
            "tokens a unit of money",
            "ratio",
            "tokens ÷ cost",
        ),
        Figure(
            "pii_rate",
            "personal data",
            "share",
            "kept records in which personal data was found and redacted (`pii_flag`) ÷ kept; "
            "`pii_rate/EMAIL_ADDRESS` and so on: those with this type",
        ),
        Figure(
            "licence_pass_rate",
            "licence audit",
            "share",
            "kept records that pass the licence audit ÷ kept: tag, tier, reviewer and day of review are "
            "there, the review is no later than the fetch, `noai_checked` is true, no statement in "
            "`optout_signals` says disallow",
        ),
        Figure(
            "safety_rejections",
            "safety",
            "count",
            "records that the stage `safety` rejected; none where no record has a `safety_score`",
        ),
        Figure(
            "extraction_yield",
            "yield",
            "ratio",
            "mean of `extraction_yield`, over kept and rejected records with one",
        ),
        Figure(
            "escalation_rate",
            "in a browser",
            "share",
            "records that a browser drew or tried to (`method_used` js or captured, or `browser` in "
            "`render_signals`) ÷ records that the extraction read or a browser drew",
        ),
    )
}


def figure_of(name: str) -> Figure | None:
    """The figure of this name, a type of personal data among them; None where there is no such figure."""
    if name.startswith(PII) and (kind := name.removeprefix(PII)):
        return Figure(name, kind, "share", FIGURES["pii_rate"].formula)
    return FIGURES.get(name)


def markdown() -> str:
    """The table of docs/report.md."""
    rows = [f"| `{figure.name}` | {figure.formula} |" for figure in FIGURES.values()]
    return "\n".join(["| figure | is |", "|---|---|", *rows]) + "\n"
