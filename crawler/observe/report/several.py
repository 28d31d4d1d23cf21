"""Several corpora side by side with their sums: what each has, and what they have together, on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from crawler.number import number_of, size
from crawler.observe.report.summary import Summary

TOP = 8
"""Lines of each list that a terminal shows."""
_COLUMN, _GAP, _NAME = 13, 2, 24
TWICE = "A page that is in several of them counts in each; `gristmill dataset merge` makes one corpus of them."
_COUNTS: dict[str, Callable[[Summary], int]] = {
    "kept": lambda s: s.kept,
    "rejected": lambda s: s.rejected,
    "held for review": lambda s: s.withheld,
    "on hold": lambda s: s.held,
    "unchanged": lambda s: s.unchanged,
    "words": lambda s: s.words,
    "tokens, estimated": lambda s: s.tokens,
    "raw pages": lambda s: s.archived,
}
_LISTS: dict[str, Callable[[Summary], Mapping[str, int]]] = {
    "Kept, by domain": lambda s: s.domains,
    "Kept, by language": lambda s: s.languages,
    "Kept, by licence": lambda s: s.licences,
    "Rejected, by reason": lambda s: {f"{v.stage}/{v.reason}": v.count for v in s.rejections},
}


def together(found: Sequence[Summary]) -> dict[str, Any]:
    """The sums, for a program: each count, the bytes fetched (None where a crawl was cut off before they were noted),
    and the lists of names with their counts."""
    sums: dict[str, Any] = {
        name.partition(",")[0].replace(" ", "_"): sum(map(of, found)) for name, of in _COUNTS.items()
    }
    known = not any(summary.uncounted for summary in found)
    sums["fetched_bytes"] = sum(summary.fetched_bytes or 0 for summary in found) if known else None
    lists = {"domains": "Kept, by domain", "languages": "Kept, by language", "licences": "Kept, by licence",
             "rejections": "Rejected, by reason"}  # fmt: skip
    return sums | {name: dict(_added(found, _LISTS[title]).most_common()) for name, title in lists.items()}


def show(found: Sequence[Summary], console: Console) -> None:
    """Print them; on a narrow terminal as many columns as there is room for, and always the sums."""
    console.print()
    for number, summary in enumerate(found, 1):
        console.print(Text.assemble((f"{number}  ", "bold"), summary.where), soft_wrap=True)
        console.print(Text(f"   {summary.standing}", "dim"))
    room = max(1, (console.width - _NAME - _GAP) // (_COLUMN + _GAP) - 1)
    rows = [(name, [f"{of(each):,}" for each in found], f"{sum(map(of, found)):,}") for name, of in _COUNTS.items()]
    uncounted = sum(each.uncounted for each in found)
    of_each = [_more_than(each.fetched_bytes or 0, each.uncounted) for each in found]
    rows.append(("fetched", of_each, _more_than(sum(each.fetched_bytes or 0 for each in found), uncounted)))
    _print("", rows, room, console)
    licences = {"Kept, by licence": lambda s: s.licences_and_none} if any(each.licences for each in found) else {}
    for title, of in (_LISTS | licences).items():
        sums = _added(found, of)
        more = f" ({TOP} of {len(sums):,})" if len(sums) > TOP else ""
        lines = [(n, [f"{of(each).get(n, 0):,}" for each in found], f"{count:,}") for n, count in sums.most_common(TOP)]
        if lines:
            _print(title + more, lines, room, console)
    console.print()
    if (hidden := len(found) - room) > 0:
        console.print(f"{number_of(hidden, 'more corpus', 'more corpora')}: a wider terminal, or --json", style="dim")
    if uncounted:
        crawls = number_of(uncounted, "crawl was", "crawls were")
        console.print(f"> {crawls} cut off before it was noted what was fetched.", style="dim", highlight=False)
    console.print(TWICE, style="dim", highlight=False)


def _more_than(fetched: int, uncounted: int) -> str:
    return f"{'> ' if uncounted else ''}{size(fetched)}"


def _added(found: Sequence[Summary], of: Callable[[Summary], Mapping[str, int]]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for summary in found:
        sums.update(of(summary))
    return sums


def _print(title: str, rows: list[tuple[str, list[str], str]], room: int, console: Console) -> None:
    console.print()
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    table.add_column(Text(title, "bold"), overflow="fold", width=_NAME)
    for number in range(1, min(room, len(rows[0][1])) + 1):
        table.add_column(Text(str(number), "dim"), justify="right", min_width=_COLUMN)
    table.add_column(Text("all", "bold"), justify="right", min_width=_COLUMN)
    for name, values, total in rows:
        table.add_row(Text(name), *values[:room], Text(total, "bold"))
    console.print(table)
