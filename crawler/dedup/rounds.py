"""Duplicates of a whole set at once: the verdicts of the index, computed in rounds over buckets by relational steps.

The steps are SQL that DuckDB and Spark both read (`Tables` is the engine), so one text decides on a laptop and on a
cluster. A bucket is one value of a band, or one digest. Its owner, for a later question, is the first document of it
that was kept; so a document is decided once nothing undecided is before it in its buckets, and sooner where it cannot
end otherwise. Documents alone in all their buckets are kept and never looked at again. A bucket is compared with its
owner alone and then closed: no pairs, at most (bands + 1) × documents rows.

A chain in which each text is like the one before takes as many rounds as it has texts. Where rounds get on slowly, the
first `BLOCK` undecided documents are therefore decided in their order by one task, which bounds rounds and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from crawler.dedup.index import DedupError

KEPT, OWN, GONE = 1, 2, 3
"""States: kept, and owner of its text and bands; kept as a version of a page of the same owner, and owner of its exact
text; a duplicate."""
BLOCK = 20_000
"""Documents that one task decides in their order: some 100 MB."""
SLOW = 5
"""A round that decides less than this part (1 / SLOW) of the undecided is slow."""

TEXTS = {
    "ord": "BIGINT", "owner": "VARCHAR", "digest": "BLOB", "signature": "BLOB", "bands": "BIGINT[]", "needed": "BIGINT",
}  # fmt: skip
"""Columns of the table `texts`, which is given. ord: the order of the questions, each number once. owner: the page that
asks. bands: of `bucket_keys`. The others: of `index.Question`."""

Waiting = tuple[int, str, bytes, int, bool, bool, int | None, Sequence[int | None]]
"""A row of `decide_in_order`: ord, owner, signature, needed, near, own, digest bucket, band buckets."""


class Tables(Protocol):
    """An engine: named tables that are made of queries. A new table takes the place of one with its name."""

    explode: str
    """The function that makes rows of a list."""

    def make(self, name: str, query: str) -> None:
        """Make a table of what a query answers, which may read a table of that name."""
        ...

    def count(self, name: str) -> int:
        """The rows of a table."""
        ...

    def append(self, name: str, query: str) -> None:
        """Add what a query answers to a table, which may not be there yet."""
        ...

    def decide(self, name: str, query: str) -> None:
        """Make a table (ord, st) of what `decide_in_order` says of a query's rows."""
        ...

    def drop(self, name: str) -> None:
        """Remove a table."""
        ...


def bucket_keys(bands: Sequence[int], *, band_bits: int = 32) -> list[int]:
    """The buckets of `Question.bands`, as signed 64-bit numbers: of 32 bits the band and its hash, of 64 the hash."""
    if band_bits == 64:
        return [key - (1 << 64) if key >> 63 else key for key in bands]
    return [band << 32 | key for band, key in enumerate(bands)]


def find_gone(tables: Tables, *, block: int = BLOCK, progress: Callable[[int], object] = lambda _: None) -> int:
    """Of the table `texts` make the table `gone` (ord, owned_by, exact, agreeing): duplicates and their owners.

    owned_by: the ord of the owner; exact before near, then the most similar, then the oldest. agreeing: signature
    positions; 0 where exact.
    progress: is told how many documents are undecided. Returns the number of duplicates.
    Raises: DedupError where `texts` has an order twice.
    """
    tables.make("heads", "SELECT ord FROM texts GROUP BY ord HAVING count(*) > 1")
    if tables.count("heads"):
        raise DedupError("the table `texts` has an order twice; number the documents one by one")
    _shared(tables)
    undecided = _begin(tables)
    tables.make("decided", "SELECT ord, 1 AS st FROM open WHERE FALSE")
    is_slow = False
    while undecided:
        progress(undecided)
        before = undecided
        if is_slow or undecided <= block:
            tables.decide("new", _FIRST.format(block=block))
        else:
            tables.make("heads", _HEADS)
            tables.make("new", _DECIDED)
        undecided = _settle(tables)
        if undecided >= before:
            raise DedupError(f"a round over {before} documents decided none: an error of this program")
        is_slow = not is_slow and (before - undecided) * SLOW < before
    found = _named(tables)
    for name in ("buckets", "rows", "open", "new", "heads", "staying", "owners", "pairs", "hits", "sure", "decided"):
        tables.drop(name)
    return found


# --- which documents have anything to compare ------------------------------------------------------------------------
def _shared(tables: Tables) -> None:
    """Make `buckets` (exact, key, ord): those of more than one document. A digest's key is its first document."""
    tables.make("bands", f"SELECT {tables.explode}(bands) AS key, ord FROM texts")  # noqa: S608
    tables.make("heads", "SELECT key FROM bands GROUP BY key HAVING count(*) > 1")
    tables.make("buckets", "SELECT FALSE AS exact, key, ord FROM bands SEMI JOIN heads USING (key)")
    tables.drop("bands")
    tables.make("heads", "SELECT digest, min(ord) AS key FROM texts GROUP BY digest HAVING count(*) > 1")
    tables.append("buckets", "SELECT TRUE AS exact, key, ord FROM texts JOIN heads USING (digest)")


def _begin(tables: Tables) -> int:
    """Make `rows`, the open buckets, and `open`, the undecided documents.

    alone: no other document of this owner shares a bucket with any. near, own: what owners of closed buckets were.
    """
    tables.make("rows", "SELECT exact, key, ord FROM buckets")
    tables.make("heads", "SELECT DISTINCT ord FROM rows")
    tables.make("open", "SELECT ord, owner FROM texts SEMI JOIN heads USING (ord)")
    tables.make("heads", "SELECT owner, count(*) = 1 AS alone FROM open GROUP BY owner")
    tables.make("open", "SELECT ord, alone, FALSE AS near, FALSE AS own FROM open JOIN heads USING (owner)")
    return tables.count("open")


# --- rounds ----------------------------------------------------------------------------------------------------------
_HEADS = "SELECT exact, key, min(ord) AS head FROM rows GROUP BY exact, key"
_DECIDED = f"""
WITH waits AS (
    SELECT rows.ord AS ord, bool_or(exact) AS for_exact FROM rows JOIN heads USING (exact, key)
    WHERE head < rows.ord GROUP BY rows.ord
), said AS (
    SELECT open.ord AS ord, CASE
        WHEN own AND NOT coalesce(for_exact, FALSE) THEN {OWN}
        WHEN waits.ord IS NULL AND near THEN {GONE}
        WHEN waits.ord IS NULL THEN {KEPT}
        END AS st
    FROM open LEFT JOIN waits ON open.ord = waits.ord
)
SELECT ord, st FROM said WHERE st IS NOT NULL
"""  # noqa: S608
_FIRST = """
WITH first AS (SELECT ord, near, own FROM open ORDER BY ord LIMIT {block})
SELECT first.ord AS ord, owner, signature, needed, near, own,
    min(CASE WHEN exact THEN key END) AS digest, array_agg(CASE WHEN NOT exact THEN key END) AS bands
FROM first JOIN texts ON first.ord = texts.ord LEFT JOIN rows ON first.ord = rows.ord
GROUP BY first.ord, owner, signature, needed, near, own ORDER BY ord
"""
_STAYING = f"""
SELECT exact, key, rows.ord AS ord, coalesce(st, 0) AS st FROM rows LEFT JOIN new ON rows.ord = new.ord
WHERE st IS NULL OR st = {KEPT} OR (st = {OWN} AND exact)
"""  # noqa: S608
_OWNERS = "SELECT exact, key, min(ord) AS owned_by FROM staying WHERE st > 0 GROUP BY exact, key"
_PAIRS = """
SELECT ord, owned_by, bool_or(exact) AS exact FROM staying JOIN owners USING (exact, key)
WHERE st = 0 GROUP BY ord, owned_by
"""
_COMPARED = """
SELECT pairs.ord AS ord, pairs.exact AS exact, mine.owner = theirs.owner AS same, mine.needed AS needed,
    octet_length(mine.signature) AS width,
    CASE WHEN pairs.exact THEN 0 ELSE agreeing(mine.signature, theirs.signature) END AS agreed, owned_by
FROM pairs JOIN texts AS mine ON pairs.ord = mine.ord JOIN texts AS theirs ON pairs.owned_by = theirs.ord
"""
_HITS = f"""
SELECT ord, bool_or(exact AND same) AS again, bool_or(exact AND NOT same) AS copied,
    bool_or(NOT exact AND same AND agreed = width) AS own,
    bool_or(NOT exact AND NOT same AND agreed >= needed) AS near
FROM ({_COMPARED}) AS compared GROUP BY ord
"""  # noqa: S608
_SURE = f"""
SELECT hits.ord AS ord, CASE WHEN again THEN {OWN} ELSE {GONE} END AS st
FROM hits JOIN open ON hits.ord = open.ord WHERE again OR copied OR (hits.near AND alone)
"""  # noqa: S608
_OPEN = """
SELECT open.ord AS ord, alone, open.near OR coalesce(hits.near, FALSE) AS near,
    open.own OR coalesce(hits.own, FALSE) AS own
FROM open LEFT JOIN hits ON open.ord = hits.ord LEFT JOIN decided ON open.ord = decided.ord WHERE decided.ord IS NULL
"""
_ROWS = """
SELECT staying.exact AS exact, staying.key AS key, staying.ord AS ord
FROM staying LEFT JOIN owners ON staying.exact = owners.exact AND staying.key = owners.key
LEFT JOIN sure ON staying.ord = sure.ord WHERE staying.st = 0 AND owned_by IS NULL AND sure.ord IS NULL
"""


def _settle(tables: Tables) -> int:
    """What the decisions `new` mean for the others: buckets that have an owner now are compared with it and closed."""
    tables.append("decided", "SELECT ord, st FROM new")
    tables.make("staying", _STAYING)
    tables.make("owners", _OWNERS)
    tables.make("pairs", _PAIRS)
    tables.make("hits", _HITS)
    tables.make("sure", _SURE)
    tables.append("decided", "SELECT ord, st FROM sure")
    tables.make("rows", _ROWS)
    tables.make("open", _OPEN)
    return tables.count("open")


def decide_in_order(rows: Iterable[Waiting]) -> Iterator[tuple[int, int]]:
    """Order and state of the first undecided documents, which come in their order, as the index would decide them."""
    owner_of: dict[tuple[bool, int], int] = {}  # bucket -> its first kept document
    pages: dict[int, str] = {}
    signatures: dict[int, Any] = {}
    for number, page, signature, needed, was_near, was_own, digest, maybe in rows:
        bands = [key for key in maybe if key is not None]
        state, mine = KEPT, np.frombuffer(signature, np.uint8)
        if digest is not None and (first := owner_of.get((True, digest))) is not None:
            state = OWN if pages[first] == page else GONE
        else:
            near, own = was_near, was_own
            for other in {owner_of[False, key] for key in bands if (False, key) in owner_of}:
                agreed = int(np.count_nonzero(mine == signatures[other]))
                if pages[other] == page:
                    own = own or agreed == len(mine)
                else:
                    near = near or agreed >= needed
            state = OWN if own else GONE if near else KEPT
        if state != GONE:
            pages[number] = page
            if digest is not None:
                owner_of.setdefault((True, digest), number)
        if state == KEPT:
            signatures[number] = mine
            for key in bands:
                owner_of.setdefault((False, key), number)
        yield number, state


# --- names -----------------------------------------------------------------------------------------------------------
_BUCKET_OWNERS = f"""
SELECT exact, key, min(buckets.ord) AS owned_by FROM buckets JOIN decided ON buckets.ord = decided.ord
WHERE st = {KEPT} OR (st = {OWN} AND exact) GROUP BY exact, key
"""  # noqa: S608
_CANDIDATES = f"""
SELECT buckets.ord AS ord, owned_by, bool_or(exact) AS exact
FROM buckets JOIN decided ON buckets.ord = decided.ord JOIN owners USING (exact, key)
WHERE st = {GONE} AND owned_by < buckets.ord GROUP BY buckets.ord, owned_by
"""  # noqa: S608
_NAMED = f"""
SELECT ord, owned_by, exact, agreed AS agreeing FROM (
    SELECT *, row_number() OVER (PARTITION BY ord ORDER BY exact DESC, agreed DESC, owned_by) AS place
    FROM ({_COMPARED}) AS compared WHERE NOT same AND (exact OR agreed >= needed)
) AS ranked WHERE place = 1
"""  # noqa: S608


def _named(tables: Tables) -> int:
    tables.make("owners", _BUCKET_OWNERS)
    tables.make("pairs", _CANDIDATES)
    tables.make("gone", _NAMED)
    tables.make("new", f"SELECT ord FROM decided WHERE st = {GONE}")  # noqa: S608
    found, expected = tables.count("gone"), tables.count("new")
    if found != expected:
        raise DedupError(f"{expected} documents are duplicates, but {found} have an owner: an error of this program")
    return found
