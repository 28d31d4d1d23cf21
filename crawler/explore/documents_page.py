"""The documents page: what a filter leaves, in an order, fifty at a time; its address says all of it."""

from __future__ import annotations

import csv
import io
import shlex
from typing import Any

from starlette.responses import Response

from crawler.dataset.records.filters import OPERATORS, FilterError, compared
from crawler.dataset.spreadsheet import harmless
from crawler.explore.filters import COLUMNS, SORTS, STATES, filter_of
from crawler.explore.listing import listing
from crawler.explore.page_request import PageRequest

MOST_ROWS = 100_000
"""Records of one table."""


def documents(request: PageRequest) -> tuple[str, dict[str, Any]]:
    """The list. The form sends `field`, `operator` and `value` of one more condition apart.

    Raises: FilterError, NotReadyError, StorageError.
    """
    fields = request.catalogue.fields
    wanted = filter_of(request.pairs, fields)
    given = dict(request.pairs)
    if field := given.get("field"):
        wanted = wanted.having(compared(field, given.get("operator", "="), given.get("value", "").strip(), fields))
    where = shlex.quote(request.catalogue.place.url)
    sorts = SORTS if wanted.sort.removeprefix("-") in SORTS else (*SORTS, wanted.sort.removeprefix("-"))
    return "documents.html", {
        "wanted": wanted,
        "found": listing(request.catalogue, wanted),
        "fields": list(fields),
        "operators": OPERATORS,
        "states": STATES,
        "sorts": sorts,
        "most": MOST_ROWS,
        "command": f"gristmill dataset query {where} {shlex.quote(wanted.statement)}",
    }


def table(request: PageRequest) -> Response:
    """What a filter leaves as CSV, without texts, the first `MOST_ROWS`.

    Raises: FilterError, NotReadyError, StorageError.
    """
    wanted = filter_of(request.pairs, request.catalogue.fields)
    if wanted.text:
        raise FilterError("text=…: a table is of the fields of the records; take the words of the text out")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    where, params = wanted.sql()
    rows = request.catalogue.rows(f"{wanted.select(where)} LIMIT {MOST_ROWS}", params)
    writer.writerows([harmless(value) for value in row] for row in rows)
    named = {"Content-Disposition": "attachment; filename=documents.csv"}
    return Response(out.getvalue(), media_type="text/csv; charset=utf-8", headers=named)
