"""The supply of a mixture: one row a document in DuckDB on the disk, and from them how many tokens there are of what.

The rows have no text, so that a corpus far larger than memory fits: what DuckDB cannot hold goes to a folder beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import xxhash

from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.mix.spec import OTHERS, SOURCE, Spec, Target, label
from crawler.dataset.mix.tokens import Count
from crawler.storage.files.columns import arrow
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import Record

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")
MEMORY = "1GB"
"""What DuckDB may hold; the rest goes to the disk."""
ROWS = 10_000
"""Rows that go into a table at a time."""
TEXTS = 200
"""Texts whose tokens are counted at a time."""
MOST_VALUES = 1_000
"""Values of a field that a target by temperature may tell apart; a field with more is no mixture but a list."""
UNCAPPED = ""
"""Stands for every value of the capped field that cannot reach the cap."""
MISSING = "a mixture needs duckdb and pyarrow, which are not installed: pip install 'gristmill[parquet]'"


@dataclass(frozen=True, slots=True)
class Group:
    """Documents that count alike: one source, one value for each target, one capped value or none.

    tokens: of each document once. most: with the epochs that are allowed.
    """

    source: int
    labels: tuple[str, ...]
    capped: str
    tokens: int
    documents: int
    most: float


@dataclass(slots=True)
class Supply:
    """What there is. counts: of each source, as it was read."""

    groups: list[Group]
    counts: list[Counts] = field(default_factory=list)


def open_database(folder: Path) -> duckdb.DuckDBPyConnection:
    """A database on the disk, gone with its folder. Raises: StorageError where duckdb is not installed."""
    try:
        import duckdb
    except ImportError:
        raise StorageError(MISSING) from None
    arrow()
    connection = duckdb.connect(str(folder / "mix.duckdb"))
    for name, value in (("memory_limit", MEMORY), ("temp_directory", str(folder / "spill"))):
        connection.execute(f"SET {name} = ?", [value])
    connection.execute("SET preserve_insertion_order = false")
    return connection


def in_turns(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most `size` items."""
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some


def fill(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: dict[str, str],
    rows: Iterable[tuple[Any, ...]],
) -> None:
    """Make a table of rows, some at a time. columns: DuckDB's type by name; rows in that order."""
    pa = arrow()
    types = {"BIGINT": pa.int64(), "UBIGINT": pa.uint64(), "VARCHAR": pa.string(), "BLOB": pa.binary()}
    types["DOUBLE"] = pa.float64()
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())})")
    for some in in_turns(rows, ROWS):
        arrays = [pa.array(column, schema.field(n).type) for n, column in enumerate(zip(*some, strict=True))]
        batch = pa.Table.from_arrays(arrays, schema=schema)
        connection.register("batch", batch)
        connection.execute(f"INSERT INTO {table} SELECT * FROM batch")  # noqa: S608  # names of our own
        connection.unregister("batch")


def take_stock(
    connection: duckdb.DuckDBPyConnection,
    spec: Spec,
    sources: Sources,
    count: Count,
    progress: Callable[[int], object] = lambda _: None,
) -> Supply:
    """Read every document once; the table `docs` has a row for each. Raises: StorageError."""
    supply = Supply([], [Counts() for _ in spec.sources])
    labels = {f"t{n}": "VARCHAR" for n in range(len(spec.targets))}
    columns = {"source": "BIGINT", "n": "BIGINT", "h": "UBIGINT", "tokens": "BIGINT", "cap": "VARCHAR", **labels}
    fill(connection, "docs", columns, _rows(spec, sources, count, supply, progress))
    supply.groups = list(_groups(connection, spec))
    for number, target in enumerate(spec.targets):
        values = {group.labels[number] for group in supply.groups}
        if len(values) > MOST_VALUES:
            raise StorageError(
                f"{spec.path}: targets[{number}]: {target.by} has {len(values):,} values, more than {MOST_VALUES:,}; "
                "a temperature is for a field with few, such as language"
            )
    return supply


def _rows(
    spec: Spec, sources: Sources, count: Count, supply: Supply, progress: Callable[[int], object]
) -> Iterator[tuple[Any, ...]]:
    done = 0
    for number, counts in enumerate(supply.counts):
        place = 0
        for some in in_turns(sources.read(number, counts), TEXTS):
            for record, tokens in zip(some, count(some), strict=True):
                yield (number, place, order(spec.seed, record), tokens, *_values(spec, number, record))
                place += 1
            done += len(some)
            progress(done)


def order(seed: int, record: Record) -> int:
    """Where a document stands among its like: 64 bits that depend on the seed and the text, on no file's order."""
    name = record.get("doc_id") or xxhash.xxh3_128_hexdigest(record["text"].encode("utf-8", "surrogatepass"))
    return xxhash.xxh3_64_intdigest(f"{seed}\n{name}".encode())


def _values(spec: Spec, number: int, record: Record) -> Iterator[str]:
    """The value that the cap looks at, then the label for each target."""
    cap = record.get(spec.cap.by) if spec.cap else None
    yield UNCAPPED if cap is None else str(cap)
    for target in spec.targets:
        value = spec.sources[number].name if target.by == SOURCE else record.get(target.by)
        try:
            yield target.label(value)
        except TypeError as error:
            raise StorageError(f"{spec.path}: targets: {target.by} {error}; a target needs a single value") from None


def _groups(connection: duckdb.DuckDBPyConnection, spec: Spec) -> Iterator[Group]:
    """Make the tables `keyed` and `groups`. A value that cannot reach the cap needs no group of its own."""
    limits = [each.epochs for each in spec.sources] + [e for t in spec.targets for e in t.epochs.values()]
    least = spec.cap.tokens / max(limits) if spec.cap else 0
    names = "".join(f", t{n}" for n in range(len(spec.targets)))
    connection.execute(
        "CREATE TABLE capped AS SELECT cap FROM docs WHERE cap <> '' AND ? GROUP BY cap HAVING sum(tokens) > ?",
        [spec.cap is not None, least],
    )
    connection.execute(
        "CREATE VIEW keyed AS SELECT docs.* EXCLUDE (cap), coalesce(capped.cap, '') AS cap "
        "FROM docs LEFT JOIN capped ON docs.cap = capped.cap"
    )
    connection.execute(  # capped values first: the others of a cell make good for what whole documents leave open
        f"CREATE TABLE groups AS SELECT row_number() OVER (ORDER BY source{names}, cap = '', cap) - 1 AS g, * FROM "  # noqa: S608
        f"(SELECT source{names}, cap, sum(tokens)::BIGINT AS tokens, count(*) AS documents FROM keyed GROUP BY ALL)"
    )
    answer = connection.execute(f"SELECT source, cap, tokens, documents{names} FROM groups ORDER BY g")  # noqa: S608
    while rows := answer.fetchmany(ROWS):
        for source, cap, tokens, documents, *labels in rows:
            most = tokens * epochs_of(spec, source, tuple(labels))
            yield Group(source, tuple(labels), cap, tokens, documents, most)


def epochs_of(spec: Spec, source: int, labels: tuple[str, ...]) -> float:
    """How often documents may be used: as the targets say of their values, the least of several; else as the source."""
    said = [t.epochs[text] for t, text in zip(spec.targets, labels, strict=True) if text in t.epochs]
    return min(said) if said else spec.sources[source].epochs


def wanted(target: Target, supply: Supply, number: int, budget: float) -> dict[str, float]:
    """Tokens of each value of a target; empty where it asks for none. The values sum to the budget.

    Temperature: shares p^(1/T), p the share of the value's tokens in what there is (Devlin 2019, multilingual BERT,
    with T = 1/0.7; Conneau et al. 2020, XLM-R, arXiv:1911.02116, with T = 1/0.3).
    """
    there = dict.fromkeys((group.labels[number] for group in supply.groups), 0.0)
    if target.temperature is not None:
        for group in supply.groups:
            there[group.labels[number]] += group.tokens
        total = sum(there.values()) or 1
        weights = {name: (count / total) ** (1 / target.temperature) for name, count in sorted(there.items())}
        return {name: budget * weight / sum(weights.values()) for name, weight in weights.items()}
    if target.shares:
        return there | {name: share * budget for name, share in target.shares.items()}
    if target.tokens:
        rest = {} if OTHERS in target.tokens else {OTHERS: budget - sum(target.tokens.values())}
        return there | dict.fromkeys(target.named, 0.0) | dict(target.tokens) | rest
    return {}


def written_label(text: object) -> str:
    """For messages: a value, and in words what `*` and no value are."""
    return {OTHERS: "all others", "none": "no value"}.get(label(text), label(text))
