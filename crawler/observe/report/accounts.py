"""The accounts of a corpus: what requests, CPU time and money brought, by domain, batch, day, language or licence tier.

Counts come from the manifest entries of sealed files; `docs/report.md` has the formula of every figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crawler.config.report import ReportConfig
from crawler.observe.report.batches import SEVERAL, Batch, batches_of
from crawler.observe.report.costs import SPENDING, Prices, Spent, spent_by
from crawler.storage.files import accounts as counting
from crawler.storage.files.place import PAGES, Place
from crawler.storage.files.shards import read_records
from crawler.storage.types import Counts, Entry, Manifest, Run

BY = ("domain", "batch", "day", "tier", "language")
MOST_POINTS = 200
"""Points of a series over time: seconds, minutes, hours, days, the finest of which there are no more."""
_TOLD = "told/"
"""Begins the name of a count of those records whose runs say what they spent."""


@dataclass(frozen=True, slots=True)
class Account:
    """One line of the accounts. spent: what only the runs know; of anything but a batch it is this group's share."""

    name: str
    counts: Mapping[str, int]
    spent: Spent
    tokens_of_all: int = 0
    target: float | None = None  # share of the tokens that this language should have

    def figures(self) -> dict[str, float | None]:
        """Every figure by name; None where nobody counted it or there is nothing to divide by."""
        count, spent = Counter(self.counts), self.spent
        judged_new = count["kept"] + count["duplicates"]
        return {
            "requests": count["requests"],
            "kept": count["kept"],
            "rejected": count["rejected"],
            "tokens": count["tokens"],
            "token_share": _ratio(count["tokens"], self.tokens_of_all),
            "target_share": self.target,
            "uniqueness": _ratio(count["kept"], judged_new),
            "tokens_per_request": _ratio(count["tokens"], count["requests"]),
            "all_requests": spent.requests,
            "received_bytes": spent.received,
            "cpu_seconds": spent.cpu_seconds,
            "tokens_per_cpu_second": _ratio(count[f"{_TOLD}tokens"], spent.cpu_seconds),
            "cost": spent.cost,
            "tokens_per_cost": _ratio(count[f"{_TOLD}tokens"], spent.cost),
            "pii_rate": _ratio(count["pii"], count["kept"]),
            "licence_pass_rate": _ratio(count["licence_passed"], count["kept"]),
            "licence_conflict_rate": _ratio(count["licence_conflicts"], count["kept"]),
            "extraction_yield": _ratio(count["yield_sum"] / counting.YIELD_UNIT, count["yields"]),
            "escalation_rate": _ratio(count["drawn"], count["pages"]),
        } | {f"pii_rate/{kind}": _ratio(n, count["kept"]) for kind, n in _types(count)}

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"name": self.name} | {name: _rounded(value) for name, value in self.figures().items()}


@dataclass(frozen=True, slots=True)
class Books:
    """All accounts. uncounted: records of files that an older version sealed, where they were not read again. untold:
    those of files of which no run says what it spent, where others do; no figure of spending has them.
    """

    whole: Account
    groups: dict[str, list[Account]]
    series: list[Account]  # by second, minute, hour or day, in the order of time
    uncounted: int = 0
    untold: int = 0
    lengths: dict[str, Counts] = field(default_factory=dict)
    currency: str = ""

    def as_dict(self, top: int) -> dict[str, Any]:
        """The part of `stats.json`: of each grouping the `top` largest."""
        return {
            "currency": self.currency,
            "uncounted": self.uncounted,
            "untold": self.untold,
            "whole": self.whole.as_dict(),
            "by": {by: [account.as_dict() for account in found[:top]] for by, found in self.groups.items()},
            "series": [account.as_dict() for account in self.series],
        }


def targets_of(config: ReportConfig) -> dict[str, float]:
    """The share of the kept tokens that each language should have."""
    found = (value.partition(":") for value in config.target_languages)
    return {name.strip(): float(share) for name, _, share in found}


def read(
    place: Place,
    prices: Prices | None = None,
    targets: Mapping[str, float] | None = None,
    *,
    reread: bool = False,
    manifest: Manifest | None = None,
    unsealed: counting.Accounts | None = None,
) -> Books:
    """The accounts of a corpus, from its manifest.

    reread: read the records of files whose entries have no accounts, or not all domains; else such files are counted
    as `uncounted`, and domains beyond the listed ones together. manifest: None = that of the corpus; unsealed: records
    that no file of it holds yet. Raises: StorageError where a file is damaged.
    """
    manifest = place.manifest() if manifest is None else manifest
    adding = _Adding(manifest["runs"])
    if unsealed is not None:
        adding.add(unsealed.entry())
    for entry in manifest["files"]:
        if entry["kind"] not in PAGES:
            continue
        if (found := _accounts_of(place, entry, reread=reread)) is None:
            adding.uncounted += entry["documents"]
        else:
            adding.add(found, entry)
    return adding.books(manifest, prices or Prices(), targets or {})


def _accounts_of(place: Place, entry: Entry, *, reread: bool) -> dict[str, dict[str, Counts]] | None:
    found = entry.get("accounts")
    if not reread or (found is not None and counting.OTHER not in found["domain"]):
        return found
    anew = counting.Accounts(most=None)
    for record in read_records(place, entry["path"]):
        anew.add(record)
    return anew.entry()


class _Adding:
    """Adds up the entries."""

    def __init__(self, runs: list[Run]) -> None:
        self._batches = batches_of(runs)
        silent = [run for run in runs if not any(name in run["counters"] for name in SPENDING)]
        self._silent = Batch("", silent if len(silent) < len(runs) else [])
        self._groups: dict[str, dict[str, Counter[str]]] = {by: {} for by in (*BY, "time")}
        self._whole: Counter[str] = Counter()
        self._lengths: dict[str, Counter[str]] = {}
        self.uncounted = self.untold = 0

    def add(self, found: dict[str, dict[str, Counts]], entry: Entry | None = None) -> None:
        makers = [] if entry is None else entry.get("made_by", [])
        is_told = not makers or not all(map(self._silent.has, makers))
        self.untold += 0 if is_told or entry is None else entry["documents"]
        if is_told:
            found = {kind: {name: _told(counts) for name, counts in rows.items()} for kind, rows in found.items()}
        for kind, groups in found.items():
            for name, counts in groups.items():
                self._to(kind, name, counts)
                if kind == "time":
                    self._to("day", name[:10], counts)
                if kind == "tier":
                    self._whole.update(counts)
                    self._to("batch", self._batch_of(entry) if entry else SEVERAL, counts)
        for name, bins in entry.get("lengths", {}).items() if entry else ():
            self._lengths.setdefault(name, Counter()).update(bins)

    def _to(self, kind: str, name: str, counts: Counts) -> None:
        self._groups[kind].setdefault(name, Counter()).update(counts)

    def _batch_of(self, entry: Entry) -> str:
        names = {batch.name for made in entry.get("made_by", []) for batch in self._batches if batch.has(made)}
        return names.pop() if len(names) == 1 else SEVERAL

    def books(self, manifest: Manifest, prices: Prices, targets: Mapping[str, float]) -> Books:
        tokens, runs = self._whole["tokens"], manifest["runs"]
        total = spent_by([run["counters"] for run in runs], prices)

        def account(by: str, name: str, counts: Counter[str]) -> Account:
            if by == "batch":
                own = [run["counters"] for batch in self._batches if batch.name == name for run in batch.runs]
                spent = spent_by(own, prices)
            else:
                spent = total.share_of(_of_told(counts), _of_told(self._whole), prices)
            return Account(
                name, counts, spent, tokens, targets.get(name, 0.0) if by == "language" and targets else None
            )

        languages = self._groups["language"]
        for name in targets:
            languages.setdefault(name, Counter())
        groups = {by: _ranked(account(by, *item) for item in self._groups[by].items()) for by in BY}
        times = counting.coarse(self._groups["time"], MOST_POINTS)
        series = [account("time", name, counts) for name, counts in sorted(times.items()) if name]
        lengths = {name: dict(bins) for name, bins in self._lengths.items()}
        return Books(
            Account("(all)", self._whole, total, tokens),
            groups,
            series,
            self.uncounted,
            self.untold,
            lengths,
            prices.shown,
        )


def _told(counts: Counts) -> Counts:
    """The counts, and each once more as one of records whose runs say what they spent."""
    return counts | {f"{_TOLD}{name}": counts.get(name, 0) for name in ("tokens", "requests", "pages", "drawn")}


def _of_told(counts: Mapping[str, int]) -> dict[str, int]:
    return {name.removeprefix(_TOLD): n for name, n in counts.items() if name.startswith(_TOLD)}


def _ranked(found: Iterable[Account]) -> list[Account]:
    return sorted(found, key=lambda account: (-account.counts.get("requests", 0), account.name))


def _types(count: Counter[str]) -> list[tuple[str, int]]:
    return sorted((name.removeprefix("pii/"), n) for name, n in count.items() if name.startswith("pii/"))


def _ratio(part: float, whole: float | None) -> float | None:
    return part / whole if whole else None


def _rounded(value: float | None) -> float | None:
    return value if value is None or isinstance(value, int) else round(value, 6)
