"""A person's judgements are appended to `labels.jsonl` of the corpus, each on the disk before the next is asked.

Of two judgements by one judge on one page the later counts.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import combinations

import orjson

from crawler.observe.report.audit import wilson
from crawler.storage.corpus.labels import LABELS as FILE
from crawler.storage.corpus.labels import written_alone
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place

ANSWERS = ("keep", "reject")


@dataclass(frozen=True, slots=True)
class Label:
    """What a judge says of a page, and what the pipeline had said. stratum: "kept", or the reason."""

    url: str
    doc_id: str
    judge: str
    answer: str
    stratum: str
    config_digest: str
    at: str


def append(place: Place, label: Label) -> None:
    """Write one label and return when it is on the disk. Raises: StorageError."""
    if place.remote:
        raise StorageError(f"{place.url}: labels are written to a local folder only; copy the corpus to this machine")
    path = place.root / FILE
    try:
        with written_alone(place), path.open("ab+") as file:
            file.seek(0, os.SEEK_END)
            if file.tell() and _last_byte(path) != b"\n":
                file.write(b"\n")  # a crash has cut the line before
            file.write(orjson.dumps(asdict(label), option=orjson.OPT_APPEND_NEWLINE))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StorageError(f"{path}: cannot be written ({error.strerror}); check its permissions") from error


def _last_byte(path: os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123  # a path that was just opened
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def read(place: Place) -> list[Label]:
    """Every label that counts, the last of each judge and page; a line that is none is left out."""
    try:
        with place.open(FILE) as file:
            lines = file.read().splitlines()
    except (OSError, StorageError):
        return []
    found = [label for line in lines if (label := _label_of(line))]
    return list({(label.judge, label.url): label for label in found}.values())


def _label_of(line: bytes) -> Label | None:
    try:
        values = orjson.loads(line)
        label = Label(**{name: str(values[name]) for name in Label.__slots__})
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return label if label.answer in ANSWERS else None


def interval(good: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share; (0, 1) where nothing was judged."""
    return wilson(good / total, total) if total else (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Share:
    """An estimate with the ends of its interval; None where nothing was judged."""

    value: float | None
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Stratum:
    """Documents with one verdict: how many there are, how many were judged, how many of these should be kept."""

    name: str
    size: int
    judged: int
    good: int


def strata_of(labels: Iterable[Label], sizes: dict[str, int]) -> list[Stratum]:
    """The counts by verdict; of several judges of a page most decide, at a tie the first of them.

    sizes: documents of the corpus by stratum.
    """
    judged, good = Counter[str](), Counter[str]()
    by_page: dict[tuple[str, str], list[str]] = {}
    for label in labels:
        by_page.setdefault((label.stratum, label.url), []).append(label.answer)
    for (stratum, _), answers in by_page.items():
        judged[stratum] += 1
        good[stratum] += Counter(answers).most_common(1)[0][0] == "keep"
    return [Stratum(name, size, judged[name], good[name]) for name, size in sizes.items()]


def precision(strata: Iterable[Stratum]) -> Share:
    """Which share of the kept documents should be kept."""
    kept = next((stratum for stratum in strata if stratum.name == "kept"), Stratum("kept", 0, 0, 0))
    return Share(kept.good / kept.judged if kept.judged else None, *interval(kept.good, kept.judged))


def recall(strata: Iterable[Stratum]) -> Share:
    """Which share of the documents that should be kept was kept, each stratum weighted by its size.

    The interval joins the ends of the strata's own intervals, so it is rather too wide than too narrow. Strata of which
    nothing was judged are left out of the value, and count with everything from nothing to all in the interval; where
    no kept document was judged, or no other one, there is no value.
    """
    all_of = list(strata)
    kept = [s for s in all_of if s.name == "kept"]
    lost = [s for s in all_of if s.name != "kept"]
    ends = {s.name: [s.size * end for end in interval(s.good, s.judged)] for s in all_of}
    least, most = (sum(ends[s.name][end] for s in kept) for end in (0, 1))
    missed_least, missed_most = (sum(ends[s.name][end] for s in lost) for end in (0, 1))
    expected, missed = (sum(s.size * s.good / s.judged for s in side if s.judged) for side in (kept, lost))
    is_told = all(not any(s.size for s in side) or any(s.judged for s in side) for side in (kept, lost))
    value = expected / (expected + missed) if is_told and expected + missed else None
    return Share(value, _ratio(least, missed_most), _ratio(most, missed_least, whole=1.0))


def _ratio(part: float, rest: float, whole: float = 0.0) -> float:
    return part / (part + rest) if part + rest else whole


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges: pages that both have judged, on how many they agree, and Cohen's kappa (Cohen 1960)."""

    judges: tuple[str, str]
    both: int
    agree: int
    kappa: float | None


def agreements(labels: Iterable[Label]) -> list[Agreement]:
    """Each pair of judges with pages in common."""
    by_judge: dict[str, dict[str, str]] = {}
    for label in labels:
        by_judge.setdefault(label.judge, {})[label.url] = label.answer
    pairs = combinations(sorted(by_judge), 2)
    found = [_agreement(one, two, by_judge[one], by_judge[two]) for one, two in pairs]
    return [agreement for agreement in found if agreement.both]


def _agreement(one: str, two: str, first: dict[str, str], second: dict[str, str]) -> Agreement:
    common = first.keys() & second.keys()
    both = len(common)
    agree = sum(first[url] == second[url] for url in common)
    chance = sum(
        sum(first[url] == answer for url in common) * sum(second[url] == answer for url in common) for answer in ANSWERS
    )
    certain = not both or chance == both * both
    kappa = None if certain else (agree / both - chance / both**2) / (1 - chance / both**2)
    return Agreement((one, two), both, agree, kappa)
