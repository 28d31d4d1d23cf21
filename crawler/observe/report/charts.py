"""Charts of the report, drawn on the server: bars and lines in a box of 400 × 120, which `templates/parts.html` prints.

Words and numbers stand beside the drawing as text of the page, so they keep their size on a narrow screen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from crawler.number import number_of
from crawler.storage.files.accounts import BINS_AN_OCTAVE, length_from
from crawler.storage.files.tally import SCORE_BINS

WIDTH, HEIGHT = 400, 120
_GAP = 0.12  # of a bar's place that stays empty
_FEWEST_TICKS, _MOST_TICKS = 3, 7


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle, and what it says where the pointer rests on it."""

    x: str
    y: str
    width: str
    height: str
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing of bars, or of a line (`points`, the area below it too). ticks: place in per cent, text below it.

    top: what the upper edge stands for. label: the drawing in a sentence, for those who do not see it.
    """

    title: str
    top: str
    label: str
    ticks: list[tuple[str, str]]
    bars: list[Bar]
    points: str = ""
    area: str = ""


def scores(title: str, bins: Mapping[int, int]) -> Chart:
    """Counts in twenty equal bins from 0 to 1."""
    edges = [position / SCORE_BINS for position in range(SCORE_BINS + 1)]
    ticks = [(f"{100 * value:g}", f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)]
    return _histogram(title, [bins.get(key, 0) for key in range(SCORE_BINS)], [f"{edge:g}" for edge in edges], ticks)


def lengths(title: str, bins: Mapping[int, int]) -> Chart:
    """Counts in bins of `length_bin`: on a logarithmic scale, from the smallest that is there to the largest."""
    first, last = min(bins) - 1, max(bins) + 2
    counts = [bins.get(key, 0) for key in range(first, last)]
    edges = [f"{length_from(key):,.0f}" for key in range(first, last + 1)]
    return _histogram(title, counts, edges, _logarithmic(first, last))


def octaves(title: str, bins: Mapping[int, int]) -> Chart:
    """Counts in powers of two, as files of older versions have them."""
    keys = range(min(bins), max(bins) + 2)
    edges = [f"{2**key:,}" for key in keys]
    ticks = [(f"{100 * n / (len(keys) - 1):.2f}", edge) for n, edge in enumerate(edges)]
    return _histogram(title, [bins.get(key, 0) for key in keys[:-1]], edges, _thinned(ticks))


def over_time(title: str, points: Sequence[tuple[str, float]], *, most: float | None = None, unit: str = "") -> Chart:
    """A value at moments (RFC 3339, as far as it is known), joined by lines. most: of the scale; None = the largest."""
    moments = [moment_of(name) for name, _ in points]
    start, span = moments[0], max(1.0, moments[-1] - moments[0])
    top = most or max(value for _, value in points) or 1.0
    places = [
        (WIDTH * (moment - start) / span, HEIGHT * (1 - value / top))
        for moment, (_, value) in zip(moments, points, strict=True)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    ends = [("0", _shown(points[0][0])), ("100", _shown(points[-1][0]))]
    label = f"{title}: {_n(points[0][1])}{unit} at {points[0][0]}, {_n(points[-1][1])}{unit} at {points[-1][0]}"
    area = f"{places[0][0]:.1f},{HEIGHT} {line} {places[-1][0]:.1f},{HEIGHT}"
    return Chart(title, _n(top) + unit, label, ends, [], line, area)


def _histogram(title: str, counts: Sequence[int], edges: Sequence[str], ticks: list[tuple[str, str]]) -> Chart:
    most, place = max(counts), WIDTH / len(counts)
    bars = []
    for position, count in enumerate(counts):
        height = HEIGHT * count / (most or 1)
        label = f"{edges[position]} to {edges[position + 1]}: {count:,}"
        bars.append(Bar(f"{place * (position + _GAP / 2):.2f}", f"{HEIGHT - height:.2f}", f"{place * (1 - _GAP):.2f}",
                        f"{height:.2f}", label))  # fmt: skip
    fullest = counts.index(most)
    label = (
        f"{title}: {number_of(sum(counts), 'document')}, most of them "
        f"({most:,}) from {edges[fullest]} to {edges[fullest + 1]}"
    )
    return Chart(title, f"{most:,}", label, ticks, [bar for bar in bars if bar.height != "0.00"])


def _logarithmic(first: int, last: int) -> list[tuple[str, str]]:
    """Round numbers on the scale: 1, 2, 5, 10, …; powers of ten where these are too many; 1, 2, 3, … where too few."""
    low, high = length_from(first), length_from(last)

    def within(steps: Iterable[int]) -> list[int]:
        found = (step * 10**power for power in range(13) for step in steps)
        return [value for value in found if low <= value <= high]

    found = within((1, 2, 5))
    if len(found) > _MOST_TICKS:
        found = within((1,))
    elif len(found) < _FEWEST_TICKS:
        found = within(range(1, 10))
    span = last - first
    places = [100 * (BINS_AN_OCTAVE * math.log2(value) - first) / span for value in found]
    return [(f"{place:.2f}", _compact(value)) for place, value in zip(places, found, strict=True)]


def _compact(value: int) -> str:
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return str(value)


def _thinned(ticks: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return ticks[:: -(-len(ticks) // _MOST_TICKS)]


def moment_of(name: str) -> float:
    """Seconds since the epoch of the beginning of a second, minute, hour, day, month or year."""
    return datetime.fromisoformat(f"{name}{'0000-01-01T00:00'[len(name) :]}+00:00").timestamp()


def _shown(name: str) -> str:
    return name.replace("T", " ") + (":00" if len(name) == len("2026-01-01T00") else "")


def _n(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.2g}"
