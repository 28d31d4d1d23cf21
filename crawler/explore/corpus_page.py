"""The corpus page: how many documents there are, and how every field that matters is distributed over them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from crawler.dataset.growing import unsealed_note
from crawler.dataset.records.filters import FilterError
from crawler.explore.distributions import DRAWN, FIGURES, figure
from crawler.explore.filters import filter_of
from crawler.explore.page_request import PageRequest

_TOTALS = (
    "count(*) FILTER (state = 'kept'), count(*) FILTER (state = 'rejected'), "
    "count(*) FILTER (state = 'held'), count(*) FILTER (state = 'hold'), "
    "count(*) FILTER (state = 'unchanged'), "
    "coalesce(sum(token_estimate) FILTER (state = 'kept'), 0)::BIGINT, count(DISTINCT domain), "
    "count(DISTINCT language) FILTER (state = 'kept')"
)


_figure = lru_cache(512)(figure)
"""A catalogue does not change once it is read: what was drawn is not counted again."""


def corpus(request: PageRequest) -> tuple[str, dict[str, Any]]:
    """The totals and a figure for each field of `FIGURES`, or for the one field that is asked for.

    Raises: FilterError, NotReadyError.
    """
    wanted = filter_of(request.pairs, request.catalogue.fields)
    field = dict(request.pairs).get("field", "")
    if field and field not in DRAWN:
        raise FilterError(f"field={field}: not a field of the record (docs/record.md)")
    where, params = wanted.sql()
    totals = request.catalogue.rows(f"SELECT {_TOTALS} FROM records WHERE {where}", params)[0]  # noqa: S608  # looked up
    shown = [(field, field)] if field else FIGURES
    figures = [_figure(request.catalogue, wanted, name, title) for name, title in shown]
    names = ("kept", "rejected", "held", "hold", "unchanged", "tokens", "domains", "languages")
    return "corpus.html", {
        "wanted": wanted,
        "field": field,
        "unsealed": unsealed_note(request.catalogue.place),
        "fields": list(DRAWN),
        "totals": dict(zip(names, totals, strict=True)),
        "figures": [found for found in figures if found.bars or field],
    }
