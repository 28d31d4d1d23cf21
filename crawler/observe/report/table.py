"""One grouping of the accounts as a table for a terminal, as JSON or as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

import orjson
from rich.table import Table
from rich.text import Text

from crawler.dataset.spreadsheet import harmless
from crawler.number import number_of
from crawler.observe.report.accounts import Books
from crawler.observe.report.figures import FIGURES, PII, figure_of

SHARED = ("all_requests", "received_bytes", "cpu_seconds", "tokens_per_cpu_second", "cost", "tokens_per_cost")
"""Figures that only runs know: of anything but a batch they are a share of what the corpus took."""
MOST_NAME = 32
"""Characters of a name that stand on one line, however narrow the terminal is."""
_SHOWN = (
    *(
        "requests",
        "kept",
        "tokens",
        "target_share",
        "token_share",
        "uniqueness",
        "tokens_per_request",
        "tokens_per_cost",
    ),
    *("tokens_per_cpu_second", "pii_rate", "licence_pass_rate", "licence_conflict_rate", "extraction_yield"),
    *("escalation_rate", "cost", "cpu_seconds"),
)
"""Columns of the table, as many as are as wide as the terminal."""
_GAP = 2


def as_dict(books: Books, by: str, top: int | None) -> dict[str, Any]:
    """Plain JSON types: by, currency, uncounted, untold, shared (figures that are shares), whole, groups."""
    groups = [account.as_dict() for account in books.groups[by][:top]]
    shared = [] if by == "batch" else list(SHARED)
    head = {"by": by, "currency": books.currency, "uncounted": books.uncounted, "untold": books.untold}
    return head | {"shared": shared, "whole": books.whole.as_dict(), "groups": groups}


def as_json(books: Books, by: str, top: int | None) -> str:
    """The same as text."""
    return orjson.dumps(as_dict(books, by, top), option=orjson.OPT_INDENT_2).decode()


def as_csv(books: Books, by: str, top: int | None) -> str:
    """A line of names, then a line a group; nothing stands where there is no figure."""
    rows = [account.as_dict() for account in books.groups[by][:top]]
    types = sorted({name for row in rows for name in row if name.startswith(PII)})
    out = io.StringIO()
    writer = csv.DictWriter(out, ["name", *FIGURES, *types], lineterminator="\n")
    writer.writeheader()
    writer.writerows(row | {"name": harmless(str(row["name"]))} for row in rows)
    return out.getvalue()


def as_table(books: Books, by: str, top: int | None, width: int) -> tuple[Table, int]:
    """The columns in which a group has a figure, the whole corpus below; and how many had no room in `width`."""
    shown = [*books.groups[by][:top], books.whole]
    figures = [account.figures() for account in shown]
    cells = {
        name: [FIGURES[name].show(row[name]) for row in figures]
        for name in _SHOWN
        if any(row[name] is not None for row in figures[:-1])
    }
    longest = min(max(len(account.name) for account in shown), MOST_NAME)
    headings = {name: _heading(name, by, books.currency) for name in cells}
    fitting = _fitting(
        {name: _width(headings[name], cells[name]) for name in cells}, width - max(longest, len(by)) - _GAP
    )
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    table.add_column(Text(by), overflow="fold", width=max(longest, len(by)))
    for name in fitting:
        table.add_column(Text(headings[name]), justify="right", width=_width(headings[name], cells[name]))
    for row, account in enumerate(shown):
        style = "bold" if account is books.whole else ""
        table.add_row(Text(account.name, style), *(Text(cells[name][row], style) for name in fitting))
    return table, len(cells) - len(fitting)


def _fitting(widths: dict[str, int], room: int) -> list[str]:
    taken, found = 0, []
    for name, width in widths.items():
        if taken + width + _GAP > room:
            break
        taken += width + _GAP
        found.append(name)
    return found


def _width(heading: str, cells: list[str]) -> int:
    """A heading takes several lines, a number never does."""
    return max(map(len, [*heading.split(), *cells]))


def notes(books: Books, by: str, top: int | None, left_out: int) -> list[str]:
    """What a reader of the table has to know, as sentences."""
    found = []
    if (count := len(books.groups[by])) > len(books.groups[by][:top]):
        found.append(f"{count - len(books.groups[by][:top]):,} more: --top {count}")
    if left_out:
        found.append(f"{number_of(left_out, 'more column')}: a wider terminal, or --format csv")
    if by != "batch" and any(account.spent.requests or account.spent.cpu_seconds for account in books.groups[by]):
        found.append("≈ recorded by run only: this group's share, by requests, pages read and pages drawn")
    if books.untold:
        records = number_of(books.untold, "record")
        found.append(
            f"{records} of runs that do not say what they spent (killed, or just begun): in no CPU time or cost"
        )
    return found


def _heading(name: str, by: str, currency: str) -> str:
    figure = figure_of(name)
    assert figure is not None
    label = figure.label.replace("a unit of money", f"a {currency}") if currency else figure.label
    label += f", {currency}" if name == "cost" and currency else ""
    return f"≈ {label}" if by != "batch" and name in SHARED else label
