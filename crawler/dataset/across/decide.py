"""Decides which copies go: every document asks in its rank, as pages ask the index of the crawl when they arrive.

Same digest: exact. Else the bands name candidates and the signatures decide, with the crawl's thresholds; the most
similar document that stays is named, among equals the best. A document that goes is nobody's owner. Owners are on the
disk; a block of documents is compared with them in one join, and among themselves in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.dataset.records.database import fill, rows_of
from crawler.dedup.index import similarity
from crawler.storage.files.columns import arrow

if TYPE_CHECKING:
    import duckdb

BLOCK = 50_000
"""Documents that are compared with the owners on the disk at a time: about 100 MB."""
DECISIONS = {"place": "BIGINT", "owner": "BIGINT", "similarity": "DOUBLE", "exact": "BIGINT"}


@dataclass(slots=True)
class _Block:
    """What the disk knows about the documents of a block, and what is new in it.

    exact: place -> owner. near: place -> owner -> its signature. taken: place -> bands that have an owner.
    """

    exact: dict[int, int] = field(default_factory=dict)
    near: dict[int, dict[int, bytes]] = field(default_factory=lambda: defaultdict(dict))
    taken: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    digests: dict[bytes, int] = field(default_factory=dict)
    bands: dict[int, int] = field(default_factory=dict)
    signatures: dict[int, bytes] = field(default_factory=dict)


def decide(
    database: duckdb.DuckDBPyConnection,
    permutations: int,
    *,
    progress: Callable[[int], object] = lambda _: None,
) -> None:
    """Make the table `decisions`: each document of `ranked` that goes, its owner and their similarity (0 to 1).

    permutations: positions of a signature. Memory: DuckDB's limit and one block.
    """
    database.execute("CREATE TABLE digests (digest BLOB, owner BIGINT)")
    database.execute("CREATE TABLE bands (key UBIGINT, owner BIGINT)")
    database.execute("CREATE TABLE signatures (owner BIGINT, signature BLOB)")
    reading = database.cursor()
    reading.execute("SELECT place, digest, signature, bands, needed FROM ranked ORDER BY place")
    fill(database.cursor(), "decisions", DECISIONS, _decisions(database, reading, permutations, progress))


def _decisions(
    database: duckdb.DuckDBPyConnection,
    reading: duckdb.DuckDBPyConnection,
    permutations: int,
    progress: Callable[[int], object],
) -> Iterator[tuple[int, int, float, int]]:
    while rows := reading.fetchmany(BLOCK):
        keys = [_keys(bands) for _, _, _, bands, _ in rows]
        block = _known(database, rows, keys)
        for row, row_keys in zip(rows, keys, strict=True):
            found = _ask(block, row, row_keys, permutations)
            if found is not None:
                yield row[0], *found
        _remember(database, block)
        progress(rows[-1][0] + 1)


def _keys(bands: bytes) -> list[int]:
    """One number for each band and its hash."""
    hashes = np.frombuffer(bands, "<u4").astype(np.uint64)
    keys: list[int] = (hashes | (np.arange(len(hashes), dtype=np.uint64) << np.uint64(32))).tolist()
    return keys


def _known(database: duckdb.DuckDBPyConnection, rows: list[tuple[Any, ...]], keys: list[list[int]]) -> _Block:
    """Ask the disk about a whole block."""
    pa, block = arrow(), _Block()
    places = [row[0] for row in rows]
    asked = pa.table({"place": places, "digest": pa.array([row[1] for row in rows], pa.binary())})
    database.register("asked", asked)
    for place, owner in database.execute(
        "SELECT asked.place, digests.owner FROM asked JOIN digests USING (digest)"
    ).fetchall():
        block.exact[place] = owner
    of = pa.array(np.repeat(np.array(places), [len(each) for each in keys]))
    flat = pa.array([key for each in keys for key in each], pa.uint64())
    database.register("asked_bands", pa.table({"place": of, "key": flat}))
    answer = database.execute(
        "SELECT place, key, owner, signature FROM asked_bands JOIN bands USING (key) JOIN signatures USING (owner)"
    )
    for place, key, owner, signature in rows_of(answer):
        block.near[place][owner] = signature
        block.taken[place].add(key)
    for name in ("asked", "asked_bands"):
        database.unregister(name)
    return block


def _ask(block: _Block, row: tuple[Any, ...], keys: list[int], permutations: int) -> tuple[int, float, int] | None:
    """Owner, similarity and whether the text is the same; None: the document stays and owns its text from now on."""
    place, digest, signature, _, needed = row
    owner = block.exact.get(place, block.digests.get(digest))
    if owner is not None:
        return owner, 1.0, 1
    candidates = dict(block.near.get(place, {}))
    candidates |= {block.bands[key]: block.signatures[block.bands[key]] for key in keys if key in block.bands}
    best = max(((_agreement(signature, theirs), -number) for number, theirs in candidates.items()), default=(-1, 0))
    if candidates and best[0] >= needed:
        return -best[1], similarity(best[0], permutations), 0
    block.digests[digest] = place
    if keys:
        block.signatures[place] = signature
        for key in keys:
            if key not in block.taken.get(place, ()):
                block.bands.setdefault(key, place)  # the first owner of a band stays, as in the crawl
    return None


def _agreement(mine: bytes, theirs: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(mine, np.uint8) == np.frombuffer(theirs, np.uint8)))


def _remember(database: duckdb.DuckDBPyConnection, block: _Block) -> None:
    """Put the owners of a block on the disk."""
    pa = arrow()
    tables = {
        "digests": (block.digests.keys(), pa.binary(), block.digests.values(), pa.int64()),
        "bands": (block.bands.keys(), pa.uint64(), block.bands.values(), pa.int64()),
        "signatures": (block.signatures.keys(), pa.int64(), block.signatures.values(), pa.binary()),
    }
    for name, (first, kind, second, other) in tables.items():
        database.register("new", pa.table([pa.array(list(first), kind), pa.array(list(second), other)], ["a", "b"]))
        database.execute(f"INSERT INTO {name} SELECT * FROM new")  # noqa: S608  # names of our own
        database.unregister("new")
