"""How the documents of a corpus came to it: fetched by a crawl whose rules are known, or taken from archives of others.

Decided for each record by its archive, and for each run by what the manifest says it did. Nothing is assumed: an
archive that does not say under which rules it was crawled is not counted as one of ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crawler.documents.from_archive import UNKNOWN, WET
from crawler.policy.facts import PolicyFacts
from crawler.statkeys import REPLAY
from crawler.storage.corpus.version import corpora_behind, is_made_of_others
from crawler.storage.files.place import ARCHIVE
from crawler.storage.types import Manifest, Origin, Run, RunKind


@dataclass(slots=True)
class DomainSize:
    """Kept text of one domain."""

    documents: int = 0
    words: int = 0
    characters: int = 0


@dataclass(slots=True)
class Part:
    """Kept documents that came the same way.

    archives: documents by name of the file, without its folder, which is the operator's own affair.
    robots_unknown: those whose archive does not say what robots.txt and opt-out files said. as_text: those that an
    archive holds as text alone (WET), without headers and markup.
    """

    documents: int = 0
    first: str = ""
    last: str = ""
    domains: dict[str, DomainSize] = field(default_factory=dict)
    archives: Counter[str] = field(default_factory=Counter)
    robots_unknown: int = 0
    as_text: int = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one kept record."""
        self.documents += 1
        moment = record.get("crawled_at") or ""
        self.first = min(filter(None, (self.first, moment)), default="")
        self.last = max(self.last, moment)
        size = self.domains.setdefault(record.get("domain") or "", DomainSize())
        size.documents += 1
        size.words += record.get("word_count") or 0
        size.characters += record.get("char_count") or len(record.get("text") or "")
        self.robots_unknown += record.get("robots_status") == UNKNOWN
        self.as_text += record.get("extractor") == WET
        if archive := record.get("warc_file"):
            self.archives[str(archive).rpartition("/")[2]] += 1

    def ranked(self) -> dict[str, DomainSize]:
        """The domains, the one with most text first."""
        return dict(sorted(self.domains.items(), key=lambda item: (-item[1].characters, item[0])))


@dataclass(slots=True)
class Dataset:
    """Archives of others that say the same of themselves, and what was kept of them. files: with kept documents."""

    origin: Origin
    part: Part = field(default_factory=Part)


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything the documents about a corpus say of its sources.

    crawled: fetched by runs of this corpus, or by a crawl of this software whose archive was replayed (`replayed` of
    them). datasets: taken from archives of others. rules: the distinct policy facts of what fetched. judged: those of
    the replays. has_crawled: something was fetched for this corpus; has_fetched: by runs of its own. subset_of: SHA-256
    of the manifest that this corpus was selected from; empty where it was not.
    """

    crawled: Part
    replayed: int
    datasets: list[Dataset]
    rules: list[PolicyFacts]
    judged: list[PolicyFacts]
    has_crawled: bool
    has_fetched: bool
    subset_of: str

    @property
    def taken(self) -> int:
        """Kept documents from archives of others."""
        return sum(dataset.part.documents for dataset in self.datasets)


class Collector:
    """Sorts kept records by where they come from. manifests: of the corpora that they stand in or were taken from."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self._runs = [run for manifest in manifests for run in manifest["runs"]]
        self._origins = {name: origin for run in self._runs for name, origin in run.get("origins", {}).items()}
        self._crawled, self._replayed = Part(), 0
        self._datasets: dict[tuple[str, ...], Dataset] = {}
        self._read: set[str] = set()

    def add(self, record: Mapping[str, Any]) -> None:
        """Take one kept record of a corpus."""
        archive = record.get("warc_file") or ""
        if not archive or archive.startswith(f"{ARCHIVE}/"):
            self._crawled.add(record)
            return
        origin = self._origins.get(archive, {})
        if "policy" in origin:
            self._read.add(archive)
            self._replayed += 1
            self._crawled.add(record)
        else:
            self._datasets.setdefault(_identity(origin), Dataset(origin)).part.add(record)

    def add_from(self, name: str, files: Iterable[str], record: Mapping[str, Any]) -> None:
        """Take one document of others. name: of the source; files: names of its files."""
        origin: Origin = {"is_part_of": name}
        dataset = self._datasets.setdefault((name,), Dataset(origin, Part(archives=Counter(dict.fromkeys(files, 0)))))
        dataset.part.add({**record, "warc_file": None})

    def sources(self) -> Sources:
        """What the records amount to."""
        fetching = [run for run in self._runs if kind_of(run) == "crawl"]
        replays = [run for run in self._runs if kind_of(run) == "replay"]
        rules = [run.get("policy", {}) for run in fetching]
        rules += [self._origins[name]["policy"] for name in sorted(self._read)]
        behind = [corpora_behind(run) for run in self._runs if is_made_of_others(run)]
        return Sources(
            crawled=self._crawled,
            replayed=self._replayed,
            datasets=sorted(self._datasets.values(), key=lambda d: (-d.part.documents, sorted(d.part.archives))),
            rules=_distinct(rules),
            judged=_distinct([run.get("policy", {}) for run in replays]),
            has_crawled=bool(fetching or self._crawled.documents),
            has_fetched=bool(fetching),
            subset_of=" and ".join(behind[-1]) if behind else "",
        )


def kind_of(run: Run) -> RunKind:
    """What a run did. Runs of older versions do not say so, but replays counted archives and subsets name a source."""
    if "kind" in run:
        return run["kind"]
    if "selected_from" in run:
        return "select"
    return "replay" if any(name.startswith(REPLAY) for name in run["counters"]) else "crawl"


def _identity(origin: Origin) -> tuple[str, ...]:
    get = origin.get
    return (*map(str, (get("is_part_of"), get("operator"), get("publisher"), get("software"), get("robots"))),)


def _distinct(facts: list[PolicyFacts]) -> list[PolicyFacts]:
    found: list[PolicyFacts] = []
    for fact in facts:
        if fact not in found:
            found.append(fact)
    return found
