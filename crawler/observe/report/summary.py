"""The summary is what a person wants to know of a corpus in numbers: from the manifest alone, now or years later."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from crawler.dataset.annotations.listed import of_documents
from crawler.dataset.growing import with_growing
from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.verdicts import not_kept, stands_now, told_by, visited_again
from crawler.document import DropReason, Reason
from crawler.number import number_of
from crawler.observe.reasons import order
from crawler.observe.report.browser import drawn_shares, missed
from crawler.observe.report.quarantine import quarantined_of
from crawler.observe.report.recrawl import Recrawl, recrawl_of
from crawler.observe.report.spans import seconds_at_work
from crawler.observe.standing import standing
from crawler.quarantine.releases import releases_of
from crawler.statkeys import RESPONSE_BYTES, RESPONSES, egress_of, left_out, parked_of
from crawler.storage.files.journal import PART
from crawler.storage.files.place import ARCHIVE, FOLDERS, HELD, REJECTED, SHARDS, Place
from crawler.storage.files.tally import SCORE_BINS
from crawler.storage.types import Entry, Manifest, Run

WITHHELD = "Held for review, by language"
UNCOVERED = "Kept without name redaction (PII_UNCOVERED): no model in PII_MODELS"
"""Titles of pages in languages that no model reads."""
LATER, BARREN = "On hold: tried again by a later run", "On hold: a record for each kind of parked links"
PARKED = "Links parked, by kind: pages like them brought nothing new"
_MADE_OF = ("selected_from", "deduplicated_from", "merged_from", "judged_from")
"""Of a run that took its records from other corpora: it fetched nothing."""
_BANDS = ((0, 10), (10, 16), (16, SCORE_BINS))
"""Bins of a confidence that are one line of the report: to look at, to know of, to trust."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How many documents one stage rejected for one reason."""

    stage: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class Folder:
    """Sealed files of one folder; sizes in bytes, `uncompressed` is None for the archive."""

    name: str
    files: int
    documents: int
    size: int
    uncompressed: int | None
    growing: int  # files in progress


@dataclass(frozen=True, slots=True)
class Summary:
    """One corpus in numbers. state, standing: how the corpus stands, as a word and as a sentence. unsealed: files in
    progress whose records these numbers have, too; without them the counts are over sealed files.
    """

    where: str
    crawls: list[str]
    kept: int
    rejected: int  # without those on hold and those that are as they were
    held: int  # now, as far as the latest run that came to its end has told it
    archived: int
    words: int
    tokens: int
    rejections: list[Verdicts]  # in flow order
    holds: list[Verdicts]
    domains: dict[str, int]  # kept documents by domain, most first
    rejected_domains: dict[str, int]
    languages: dict[str, int]
    licences: dict[str, int]
    pii_types: dict[str, int]
    histograms: dict[str, dict[str, int]]  # of kept documents
    folders: list[Folder]
    first_crawled_at: str | None
    last_crawled_at: str | None
    runs: int
    running: int
    workers: int
    seconds: float  # with at least one worker at work; 0 where records of other corpora are here
    fetched: int | None  # responses, where the runs counted them
    fetched_bytes: int | None
    uncounted: int  # crawls that were cut off before they had told what they fetched
    unchanged: int = 0  # visits that found a page as it was
    once_held: int = 0  # records of holds that earlier runs left open
    recrawl: Recrawl | None = None  # the latest run, where it was one
    config_digests: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)  # links that were not taken, by trap, cap or rule
    names_uncovered: dict[str, int] = field(default_factory=dict)  # kept documents no model of names read, by language
    page_types: dict[str, int] = field(default_factory=dict)  # kept documents, as the learned extractor reads them
    reviews: dict[str, int] = field(default_factory=dict)  # kept documents by reviewer and day of their licence
    drawn: dict[str, float] = field(default_factory=dict)  # share of a domain's pages that a browser drew
    not_drawn: int = 0  # pages that would have been drawn, had there been a browser
    proxies: dict[str, int] = field(default_factory=dict)  # requests by the proxy that they left through
    proxy_failures: dict[str, int] = field(default_factory=dict)  # times that a proxy did not serve
    annotations: dict[str, int] = field(default_factory=dict)  # kept documents that have one, by its name
    withheld: int = 0  # pages in `held/`: they wait for a person
    withheld_languages: dict[str, int] = field(default_factory=dict)  # the same, by language
    quarantined: dict[str, float] = field(default_factory=dict)  # domains that gave far less text, and how much
    parked: dict[str, int] = field(default_factory=dict)  # links that the latest run left parked, by shape, most first
    state: str = ""
    standing: str = ""
    unsealed: int = 0

    @property
    def judged(self) -> int:
        """Documents with a final verdict."""
        return self.kept + self.rejected + self.withheld

    @property
    def on_hold(self) -> dict[str, list[Verdicts]]:
        """`holds` by what brings them back, under its title."""
        found: dict[str, list[Verdicts]] = {}
        for verdict in self.holds:
            found.setdefault(BARREN if verdict.reason == DropReason.HOLD_BARREN else LATER, []).append(verdict)
        return found

    @property
    def not_kept(self) -> str:
        """What the records of `rejected_domains` say of their pages: only what there is."""
        counts = {"rejected": self.rejected, "on hold": self.held, "once on hold": self.once_held}
        counts["unchanged"] = self.unchanged
        return ", ".join(name for name, count in counts.items() if count) or "rejected"

    @property
    def licences_and_none(self) -> dict[str, int]:
        """Kept documents by licence, those without one as "none"."""
        bare = self.kept - sum(self.licences.values())
        return self.licences | {"none": bare} if bare else self.licences

    @property
    def cut_off(self) -> str:
        """Of which crawls the bytes fetched are not known; empty where of none."""
        return f"without {number_of(self.uncounted, 'crawl')} cut off" if self.uncounted else ""

    @property
    def pages_per_second(self) -> float | None:
        """Documents with a final verdict per second of work; None before the first run has ended."""
        return self.judged / self.seconds if self.seconds > 0 else None

    @property
    def confidences(self) -> dict[str, int]:
        """Kept documents by what the learned extractor expects of their text (`extraction_confidence`)."""
        bins = {int(key): count for key, count in self.histograms.get("extraction_confidence", {}).items()}
        bands = {f"{low / SCORE_BINS:.2f} to {high / SCORE_BINS:.2f}": range(low, high) for low, high in _BANDS}
        return {name: sum(bins.get(key, 0) for key in keys) for name, keys in bands.items()} if bins else {}

    @property
    def annotated(self) -> str:
        """The title of `annotations`."""
        return f"Annotations, of {number_of(self.kept, 'document')} kept"

    def unread_by_model(self, counts: dict[str, int]) -> str:
        """What stands behind the title of what the learned extractor said of kept documents: of how many it did not."""
        unread = self.kept - sum(counts.values())
        return f" ({unread:,} not judged)" if counts and unread > 0 else ""

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types: the content of `stats.json`."""
        return dataclasses.asdict(self) | {"judged": self.judged, "pages_per_second": self.pages_per_second}


def summarise(corpus_dir: str, *, growing: bool = False) -> Summary:
    """The summary of a corpus, local or at an fsspec URL. growing: with what workers have not sealed yet.

    Raises: StorageError where there is no corpus.
    """
    place = Place(corpus_dir)
    manifest, unsealed = with_growing(place) if growing else (place.manifest(), 0)
    stands = standing(place, manifest)
    files, runs = manifest["files"], manifest["runs"]
    kept = [entry for entry in files if entry["kind"] == SHARDS]
    rejected = [entry for entry in files if entry["kind"] == REJECTED]
    waiting = [entry for entry in files if entry["kind"] == HELD]
    refused = refusals_of([place])
    out = _not_kept(place, manifest, rejected, refused)
    counters = sum((Counter(run["counters"]) for run in runs), Counter[str]())
    return Summary(
        where=corpus_dir,
        crawls=manifest["crawls"],
        kept=_total(kept, "documents"),
        rejected=sum(verdict.count for verdict in out.rejections),
        held=sum(verdict.count for verdict in out.holds),
        archived=sum(entry["documents"] for entry in files if entry["kind"] == ARCHIVE),
        words=_total(kept, "words"),
        tokens=_total(kept, "tokens"),
        rejections=out.rejections,
        holds=out.holds,
        domains=_merged(kept, "domains"),
        rejected_domains=out.domains,
        languages=_merged(kept, "languages"),
        licences=_merged(kept, "licences"),
        reviews=_merged(kept, "reviews"),
        pii_types=_merged(kept, "pii_types"),
        histograms=_histograms(kept),
        folders=[_folder(place, name, files) for name in FOLDERS],
        first_crawled_at=min(_times(files, "first_crawled_at"), default=None),
        last_crawled_at=max(_times(files, "last_crawled_at"), default=None),
        runs=len(runs),
        running=sum(run["ended"] is None for run in runs),
        workers=len({run["worker_id"] for run in runs}),
        seconds=0.0 if any(run.keys() & set(_MADE_OF) for run in runs) else seconds_at_work(runs, files),
        fetched=_counted(runs, RESPONSES),
        fetched_bytes=_counted(runs, RESPONSE_BYTES),
        uncounted=sum(map(_is_uncounted, runs)),
        unchanged=out.unchanged,
        once_held=out.once_held,
        recrawl=recrawl_of(runs),
        config_digests=manifest["config_digests"],
        versions=runs[-1]["versions"] if runs else {},
        left_out=left_out(counters),
        names_uncovered=_merged(kept, "names_uncovered"),
        page_types=_merged(kept, "page_types"),
        drawn=_without(
            drawn_shares(runs, Counter(_merged(kept, "domains")) + Counter(_merged(rejected, "domains"))), refused
        ),
        not_drawn=missed(runs),
        proxies=egress_of(counters, "requests"),
        proxy_failures=egress_of(counters, "failures"),
        withheld=_total(waiting, "documents"),
        withheld_languages=_merged(waiting, "languages"),
        annotations=of_documents(files),
        quarantined=_without(quarantined_of(runs, releases_of(place)), refused),
        parked=_parked(runs),
        state=stands.state,
        standing=stands.sentence,
        unsealed=unsealed,
    )


def _parked(runs: list[Run]) -> dict[str, int]:
    """What the latest crawl that has ended left parked."""
    crawls = [run for run in runs if run["ended"] and run.get("kind", "crawl") == "crawl"]
    latest = max(crawls, key=lambda run: (run["ended"] or "", run["started"]), default=None)
    return _most_first(Counter(parked_of(latest["counters"]))) if latest else {}


@dataclass(frozen=True, slots=True)
class _NotKept:
    """Pages that are not kept, each once."""

    rejections: list[Verdicts]  # in flow order
    holds: list[Verdicts]
    once_held: int
    unchanged: int
    domains: dict[str, int]


def _without(shares: dict[str, float], refused: Refusals) -> dict[str, float]:
    """Without domains that were withdrawn: nothing more is to be said of them."""
    return {domain: share for domain, share in shares.items() if not refused.refusal(f"http://{domain}/")}


def _not_kept(place: Place, manifest: Manifest, rejected: list[Entry], refused: Refusals) -> _NotKept:
    """By the manifest where each page has one record, else by reading the records."""
    runs = manifest["runs"]
    if visited_again(runs):
        found, latest = not_kept(place, manifest, refused), told_by(runs)
        counts = Counter[str]()
        held = Counter[str]()
        domains = Counter[str]()
        for said, pages in found.items():
            counts[f"{said.stage}/{said.reason}"] += pages
            domains[said.domain] += pages
            if stands_now(said.runs, latest):
                held[f"{said.stage}/{said.reason}"] += pages
    else:
        counts, domains = Counter(_merged(rejected, "reasons")), Counter(_merged(rejected, "domains"))
        held = counts
    verdicts, ever = _verdicts(counts), sum(each.count for each in _holds(_verdicts(counts)))
    holds = _holds(_verdicts(held))
    return _NotKept(
        [v for v in verdicts if not Reason.holds(v.reason) and v.reason != DropReason.UNCHANGED],
        holds,
        ever - sum(verdict.count for verdict in holds),
        sum(verdict.count for verdict in verdicts if verdict.reason == DropReason.UNCHANGED),
        _most_first(domains),
    )


_Sum = Literal["documents", "bytes", "words", "tokens", "uncompressed_bytes"]
_Names = Literal["domains", "languages", "licences", "reviews", "pii_types", "names_uncovered", "page_types", "reasons"]


def _total(entries: list[Entry], key: _Sum) -> int:
    return sum(entry.get(key, 0) for entry in entries)  # older versions count less


def _merged(entries: list[Entry], key: _Names) -> dict[str, int]:
    total: Counter[str] = Counter()
    for entry in entries:
        total.update(entry.get(key, {}))  # older versions count less
    return _most_first(total)


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _verdicts(counts: Counter[str]) -> list[Verdicts]:
    found = [Verdicts(*name.rpartition("/")[::2], count) for name, count in counts.items()]
    return sorted(found, key=lambda verdict: (order(verdict.reason), verdict.stage))


def _holds(verdicts: list[Verdicts]) -> list[Verdicts]:
    return [verdict for verdict in verdicts if Reason.holds(verdict.reason)]


def _histograms(entries: list[Entry]) -> dict[str, dict[str, int]]:
    total: dict[str, Counter[str]] = {}
    for entry in entries:
        for name, bins in entry["histograms"].items():
            total.setdefault(name, Counter()).update(bins)
    return {name: {key: bins[key] for key in sorted(bins, key=int)} for name, bins in sorted(total.items())}


def _folder(place: Place, name: str, files: list[Entry]) -> Folder:
    entries = [e for e in files if e["path"].rpartition("/")[0] == name and not e["path"].endswith(PART)]
    plain = None if name == ARCHIVE else _total(entries, "uncompressed_bytes")
    growing = sum(1 for file in place.listing(name) if file.endswith(PART))
    return Folder(name, len(entries), _total(entries, "documents"), _total(entries, "bytes"), plain, growing)


def _times(entries: list[Entry], key: Literal["first_crawled_at", "last_crawled_at"]) -> Iterable[str]:
    return (moment for entry in entries if entry["kind"] != ARCHIVE and (moment := entry[key]))


def _is_uncounted(run: Run) -> bool:
    """A crawl notes its counters (`area/noun`) now and then and at its end; one that was killed before has only those
    of its files."""
    is_made = any(name in run for name in _MADE_OF)
    is_over = run["ended"] is not None and run.get("kind", "crawl") == "crawl"
    return is_over and not is_made and not any("/" in name for name in run["counters"])


def _counted(runs: list[Run], name: str) -> int | None:
    found = [run["counters"][name] for run in runs if name in run["counters"]]
    return sum(found) if found else None
