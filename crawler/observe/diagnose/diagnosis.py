"""A diagnosis says why documents were not kept, and which threshold it was: from records, whoever made them.

One pass over any number of records; what is kept of each is a few numbers, a bounded list of near misses and a bounded
number of examples.
"""

from __future__ import annotations

import dataclasses
import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crawler.config import Config
from crawler.document import Reason as Verdict
from crawler.number import written
from crawler.observe.diagnose.moving import lets_pass, passing, tighter
from crawler.observe.diagnose.thresholds import Miss, Threshold, Thresholds
from crawler.observe.reasons import meaning, order
from crawler.observe.report.samples import Sample, rank, sample_of
from crawler.storage.files.tally import HISTOGRAMS, SCORE_BINS, bin_of

NEAR_MISSES = 10


@dataclass(frozen=True, slots=True)
class Step:
    """A limit somewhere else, and how many documents that would bring (or cost)."""

    limit: float
    documents: int


@dataclass(frozen=True, slots=True)
class Lever:
    """What one limit does to the sample. `alone`: documents that miss this limit and nothing else.

    relaxed: limits that would let the nearest, half and all of these pass. stricter: kept documents that a limit
    tighter by a tenth would cost; None where nothing is tighter.
    """

    limit: Threshold
    missed: int
    alone: int
    relaxed: tuple[Step, ...]
    stricter: Step | None


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A document that one limit alone keeps out, and by how little."""

    url: str
    setting: str
    profile: str
    value: float
    limit: float
    distance: float


@dataclass(slots=True)
class Reason:
    """How many documents one stage rejected for one reason, and some of them."""

    stage: str
    reason: str
    count: int = 0
    examples: list[Sample] = field(default_factory=list)


@dataclass(slots=True)
class Distribution:
    """Bins of one score, kept and rejected documents apart. Bins as in `crawler.storage.files.tally`."""

    name: str
    kept: list[int]
    rejected: list[int]
    first_bin: int = 0


@dataclass(slots=True)
class Diagnosis:
    """What was found. `source` says where the records come from; `notes` what has to be known to read them."""

    source: str
    total: int
    kept: int
    held: int
    by_numbers: int  # rejected, and some threshold says so
    reasons: list[Reason]
    distributions: list[Distribution]
    levers: list[Lever]  # the one that bites most first
    near_misses: list[NearMiss]  # the nearest first
    kept_examples: list[Sample]
    notes: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return dataclasses.asdict(self) | {"advice": advice(self)}


def diagnose(
    records: Iterable[Mapping[str, Any]],
    config: Config,
    *,
    source: str,
    examples: int = 2,
    judged_by: Mapping[str, str] | None = None,
) -> Diagnosis:
    """Read the records of kept and rejected documents (those with a `reason`) against the limits of `config`.

    judged_by: as in `sources.Sampled`; where it names a record's configuration, only what judges is compared.
    """
    ward = _Ward(config, examples, judged_by or {})
    for record in records:
        ward.admit(record)
    return ward.discharge(source)


def advice(found: Diagnosis) -> list[str]:
    """What to do about it, in sentences; the limit that rejects most comes first."""
    said = [_sentence(lever, found.total) for lever in found.levers[:5] if lever.alone]
    rejected = found.total - found.kept - found.held
    if rejected and not said:
        said.append(f"No single threshold keeps a document out: {_why_none(found)}.")
    return said


def _why_none(found: Diagnosis) -> str:
    if found.by_numbers:
        return "every rejected document fails several"
    return f"policy, fetching{', other settings' if found.notes else ''} or content decided"


class _Ward:
    """Counts while records pass."""

    def __init__(self, config: Config, examples: int, judged_by: Mapping[str, str]) -> None:
        self._thresholds = Thresholds(config)
        judging = config.judging_digest
        self._alike = {"", None, config.digest, *(name for name, digest in judged_by.items() if digest == judging)}
        self._examples = examples
        self._counts: Counter[str] = Counter()
        self._reasons: dict[tuple[str, str], Reason] = {}
        self._picked: dict[tuple[str, str], list[tuple[bytes, int, Mapping[str, Any]]]] = {}
        self._bins: dict[str, tuple[Counter[int], Counter[int]]] = {name: (Counter(), Counter()) for name in HISTOGRAMS}
        self._missed: Counter[Threshold] = Counter()
        self._alone: dict[Threshold, list[float]] = {}
        self._lost: Counter[Threshold] = Counter()
        self._near: list[tuple[float, int, NearMiss]] = []

    def admit(self, record: Mapping[str, Any]) -> None:
        reason = str(record.get("reason") or "")
        self._counts["total"] += 1
        self._counts["other settings"] += record.get("config_digest") not in self._alike
        for name, sides in self._bins.items():
            if (value := record.get(name)) is not None and (reason == "" or record.get("word_count")):
                sides[bool(reason)][bin_of(name, float(value))] += 1
        self._pick(record, reason)
        if not reason:
            self._counts["kept"] += 1
            self._count_tight(record)
        elif Verdict.holds(reason):
            self._counts["held"] += 1
        elif not Verdict.of(reason).is_duplicate:
            self._count_misses(record)

    def _pick(self, record: Mapping[str, Any], reason: str) -> None:
        key = (str(record.get("stage") or ""), reason)
        if reason:
            self._reasons.setdefault(key, Reason(*key)).count += 1
        heap = self._picked.setdefault(key, [])
        entry = (bytes(255 - b for b in rank(record)), self._counts["total"], record)
        heapq.heappush(heap, entry)
        if len(heap) > self._examples:
            heapq.heappop(heap)

    def _count_tight(self, record: Mapping[str, Any]) -> None:
        signals = record.get("quality_signals") or {}
        if "profile" not in signals:
            return
        values = {**record, **signals}
        for limit in self._thresholds.of_record(record):
            value, bound = values.get(limit.value), tighter(limit)
            self._lost[limit] += value is not None and bound is not None and limit.is_missed_by(value, bound)

    def _count_misses(self, record: Mapping[str, Any]) -> None:
        misses = self._thresholds.misses(record)
        if not misses:
            return
        self._counts["by numbers"] += 1
        self._missed.update(miss.limit for miss in misses)
        if len(misses) == 1:
            self._count_alone(record, misses[0])

    def _count_alone(self, record: Mapping[str, Any], miss: Miss) -> None:
        limit, distance = miss.limit, miss.limit.distance(miss.value)
        self._alone.setdefault(limit, []).append(miss.value)
        near = NearMiss(record["url"], limit.setting, limit.profile, miss.value, limit.limit, round(distance, 4))
        heapq.heappush(self._near, (-distance, -self._counts["total"], near))
        if len(self._near) > NEAR_MISSES:
            heapq.heappop(self._near)

    def discharge(self, source: str) -> Diagnosis:
        samples = {
            key: [sample_of(record, kept=not key[1]) for _, _, record in sorted(heap, reverse=True)]
            for key, heap in self._picked.items()
        }
        for key, reason in self._reasons.items():
            reason.examples = samples[key]
        levers = [self._lever(limit) for limit in self._missed if limit.movable]
        return Diagnosis(
            source=source,
            total=self._counts["total"],
            kept=self._counts["kept"],
            held=self._counts["held"],
            by_numbers=self._counts["by numbers"],
            reasons=sorted(self._reasons.values(), key=lambda r: (order(r.reason), r.stage)),
            distributions=[_distribution(name, *sides) for name, sides in self._bins.items() if any(sides)],
            levers=sorted(levers, key=lambda v: (-v.alone, -v.missed, v.limit.setting, v.limit.profile)),
            near_misses=[entry[2] for entry in sorted(self._near, key=lambda entry: (-entry[0], -entry[1]))],
            kept_examples=samples.get(("", ""), []),
            notes=self._notes(),
        )

    def _lever(self, limit: Threshold) -> Lever:
        values = sorted(self._alone.get(limit, []), key=limit.distance)
        marks = sorted({1, -(-len(values) // 2), len(values)}) if values else []
        relaxed = {passing(limit, values[count - 1]): count for count in marks}
        steps = tuple(Step(bound, sum(lets_pass(limit, v, bound) for v in values)) for bound in relaxed)
        bound = tighter(limit) if limit.final else None
        stricter = None if bound is None else Step(bound, self._lost[limit])
        return Lever(limit, self._missed[limit], len(values), steps, stricter)

    def _notes(self) -> list[str]:
        others = self._counts["other settings"]
        if not others:
            return []
        return [
            f"{others} of {self._counts['total']} records were judged with other settings than these; replay to compare"
        ]


def _distribution(name: str, kept: Counter[int], rejected: Counter[int]) -> Distribution:
    keys = range(SCORE_BINS) if name != "word_count" else range(min(kept | rejected), max(kept | rejected) + 1)
    return Distribution(name, [kept[k] for k in keys], [rejected[k] for k in keys], keys[0])


def _sentence(lever: Lever, total: int) -> str:
    limit = lever.limit
    profile = f" ({limit.profile})" if limit.profile else ""
    then = "be kept" if limit.final else "reach the next stages"
    steps = ", ".join(f"{step.documents} with {written(step.limit)}" for step in lever.relaxed)
    says = f"{limit.setting}{profile} is {written(limit.limit)}: {meaning(limit.reason)}"
    return f"{says} More pages would {then}: {steps} (of {total})."
