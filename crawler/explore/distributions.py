"""The corpus page draws how one field is distributed over the records that a filter leaves; each bar is a filter."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from crawler.dataset.records.fields import FIELDS, LIST
from crawler.dataset.records.filters import Comparison
from crawler.explore.catalogue import Catalogue
from crawler.explore.filters import Filter

NAMES = 12
"""Values of a field that get a bar of their own, the most frequent first."""
BINS = 20
_PERIODS = ((10, 31), (7, 36), (4, 200))
"""Length of a date's beginning (day, month, year), and how many different ones may be drawn."""
_DATES = frozenset({"crawled_at", "first_seen", "last_changed", "pub_date", "legal_decision_date", "robots_fetched_at"})
FIGURES: tuple[tuple[str, str], ...] = (
    ("language", "Language"),
    ("domain", "Domain"),
    ("quality_score", "Quality score"),
    ("token_estimate", "Tokens per document"),
    ("reason", "Reason, where not kept"),
    ("crawled_at", "Fetched"),
    ("pub_date", "Published, as the page says"),
    ("license_tag", "Licence"),
    ("license_tier", "Licence tier"),
    ("method_used", "Where the text was found"),
    ("extractor", "Extractor"),
    ("profile", "Quality profile"),
)
"""The fields that matter, with their titles; any other of `DRAWN` is drawn on request."""
DRAWN = {name: field for name, field in FIELDS.items() if field.is_single or field.kind == LIST}


@dataclass(frozen=True, slots=True)
class Bar:
    """Records with one value, or with values in one bin; `link` shows them, None where no filter says it."""

    label: str
    kept: int
    rejected: int
    link: Filter | None

    @property
    def count(self) -> int:
        """All of them."""
        return self.kept + self.rejected


@dataclass(frozen=True, slots=True)
class Figure:
    """One field. in_order: the bars are bins along an axis, not names. empty: records without the field."""

    field: str
    title: str
    bars: list[Bar]
    in_order: bool
    empty: Bar | None

    @property
    def most(self) -> int:
        """The highest bar."""
        return max((bar.count for bar in self.bars), default=0) or 1


_COUNTS = "count(*) FILTER (state = 'kept'), count(*) FILTER (state NOT IN ('kept', 'unchanged'))"


def figure(catalogue: Catalogue, wanted: Filter, field: str, title: str = "") -> Figure:
    """How `field` is distributed over what the filter leaves. Raises: NotReadyError."""
    none, some = (Comparison(DRAWN[field], test, "") for test in ("=", "!="))
    (sql, _), (where, params) = none.sql(), wanted.sql()
    empty = catalogue.rows(f"SELECT {_COUNTS} FROM records WHERE {where} AND {sql}", params)[0]  # noqa: S608  # looked up
    source = f"FROM records WHERE {where} AND {some.sql()[0]}"
    if field in _DATES:
        bars, in_order = _dates(catalogue, wanted, field, source, params), True
    elif DRAWN[field].is_number:
        bars, in_order = _numbers(catalogue, wanted, field, source, params), True
    else:
        bars, in_order = _names(catalogue, wanted, field, source, params), False
    shown = any(empty) and field != "reason"  # what is kept has none
    without = Bar("none", empty[0], empty[1], wanted.having(none)) if shown else None
    return Figure(field, title or field, bars, in_order, without)


def _names(catalogue: Catalogue, wanted: Filter, field: str, source: str, params: list[Any]) -> list[Bar]:
    """The most frequent values; a record with several values of a list stands in several bars."""
    column = DRAWN[field].sql
    one = f"unnest(list_distinct({column}))" if DRAWN[field].kind == LIST else column
    grouped = f"SELECT name, {_COUNTS} FROM (SELECT state, {one} AS name {source}) GROUP BY 1"  # noqa: S608  # looked up
    found = catalogue.rows(
        "SELECT name, kept, rejected, sum(kept) OVER (), sum(rejected) OVER (), count(*) OVER () "  # noqa: S608
        f"FROM ({grouped}) AS counted(name, kept, rejected) ORDER BY kept + rejected DESC, name LIMIT {NAMES}",
        params,
    )
    bars = [_named(wanted, field, *row[:3]) for row in found]
    kept, rejected, values = map(int, found[0][3:]) if found else (0, 0, 0)
    if values > len(bars):
        kept, rejected = kept - sum(bar.kept for bar in bars), rejected - sum(bar.rejected for bar in bars)
        bars.append(Bar(f"{values - len(bars):,} others", kept, rejected, None))
    return bars


def _named(wanted: Filter, field: str, value: Any, kept: int, rejected: int) -> Bar:
    label = str(value).lower() if isinstance(value, bool) else str(value)
    return Bar(label, kept, rejected, wanted.having(Comparison(DRAWN[field], "=", label)))


def _dates(catalogue: Catalogue, wanted: Filter, field: str, source: str, params: list[Any]) -> list[Bar]:
    found: list[tuple[Any, ...]] = []
    for length, most in _PERIODS:
        begin = f'substr("{field}", 1, {length})'
        found = catalogue.rows(f"SELECT {begin}, {_COUNTS} {source} GROUP BY 1 ORDER BY 1 LIMIT {most + 1}", params)
        if len(found) <= most:
            break
    return [Bar(str(p), kept, rejected, _in_period(wanted, field, str(p))) for p, kept, rejected in found]


def _in_period(wanted: Filter, field: str, period: str) -> Filter | None:
    try:
        end = _next(period)
    except (ValueError, OverflowError):
        return None
    return wanted.having(Comparison(DRAWN[field], ">=", period), Comparison(DRAWN[field], "<", end))


def _next(period: str) -> str:
    """The day, month or year after this one. Raises: ValueError, OverflowError."""
    if len(period) == 4:
        return f"{int(period) + 1:04d}"
    if len(period) == 7:
        year, month = int(period[:4]), int(period[5:])
        return f"{year + month // 12:04d}-{month % 12 + 1:02d}"
    return (datetime.date.fromisoformat(period) + datetime.timedelta(days=1)).isoformat()


def _numbers(catalogue: Catalogue, wanted: Filter, field: str, source: str, params: list[Any]) -> list[Bar]:
    low, high = catalogue.rows(f'SELECT min("{field}"), max("{field}") {source}', params)[0]
    if low is None:
        return []
    edges = _powers(low, high) if DRAWN[field].kind == "int64" else _equal(low, high)
    number = " + ".join(f'("{field}" >= {edge!r})::INTEGER' for edge in edges[1:-1]) or "0"
    found = catalogue.rows(f"SELECT {number}, {_COUNTS} {source} GROUP BY 1", params)
    counted = {int(bin_): (kept, rejected) for bin_, kept, rejected in found}
    return [_bin(wanted, field, edges, n, counted.get(n, (0, 0))) for n in range(len(edges) - 1)]


def _bin(wanted: Filter, field: str, edges: list[float], n: int, counts: tuple[int, int]) -> Bar:
    low, high = edges[n], edges[n + 1]
    last = n == len(edges) - 2
    bounds = [Comparison(DRAWN[field], ">=", f"{low:g}")] if n else []
    bounds += [] if last else [Comparison(DRAWN[field], "<", f"{high:g}")]
    link = wanted.having(*bounds) if bounds else wanted.having(Comparison(DRAWN[field], "!=", ""))
    return Bar(f"{low:,g} to {high:,g}", *counts, link)


def _powers(low: int, high: int) -> list[float]:
    """Edges for counts: powers of two, because lengths differ by factors."""
    first = max(0, int(low).bit_length() - 1) if low > 0 else 0
    edges = [2**n for n in range(first, max(int(high), 1).bit_length() + 1)]
    return [0, *edges] if low <= 0 else list(edges) if len(edges) > 1 else [edges[0], 2 * edges[0]]


def _equal(low: float, high: float) -> list[float]:
    """Twenty equal bins: from 0 to 1 for what is a share, else from the least to the greatest value."""
    begin, end = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1)
    return [round(begin + (end - begin) * n / BINS, 6) for n in range(BINS + 1)]
