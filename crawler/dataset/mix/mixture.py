"""A mixture is planned on the columns of its sources and then written in a second reading of their texts.

Nothing is written before every target is known to be within its tolerance. The folder is there whole or not at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from crawler.dataset.export import Exported, Filling, draft_beside, put, put_all, settle_version
from crawler.dataset.export_formats import export_format
from crawler.dataset.mix.pick import Picked, pick
from crawler.dataset.mix.solve import Marginal, Problem, solve
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.mix.spec import OTHERS, Spec
from crawler.dataset.mix.supply import Group, Supply, epochs_of, synthetic_hint, take_stock, wanted, written_label
from crawler.dataset.mix.tokens import counter
from crawler.dataset.records.database import connect, rows_of
from crawler.storage.corpus.software import versions
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import Format, with_columns
from crawler.storage.files.journal import indented
from crawler.storage.files.records import Record
from crawler.times import Clock

if TYPE_CHECKING:
    import duckdb

MIX_FORMAT = "crawler-mix/1"
MIX = "mix.json"
SOURCE_FIELD = "mix_source"
"""What a mixture adds to every record: the name of its source."""
SHOWN = 20
"""Misses that an error names."""


class UnreachableError(StorageError):
    """The targets cannot be reached; the text says which by how many tokens."""


@dataclass(frozen=True, slots=True)
class Line:
    """One value of one target. target and tokens: wanted and achieved; there: tokens of the value in the sources."""

    by: str
    value: str
    target: float | None
    tokens: int
    documents: int
    uses: int
    there: int

    @property
    def epochs(self) -> float:
        """Tokens of the mixture for each token that there is."""
        return self.tokens / self.there if self.there else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        names = ("by", "value", "target", "tokens", "documents", "uses", "there")
        found = {name: getattr(self, name) for name in names}
        return found | {"target": self.target and round(self.target), "epochs": round(self.epochs, 4)}


@dataclass(slots=True)
class Plan:
    """What a mixture is going to be. capped: values of the capped field that stand at the cap."""

    spec: Spec
    counted_by: str
    lines: list[Line] = field(default_factory=list)
    tokens: int = 0
    documents: int = 0
    uses: int = 0
    rounds: int = 0
    capped: list[str] = field(default_factory=list)
    counts: list[Counts] = field(default_factory=list)
    synthetic: dict[str, int] = field(default_factory=lambda: {"tokens": 0, "documents": 0})

    @property
    def synthetic_share(self) -> float:
        """Of the tokens, those that language models wrote."""
        return self.synthetic["tokens"] / self.tokens if self.tokens else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "budget": round(self.spec.budget),
            "tokens": self.tokens,
            "documents": self.documents,
            "records": self.uses,
            "counted_by": self.counted_by,
            "targets": [line.as_dict() for line in self.lines],
            "capped": len(self.capped),
            "synthetic": {
                **self.synthetic,
                "share": round(self.synthetic_share, 6),
                "most_share": self.spec.synthetic,
            },
        }


class Describer(Protocol):
    """Sees each document once and makes the published documents of the mixture: content by name."""

    def add(self, record: Record, source: str) -> None:
        """Take a document. source: its name in the spec."""

    def documents(self, plan: Plan, files: list[dict[str, Any]], form: Format) -> dict[str, bytes]:
        """files: as the manifest lists them."""


def plan(spec: Spec, progress: Callable[[int], object] = lambda _: None) -> Plan:
    """What the mixture would be. Raises: UnreachableError, StorageError."""
    with _Mixture(spec, progress) as mixture:
        return mixture.plan


def mix(
    spec: Spec,
    out: Path,
    to: str,
    *,
    max_bytes: int,
    describe: Callable[[Sources], Describer] | None = None,
    progress: Callable[[int], object] = lambda _: None,
    clock: Clock = time.time,
) -> tuple[Plan, Exported]:
    """Write the mixture to the folder `out`, in the format `to`; equal sources give equal bytes outside its registry.

    max_bytes: of records as JSON in one file. describe: makes who makes the published documents. progress:
    documents read, then written.
    Memory: DuckDB's limit, the groups, one record (with Parquet one row group).
    Raises: UnreachableError before anything is written; StorageError where `out` is in use, a file is damaged, no
    document is picked, or a source changes meanwhile.
    """
    with ExitStack() as stack:
        form, draft = with_columns(export_format(to), (SOURCE_FIELD,)), draft_beside(out, stack)
        mixture = stack.enter_context(_Mixture(spec, progress))
        files = Filling(draft, form, max_bytes, progress)
        describer = describe(mixture.sources) if describe is not None else None
        files.fill(mixture.records(describer))
        lineage = mixture.sources.lineage()
        mixture.check_unchanged()
        if describer is not None:
            put_all(draft, describer.documents(mixture.plan, files.files, form))
        put(draft / MIX, indented(_manifest(mixture.plan, to, lineage, files)))
        settle_version(draft, out, MIX, mixture.sources.places(), now=clock())
    return mixture.plan, files.result()


class _Mixture:
    """A mixture between its plan and its last record; the scratch folder lasts as long."""

    def __init__(self, spec: Spec, progress: Callable[[int], object]) -> None:
        self._spec, self._progress = spec, progress

    def __enter__(self) -> _Mixture:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="mix-")))
            self.sources = Sources(self._spec.sources)
            self._before = self.sources.state()
            self._database = stack.enter_context(connect(folder / "mix.duckdb", folder / "spill"))
            self.plan = _planned(self._spec, self._database, self.sources, self._progress)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def records(self, describer: Describer | None = None) -> Iterator[Record]:
        """Round by round, so that the repeats of a document are apart; in each, the sources in the spec's order."""
        for times in range(1, self.plan.rounds + 1):
            for number, source in enumerate(self._spec.sources):
                places = self._places(number, times)
                wanted = next(places, None)
                for place, record in enumerate(self.sources.read(number, Counts()) if wanted is not None else ()):
                    if place == wanted:
                        if describer is not None and times == 1:
                            describer.add(record, source.name)
                        yield record | {SOURCE_FIELD: source.name}
                        wanted = next(places, None)
                    if wanted is None:
                        break

    def _places(self, source: int, times: int) -> Iterator[int]:
        question = "SELECT n FROM picks WHERE source = ? AND times >= ? ORDER BY n"
        answer = self._database.cursor().execute(question, [source, times])
        yield from (place for (place,) in rows_of(answer))

    def check_unchanged(self) -> None:
        """Raises: StorageError where a source is not what it was when the plan was made."""
        if self.sources.state() != self._before:
            raise StorageError(f"{self._spec.path}: a source changed while it was mixed; run the same command again")


def _planned(
    spec: Spec, database: duckdb.DuckDBPyConnection, sources: Sources, progress: Callable[[int], object]
) -> Plan:
    counted_by, count = counter(spec.tokenizer)
    supply = take_stock(database, spec, sources, count, progress)
    wants = [wanted(target, supply, n, spec.budget) for n, target in enumerate(spec.targets)]
    _check_budget(spec, supply)
    solution = solve(_problem(spec, supply.groups, wants))
    if solution.total_missed:
        raise UnreachableError(_what_is_missing(spec, supply, wants, solution.missed))
    cap = spec.cap.tokens if spec.cap else 0.0
    found = pick(database, supply.groups, solution.tokens.tolist(), cap)
    made = Plan(
        spec,
        counted_by,
        list(_lines(spec, supply.groups, wants, found)),
        sum(found.tokens),
        sum(found.documents),
        sum(found.uses),
        found.most_epochs,
        sorted(name for name, tokens in found.of_capped.items() if tokens >= cap * (1 - spec.tolerance)),
        supply.counts,
        {
            name: sum(count for count, group in zip(counts, supply.groups, strict=True) if group.synthetic)
            for name, counts in (("tokens", found.tokens), ("documents", found.documents))
        },
    )
    _check_tolerance(spec, made)
    return made


def _check_budget(spec: Spec, supply: Supply) -> None:
    most = sum(group.most for group in supply.groups)
    if most < spec.budget * (1 - 1e-9):
        raise UnreachableError(
            f"{spec.path}: tokens: {spec.budget:,.0f} are wanted and the sources have {most:,.0f} with their epochs: "
            f"{spec.budget - most:,.0f} short; lower tokens, raise epochs, or add a source"
            f"{synthetic_hint(spec, supply)}"
        )


def _problem(spec: Spec, groups: list[Group], wants: list[dict[str, float]]) -> Problem:
    marginals = [_marginal([group.labels[n] for group in groups], want) for n, want in enumerate(wants) if want]
    names = {name: n for n, name in enumerate(sorted({group.capped for group in groups} - {""}))}
    return Problem(
        np.array([group.tokens for group in groups], dtype=np.float64),
        np.array([group.most for group in groups], dtype=np.float64),
        marginals or [_marginal([""] * len(groups), {"": spec.budget})],
        np.array([names.get(group.capped, -1) for group in groups], dtype=np.int64),
        spec.cap.tokens if spec.cap else 0.0,
    )


def _marginal(labels: list[str], want: dict[str, float]) -> Marginal:
    codes = {name: code for code, name in enumerate(want)}
    return Marginal(np.array([codes[text] for text in labels], dtype=np.int64), np.array(list(want.values())))


def _lines(spec: Spec, groups: list[Group], wants: list[dict[str, float]], found: Picked) -> Iterator[Line]:
    for number, target in enumerate(spec.targets):
        sums = {name: [0, 0, 0, 0] for name in wants[number]}
        for n, group in enumerate(groups):
            of = sums.setdefault(group.labels[number], [0, 0, 0, 0])
            for place, value in enumerate((found.tokens[n], found.documents[n], found.uses[n], group.tokens)):
                of[place] += value
        for name, of in sums.items():
            if name != OTHERS or any(of) or wants[number].get(name):
                yield Line(target.by, name, wants[number].get(name), *of)


def _check_tolerance(spec: Spec, made: Plan) -> None:
    lines = [*made.lines, Line("tokens", "", spec.budget, made.tokens, 0, 0, 0)]
    missed = [e for e in lines if e.target is not None and abs(e.tokens - e.target) > spec.tolerance * e.target]
    if missed:
        listed = "; ".join(
            f"{_name(each.by, each.value)} gets {each.tokens:,} of {each.target:,.0f}" for each in missed[:SHOWN]
        )
        raise UnreachableError(
            f"{spec.path}: documents are whole, so these targets are missed by more than {spec.tolerance:.2%}: "
            f"{listed}; raise tokens or tolerance"
        )


def _what_is_missing(
    spec: Spec, supply: Supply, wants: list[dict[str, float]], missed: list[np.ndarray[Any, Any]]
) -> str:
    said = []
    asked = [(n, want) for n, want in enumerate(wants) if want]
    for (number, want), misses in zip(asked, missed, strict=False):
        for (value, tokens), miss in zip(want.items(), misses.tolist(), strict=True):
            if abs(miss) >= 1:
                said.append((-abs(miss), _miss(spec, supply.groups, number, value, (tokens, miss))))
    least = -sum(amount for amount, _ in said)
    if not said or not asked:
        return f"{spec.path}: tokens: {spec.budget:,.0f} are more than the cap leaves; raise cap or lower tokens"
    listed = "".join(f"\n  {text}" for _, text in sorted(said)[:SHOWN])
    hint = synthetic_hint(spec, supply)
    return (
        f"{spec.path}: the targets cannot be reached together; the nearest mixture misses them by {least:,.0f} tokens:"
        f"{listed}\nlower these targets or tokens, raise epochs{' or cap' if spec.cap else ''}, or add a source{hint}"
    )


def _miss(spec: Spec, groups: list[Group], number: int, value: str, amounts: tuple[float, float]) -> str:
    tokens, miss = amounts
    of = [group for group in groups if group.labels[number] == value]
    there, most = sum(group.tokens for group in of), sum(group.most for group in of)
    epochs = sorted({epochs_of(spec, group.source, group.labels) for group in of})
    often = f" ({most:,.0f} with the epochs allowed)" if epochs not in ([], [1.0]) else ""
    what = f"{miss:,.0f} short" if miss > 0 else f"{-miss:,.0f} too many, because other targets need them"
    return f"{_name(spec.targets[number].by, value)}: {tokens:,.0f} wanted, {there:,} there{often}: {what}"


def _name(by: str, value: str) -> str:
    return f"{by} {written_label(value)}" if value else by


def _manifest(plan: Plan, to: str, lineage: list[dict[str, Any]], files: Filling) -> dict[str, Any]:
    """No clock and no path: equal mixtures have equal manifests."""
    spec = plan.spec
    counts = [
        {"read": each.read, "withdrawn": each.withdrawn, "empty": each.empty, "epochs": source.epochs}
        | ({"left_out": each.left_out} if source.where else {})
        for source, each in zip(spec.sources, plan.counts, strict=True)
    ]
    return {
        "format": MIX_FORMAT,
        "to": to,
        "spec_sha256": spec.sha256,
        "seed": spec.seed,
        "tolerance": spec.tolerance,
        "cap": {"by": spec.cap.by, "tokens": round(spec.cap.tokens)} if spec.cap else None,
        "sources": [source | count for source, count in zip(lineage, counts, strict=True)],
        "versions": versions(),
        **plan.as_dict(),
        "files": files.files,
    }
