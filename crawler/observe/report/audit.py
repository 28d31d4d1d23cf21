"""The audit draws a stratified sample of kept documents, and says how much personal data was found in them.

What is measured: the spans that the personal-data stage found and replaced by placeholders, as the record lists them
(`pii_spans`). What the detectors miss is not in a record; docs/personal-data.md measures that on labelled data.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from crawler.storage.files.place import SHARDS, Place
from crawler.storage.files.records import spans_in
from crawler.storage.files.shards import read_records

_Z = 1.96  # of a two-sided interval of 95 %


@dataclass(frozen=True, slots=True)
class Rate:
    """rate: share of the documents (0 to 1) with this type, weighted by the size of their strata.

    low, high: the interval of 95 % (Wilson 1927) at the sample's size. per_1000_words: spans in 1,000 words.
    """

    rate: float
    low: float
    high: float
    per_1000_words: float


@dataclass(frozen=True, slots=True)
class Audit:
    """documents: in the sample; of: kept records that it was drawn from; strata: (language, tier) -> documents."""

    documents: int
    of: int
    seed: int
    strata: dict[str, int] = field(default_factory=dict)
    rates: dict[str, Rate] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        rates = {
            kind: {name: round(value, 6) for name, value in asdict(rate).items()} for kind, rate in self.rates.items()
        }
        return {"documents": self.documents, "of": self.of, "seed": self.seed, "strata": self.strata, "rates": rates}


@dataclass(slots=True)
class _Stratum:
    """met: records; chosen: a heap of those with the smallest hashes, the largest of them first."""

    met: int = 0
    chosen: list[tuple[int, str, int, Counter[str]]] = field(default_factory=list)


def read(place: Place, size: int, seed: int = 0, most_records: int | None = None) -> Audit:
    """Draw `size` documents and count. Memory: `size` small facts a stratum.

    most_records: how many records are read in all, the first of each shard alike; None = all.
    Raises: StorageError where a file is damaged.
    """
    strata: dict[str, _Stratum] = {}
    for record in _records(place, most_records) if size else ():
        stratum = strata.setdefault(f"{record.get('language') or 'unknown'}/{record.get('license_tier') or 'none'}",
                                    _Stratum())  # fmt: skip
        stratum.met += 1
        _offer(stratum, record, size, seed)
    sizes = allotted({name: stratum.met for name, stratum in strata.items()}, size)
    drawn = {name: [found[2:] for found in sorted(strata[name].chosen, key=lambda f: (-f[0], f[1]))[:count]]
             for name, count in sizes.items()}  # fmt: skip
    met = {name: strata[name].met for name in sizes}
    return Audit(sum(sizes.values()), sum(met.values()), seed, sizes, _rates(drawn, met))


def allotted(met: Mapping[str, int], size: int) -> dict[str, int]:
    """How many of each stratum: one of each, largest first, while there is room; the rest in proportion to its size."""
    names = sorted(met, key=lambda name: (-met[name], name))[:size]
    total = sum(met[name] for name in names)
    size = min(size, total)
    found = {name: min(met[name], 1 + (size - len(names)) * met[name] // total) for name in names}
    for name in names:  # what rounding has left
        more = min(met[name] - found[name], size - sum(found.values()))
        found[name] += more
    return found


def _records(place: Place, most: int | None) -> Iterator[dict[str, Any]]:
    shards = [entry for entry in place.manifest()["files"] if entry["kind"] == SHARDS]
    each = None if most is None else max(1, most // max(1, len(shards)))
    for entry in shards if most is None else shards[:: max(1, -(-len(shards) // most))]:
        yield from islice(read_records(place, entry["path"]), each)


def _offer(stratum: _Stratum, record: Mapping[str, Any], size: int, seed: int) -> None:
    name = str(record.get("canonical_url") or record.get("url"))
    rank = -int.from_bytes(hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest())
    if len(stratum.chosen) < size:
        heapq.heappush(stratum.chosen, (rank, name, *_facts(record)))
    elif rank > stratum.chosen[0][0]:
        heapq.heapreplace(stratum.chosen, (rank, name, *_facts(record)))


def _facts(record: Mapping[str, Any]) -> tuple[int, Counter[str]]:
    return int(record.get("word_count") or 0), Counter(kind for *_, kind in spans_in(record, "pii_spans"))


def _rates(drawn: Mapping[str, Iterable[tuple[int, Counter[str]]]], met: Mapping[str, int]) -> dict[str, Rate]:
    found = {name: list(documents) for name, documents in drawn.items()}
    everything = [document for documents in found.values() for document in documents]
    total, words = sum(met.values()), sum(words for words, _ in everything)
    rates = {}
    for kind in sorted({kind for _, spans in everything for kind in spans}):
        share = sum(
            met[name] / total * sum(kind in spans for _, spans in documents) / len(documents)
            for name, documents in found.items()
        )
        spans = sum(spans[kind] for _, spans in everything)
        rates[kind] = Rate(share, *wilson(share, len(everything)), 1000 * spans / words if words else 0.0)
    return rates


def wilson(share: float, count: int) -> tuple[float, float]:
    """Interval of 95 % for a share of `count` documents (Wilson 1927)."""
    centre = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = _Z / (1 + _Z**2 / count) * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return max(0.0, centre - half), min(1.0, centre + half)
