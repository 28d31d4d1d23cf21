"""Picks the documents of each group in the order of their hashes until its tokens are there, whole documents alone.

What one group of a cell has too few or too many because documents are whole, the next one makes good. A capped value
never gets more than the cap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from crawler.dataset.mix.supply import Group
from crawler.dataset.records.database import fill, rows_of

if TYPE_CHECKING:
    import duckdb

ROUNDING = 1e-9
LEAST = 0.5
"""Tokens: less than that is no document."""


@dataclass(slots=True)
class Picked:
    """What was picked of each group. documents: different ones; uses: with their repeats; at_cap: capped values."""

    tokens: list[int]
    documents: list[int]
    uses: list[int]
    most_epochs: int = 0
    of_capped: dict[str, int] = field(default_factory=dict)


def pick(connection: duckdb.DuckDBPyConnection, groups: Sequence[Group], wanted: Sequence[float], cap: float) -> Picked:
    """Fill the table `picks` (source, n, times, tokens). wanted: tokens of each group. cap: of each capped value."""
    found = Picked([0] * len(groups), [0] * len(groups), [0] * len(groups))
    columns = {"source": "BIGINT", "n": "BIGINT", "times": "BIGINT", "tokens": "BIGINT"}
    reading = connection.cursor()
    fill(connection, "picks", columns, _picks(reading, groups, wanted, cap, found))
    reading.close()
    return found


def _picks(
    connection: duckdb.DuckDBPyConnection,
    groups: Sequence[Group],
    wanted: Sequence[float],
    cap: float,
    found: Picked,
) -> Iterator[tuple[int, int, int, int]]:
    carried = 0.0
    for number, rows in groupby(_rows(connection), key=itemgetter(0)):
        group, want = groups[number], wanted[number]
        if want >= LEAST:
            room = cap - found.of_capped.get(group.capped, 0) if group.capped else group.most
            want = min(max(0.0, want + carried), group.most, room)
            for _, source, n, tokens, times in _of_group(rows, group, want):
                found.documents[number] += 1
                found.uses[number] += times
                found.tokens[number] += tokens * times
                found.most_epochs = max(found.most_epochs, times)
                yield source, n, times, tokens
            if group.capped:
                found.of_capped[group.capped] = found.of_capped.get(group.capped, 0) + found.tokens[number]
        carried += wanted[number] - found.tokens[number]


def _rows(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[int, int, int, int]]:
    """Group, source, number in it and tokens of every document, in the order in which they are picked."""
    names = [row[0] for row in connection.execute("DESCRIBE groups").fetchall()]
    keys = ", ".join(
        name for name in names if name in {"source", "cap", "synthetic"} or (name[:1] == "t" and name[1:].isdigit())
    )
    answer = connection.execute(
        f"SELECT g, source, n, keyed.tokens FROM keyed JOIN groups USING ({keys}) "  # noqa: S608  # names of our own
        "WHERE keyed.tokens > 0 ORDER BY g, h, n"
    )
    yield from rows_of(answer)


def _of_group(
    rows: Iterator[tuple[int, int, int, int]], group: Group, want: float
) -> Iterator[tuple[int, int, int, int, int]]:
    """Every document as often as the whole epochs say; then in order those that bring the sum nearer to the rest."""
    whole = math.floor(want / group.tokens + ROUNDING)
    rest, share = want - whole * group.tokens, 1.0 if group.capped or group.synthetic else 0.5
    for g, source, n, tokens in rows:
        more = tokens * share <= rest + ROUNDING and rest > LEAST
        rest -= tokens * more
        if times := whole + more:
            yield g, source, n, tokens, times
