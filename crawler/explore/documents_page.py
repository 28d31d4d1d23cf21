"""The documents page: what a filter leaves, in an order, fifty at a time; its address says all of it."""

from __future__ import annotations

from typing import Any

from crawler.dataset.records.filters import OPERATORS, compared
from crawler.explore.filters import SORTS, STATES, filter_of
from crawler.explore.listing import listing
from crawler.explore.page_request import PageRequest


def documents(request: PageRequest) -> tuple[str, dict[str, Any]]:
    """The list. The form sends `field`, `operator` and `value` of one more condition apart.

    Raises: FilterError, NotReadyError, StorageError.
    """
    fields = request.catalogue.fields
    wanted = filter_of(request.pairs, fields)
    given = dict(request.pairs)
    if field := given.get("field"):
        wanted = wanted.having(compared(field, given.get("operator", "="), given.get("value", "").strip(), fields))
    sorts = SORTS if wanted.sort.removeprefix("-") in SORTS else (*SORTS, wanted.sort.removeprefix("-"))
    return "documents.html", {
        "wanted": wanted,
        "found": listing(request.catalogue, wanted),
        "fields": list(fields),
        "operators": OPERATORS,
        "states": STATES,
        "sorts": sorts,
    }
