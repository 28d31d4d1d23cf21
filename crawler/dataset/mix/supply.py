"""The supply of a mixture: one row a document in DuckDB on the disk, and from them how many tokens there are of what.

The rows have no text, so that a corpus far larger than memory fits: what DuckDB cannot hold goes to a folder beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import xxhash

from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.mix.spec import OTHERS, SOURCE, Spec, Target, label
from crawler.dataset.mix.tokens import Count
from crawler.dataset.records.database import fill, in_turns, rows_of
from crawler.number import number_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import SYNTHETIC, Record

if TYPE_CHECKING:
    import duckdb

TEXTS = 200
"""Texts whose tokens are counted at a time."""
MOST_VALUES = 1_000
"""Values of a field that a target by temperature may tell apart; a field with more is no mixture but a list."""
UNCAPPED = ""
"""Stands for every value of the capped field that cannot reach the cap."""


@dataclass(frozen=True, slots=True)
class Group:
    """Documents that count alike: one source, one value for each target, one capped value or none.

    tokens: of each document once. most: with the epochs that are allowed. synthetic: language models wrote them all.
    """

    source: int
    labels: tuple[str, ...]
    capped: str
    tokens: int
    documents: int
    most: float
    synthetic: bool = False


@dataclass(slots=True)
class Supply:
    """What there is. counts: of each source, as it was read."""

    groups: list[Group]
    counts: list[Counts] = field(default_factory=list)


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
    columns = {
        "source": "BIGINT",
        "n": "BIGINT",
        "h": "UBIGINT",
        "tokens": "BIGINT",
        "cap": "VARCHAR",
        "synthetic": "BOOLEAN",
        **labels,
    }
    fill(connection, "docs", columns, _rows(spec, sources, count, supply, progress))
    supply.groups = capped_synthetic(list(_groups(connection, spec)), spec)
    for number, target in enumerate(spec.targets):
        values = {group.labels[number] for group in supply.groups}
        if len(values) > MOST_VALUES:
            raise StorageError(
                f"{spec.path}: targets[{number}]: {target.by} has "
                f"{number_of(len(values), 'value')}, more than {MOST_VALUES:,}; "
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


def capped_synthetic(groups: list[Group], spec: Spec) -> list[Group]:
    """No mixture of these has more tokens that models wrote than the spec allows: each such group gives up alike."""
    there, most = sum(group.most for group in groups if group.synthetic), spec.synthetic * spec.budget
    if there <= most:
        return groups
    return [replace(group, most=group.most * most / there) if group.synthetic else group for group in groups]


def _values(spec: Spec, number: int, record: Record) -> Iterator[str | bool]:
    """The value that the cap looks at, whether a model wrote it, then the label for each target."""
    cap = record.get(spec.cap.by) if spec.cap else None
    yield UNCAPPED if cap is None else str(cap)
    yield record.get(SYNTHETIC) is True
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
        f"CREATE TABLE groups AS SELECT row_number() OVER (ORDER BY source{names}, synthetic, cap = '', cap) - 1 AS g,"  # noqa: S608
        f" * FROM (SELECT source{names}, synthetic, cap, sum(tokens)::BIGINT AS tokens, count(*) AS documents FROM "
        "keyed GROUP BY ALL)"
    )
    answer = connection.execute(f"SELECT source, cap, tokens, documents, synthetic{names} FROM groups ORDER BY g")  # noqa: S608
    for source, cap, tokens, documents, synthetic, *labels in rows_of(answer):
        most = tokens * epochs_of(spec, source, tuple(labels))
        yield Group(source, tuple(labels), cap, tokens, documents, most, synthetic)


def synthetic_hint(spec: Spec, supply: Supply) -> str:
    """Where the cap on what models wrote may be what is short."""
    there = sum(group.tokens for group in supply.groups if group.synthetic)
    if there <= spec.synthetic * spec.budget:
        return ""
    least = f"{spec.synthetic:g} of the budget (`synthetic` in the spec)"
    return f"; {there:,} tokens there are of texts that language models wrote, and those may be at most {least}"


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
