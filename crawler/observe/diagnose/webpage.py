"""A diagnosis for a browser: `templates/diagnosis.html` and what it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crawler.number import number_of
from crawler.observe.diagnose.diagnosis import Diagnosis, Distribution, advice
from crawler.observe.diagnose.view import ends_of
from crawler.observe.html import render
from crawler.observe.report.webpage import heights_of


@dataclass(frozen=True, slots=True)
class _Figure:
    """One side of a distribution; colour: a class of the style sheet."""

    title: str
    colour: str
    heights: list[tuple[int, str]]
    ends: tuple[str, str]


def page(found: Diagnosis) -> str:
    """The diagnosis as a complete HTML document, without scripts; everything from outside is escaped."""
    rejected = found.total - found.kept - found.held
    return render(
        "diagnosis.html",
        title="Diagnosis",
        subtitle=" · ".join([found.source, *found.notes]),
        share=(("kept", found.kept), ("not", rejected), ("hold", found.held)),
        legend=f"{found.kept:,} kept, {rejected:,} rejected, {found.held:,} on hold",
        figures=(),
        footer=number_of(found.total, "document"),
        found=found,
        advice=advice(found),
        figures_of_scores=list(_figures(found.distributions)),
    )


def _figures(distributions: Iterable[Distribution]) -> Iterator[_Figure]:
    for item in distributions:
        for side, counts, colour in (("kept", item.kept, "kept"), ("rejected", item.rejected, "not")):
            yield _Figure(f"{item.name}, {side}", colour, heights_of(counts, max([*counts, 1])), ends_of(item))
