"""Which texts were there already: by kind, the largest clusters, and what the configured bands can see.

Kinds come from the manifest; clusters are read from the rejected records, which name the owner of each duplicate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crawler.dataset.registry.behind import refusals_of
from crawler.dedup.index import candidate_probability
from crawler.observe.report.summary import Summary
from crawler.storage.files.place import REJECTED, Place
from crawler.storage.files.shards import read_records
from crawler.storage.types import Entry

KINDS = {
    "unchanged": "the page as it was in an earlier run",
    "exact_duplicate": "the same text at another URL",
    "near_duplicate": "nearly the same text at another URL",
    "contaminated": "repeats an evaluation set",
}
"""Reasons that mean "seen before", and what they say."""
_WITH_OWNER = ("exact_duplicate", "near_duplicate")
TOP = 10
MAX_OWNERS = 100_000
"""Owners whose copies are counted: bounds the memory; beyond it the first ones met are counted."""
CURVE = tuple(step / 20 for step in range(21))
_SHOWN = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
_BLOCKS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Bands:
    """The banding of the near-duplicate index: `bands` × `rows`, and the similarity from which a page is dropped."""

    bands: int
    rows: int
    threshold: float

    def seen(self, similarity: float) -> float:
        """Chance that two texts of this Jaccard similarity are compared at all: 1 − (1 − s^rows)^bands."""
        return candidate_probability(similarity, self.bands, self.rows)


@dataclass(frozen=True, slots=True)
class Cluster:
    """One kept page and the pages rejected as its copies. domains: copies by domain, most first."""

    owner: str
    copies: int
    domains: dict[str, int]

    @property
    def where(self) -> str:
        """The domains in words, the three with most copies by name."""
        shown = ", ".join(f"{name} {count:,}" for name, count in list(self.domains.items())[:3])
        return shown + (f" and {len(self.domains) - 3:,} more" if len(self.domains) > 3 else "")


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Everything the report says about duplicates."""

    kinds: dict[str, int]
    clusters: list[Cluster] = field(default_factory=list)
    bands: Bands | None = None
    uncounted: int = 0  # rejected records that were too many to look for clusters in

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types: the part of `stats.json`."""
        clusters = [{"owner": c.owner, "copies": c.copies, "domains": c.domains} for c in self.clusters]
        curve = [[s, round(self.bands.seen(s), 4)] for s in CURVE] if self.bands else []
        return {
            "kinds": self.kinds,
            "clusters": clusters,
            "clusters_uncounted": self.uncounted,
            "detection_curve": curve,
        }


def read(summary: Summary, bands: Bands | None = None, most_records: int | None = None) -> Duplicates:
    """The duplicates of a corpus. Reads rejected files, but only those that hold duplicates.

    Where these hold more than `most_records` no clusters are looked for: a part of them would say nothing.

    Raises: StorageError where a file is damaged.
    """
    counts: Counter[str] = Counter()
    for verdict in summary.rejections:
        counts[verdict.reason] += verdict.count
    kinds = {kind: counts[kind] for kind in KINDS if counts[kind]}
    place = Place(summary.where)
    files = _files(place)
    records = sum(entry["documents"] for entry in files)
    if most_records is not None and records > most_records:
        return Duplicates(kinds, [], bands, uncounted=records)
    return Duplicates(kinds, _clusters(place, files), bands)


def _clusters(place: Place, files: list[Entry]) -> list[Cluster]:
    owners: dict[str, Counter[str]] = {}
    for record in _duplicates(place, files):
        owner = record["dup_of"]
        if owner in owners or len(owners) < MAX_OWNERS:
            owners.setdefault(owner, Counter())[record.get("domain") or ""] += 1
    largest = sorted(owners.items(), key=lambda item: (-item[1].total(), item[0]))[:TOP]
    return [Cluster(owner, domains.total(), _ranked(domains)) for owner, domains in largest]


def _files(place: Place) -> list[Entry]:
    rejected = (entry for entry in place.manifest()["files"] if entry["kind"] == REJECTED)
    return [entry for entry in rejected if any(name.endswith(_WITH_OWNER) for name in entry["reasons"])]


def _duplicates(place: Place, files: list[Entry]) -> Iterator[dict[str, Any]]:
    refused = refusals_of([place])
    for entry in files:
        for record in read_records(place, entry["path"]):
            if record.get("dup_of") and not (refused.hides(record) or refused.refusal(record["dup_of"])):
                yield record


def _ranked(domains: Counter[str]) -> dict[str, int]:
    return dict(sorted(domains.items(), key=lambda item: (-item[1], item[0])))


# --- for a terminal --------------------------------------------------------------------------------------------------
def sections(found: Duplicates) -> Iterator[tuple[str, RenderableType]]:
    """Title and content of each part that has something to say."""
    if found.kinds:
        yield "Seen before", _grid((kind, f"{count:,}", KINDS[kind]) for kind, count in found.kinds.items())
    if found.clusters:
        rows = ((f"{c.copies:,}", c.owner, c.where) for c in found.clusters)
        yield "Largest clusters: copies, kept page, where the copies were", _grid(rows)
    if found.kinds and found.bands:
        yield _curve_title(found.bands), Group(_sparkline(found.bands), _curve_table(found.bands))


def _grid(rows: Iterator[tuple[str, ...]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*(Text(cell, "dim" if last else "", overflow="fold") for cell, last in _marked(row)))
    return table


def _marked(row: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    yield from ((cell, number == len(row) - 1) for number, cell in enumerate(row))


def _curve_title(bands: Bands) -> str:
    return f"What {bands.bands} × {bands.rows} bands see: share of pairs compared, by similarity"


def _sparkline(bands: Bands) -> Text:
    line = "".join(_BLOCKS[round(8 * bands.seen(similarity))] for similarity in CURVE)
    return Text.assemble(("0 ", "dim"), (line, "green"), (f" 1   dropped from {bands.threshold:g}", "dim"))


def _curve_table(bands: Bands) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row(*(Text(f"{similarity:g}", "dim") for similarity in _SHOWN))
    table.add_row(*(f"{bands.seen(similarity):.0%}" for similarity in _SHOWN))
    return table


# --- for a browser ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Curve:
    """The detection curve in a box of 400 × 120. mark: where pages are dropped; rows: similarity and share seen."""

    title: str
    points: str
    mark: float
    threshold: str
    rows: list[tuple[str, str]]


def curve_of(bands: Bands) -> Curve:
    """What `templates/parts.html` draws."""
    return Curve(
        title=_curve_title(bands),
        points=" ".join(f"{400 * s / 100:.1f},{120 - 120 * bands.seen(s / 100):.1f}" for s in range(101)),
        mark=400 * bands.threshold,
        threshold=f"{bands.threshold:g}",
        rows=[(f"{similarity:g}", f"{bands.seen(similarity):.0%}") for similarity in _SHOWN],
    )
