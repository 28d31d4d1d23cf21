"""What a corpus, an export or a mixture can prove about itself, gathered once for all published documents.

Everything comes from the manifests, the records and the lists of withdrawals; nothing is typed in, nothing is the time
of day, so equal corpora give equal documents. Pages and documents are counted, each once, never visits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from crawler.dataset.annotations.listed import annotations_in
from crawler.dataset.living import Living
from crawler.dataset.pages import page_key
from crawler.dataset.refused import address_of, addresses_of
from crawler.dataset.rewrite import records_in
from crawler.dataset.verdicts import Maker, Verdict, not_kept, stands_now, told_by
from crawler.dataset.withdrawals import WishLine, in_force, log_lines, removed_by, undone
from crawler.document import DropReason, Reason
from crawler.llm.named import model_of
from crawler.observe.publish.sources import Collector, DomainSize, Part, Sources, kind_of
from crawler.observe.reasons import order
from crawler.storage.corpus.answers import asked_by
from crawler.storage.files.accounts import counts_of
from crawler.storage.files.place import SHARDS, Place
from crawler.storage.files.records import SYNTHETIC, Record
from crawler.storage.files.tally import Tally
from crawler.storage.types import Entry, Manifest

NO_TIER = "none"
"""Key in `Kept.tiers` of what no entry of an allowlist covers."""
_Fact = Literal[
    "user_agent",
    "product_token",
    "contact",
    "signature_agent",
    "signature_keyid",
    "optout_profile",
    "delay_seconds",
    "politeness_scope",
    "requests_at_a_time",
    "robots_max_delay_seconds",
]


Kind = Literal["corpus", "export", "mixture", "synthetic"]


@dataclass(slots=True)
class Kept:
    """The documents that are there, each counted once."""

    tally: Tally = field(default_factory=Tally)
    whole: Part = field(default_factory=Part)
    tiers: Counter[str] = field(default_factory=Counter)
    signals: Counter[str] = field(default_factory=Counter)  # opt-out and licence statements seen, by protocol
    methods: Counter[str] = field(default_factory=Counter)  # by method_used
    redacted: int = 0  # personal data was replaced
    scripts_run: int = 0  # a browser drew the page, whichever text won
    synthetic: Counter[str] = field(default_factory=Counter)  # that a model wrote, by kind and model
    synthetic_tokens: int = 0  # of those, estimated
    own_tags: int = 0  # licences that the page itself names: those of the allowlist have a tier

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one document."""
        known = dict(record)
        self.tally.add(known)
        if record.get(SYNTHETIC):
            reviewer = record.get("synthetic_reviewer")
            by = f"{record.get('synthetic_kind')} by {record.get('synthetic_model')}"
            by += f" of {provider}" if (provider := record.get("synthetic_provider")) else ""
            self.synthetic[f"{by}, reviewed by {reviewer}" if reviewer else by] += 1
            self.synthetic_tokens += record.get("token_estimate") or 0
            return
        self.whole.add(record)
        self.own_tags += bool(record.get("license_tag") and not record.get("license_tier"))
        self.tiers[record.get("license_tier") or NO_TIER] += 1
        self.signals.update({signal["protocol"] for signal in record.get("optout_signals") or ()})
        self.methods[str(record.get("method_used"))] += 1
        self.redacted += bool(record.get("pii_flag"))
        self.scripts_run += counts_of(known).get("drawn", 0)

    def by(self, name: str) -> dict[str, int]:
        """Documents by value, most first. name: of the counts, such as languages, licences, reviews, pii_types."""
        return most_first(self.tally.names[name])


@dataclass(slots=True)
class Origins:
    """What the corpora say that the documents stand in, or were taken from.

    rejections: pages that are not kept, by stage and reason. stopped: those that a rule of policy stopped, by whether
    a crawl or the judging of archives did it. held: pages on hold by reason.
    """

    crawls: list[str] = field(default_factory=list)
    config_digests: list[str] = field(default_factory=list)
    updated: str = ""
    rejections: Counter[tuple[str, str]] = field(default_factory=Counter)
    stopped: dict[str, Counter[str]] = field(default_factory=lambda: {"crawl": Counter(), "replay": Counter()})
    held: Counter[str] = field(default_factory=Counter)
    withdrawals: list[tuple[WishLine, int]] = field(default_factory=list)  # with the documents that each removed
    undone: int = 0  # withdrawals that were taken back
    sent_to: Counter[str] = field(default_factory=Counter)  # pages by the annotation and the language model it is of

    def add(self, place: Place, manifest: Manifest) -> None:
        """Read what one corpus says. Raises: StorageError."""
        self.crawls += [name for name in manifest["crawls"] if name not in self.crawls]
        self.config_digests += [each for each in manifest["config_digests"] if each not in self.config_digests]
        times = [run["ended"] or run["started"] for run in manifest["runs"]]
        times += [step["time"] for step in manifest.get("lineage", [])]
        self.updated = max([self.updated, *times])
        kinds = {(run["crawl_id"], run["worker_id"], run["started"]): kind_of(run) for run in manifest["runs"]}
        latest = told_by(manifest["runs"])
        for said, pages in not_kept(place, manifest).items():
            self._add(said, pages, kinds, latest)
        log = list(log_lines(place))
        gone = {address_of(line["url"]) for line in log if line["kind"] == "page"}
        here = {one for record in records_in(place) for one in gone & addresses_of(record)} if gone else set[str]()
        removed = removed_by(line for line in log if line["kind"] != "page" or address_of(line["url"]) not in here)
        own = (wish for wish in in_force(place) if "inherited" not in wish)
        self.withdrawals += [(wish, removed[wish["number"]]) for wish in own]
        self.undone += len(undone(log))
        told = set[tuple[str, str]]()
        for annotation in annotations_in(manifest["files"]):
            models = [job["model"] for job in annotation.jobs if job["model"].get("provider")]
            told |= {(annotation.name, str(one.get("name"))) for one in models}
            if names := sorted({_model(one) for one in models}):
                self.sent_to[f"{annotation.name} ({', '.join(names)})"] += annotation.rows
        for job, pages in asked_by(place).items():
            operation, name, model = job.split(" ", 2)
            whose = f"{model} of {model_of(model).owner}"
            if operation in ("questions", "synthesize"):
                self.sent_to[f"{operation} ({whose}; for texts in folders of their own)"] += pages
            elif (name, model) not in told:  # it was dropped, or all its pages have gone
                self.sent_to[f"{name} ({whose}; no annotation is left)"] += pages

    def _add(
        self, said: Verdict, pages: int, kinds: Mapping[Maker, str], latest: Mapping[str, Collection[Maker]]
    ) -> None:
        if Reason.holds(said.reason):
            self.held[said.reason] += pages if stands_now(said.runs, latest) else 0
        elif said.reason != DropReason.UNCHANGED:
            replayed = bool(said.runs) and all(kinds.get(run) == "replay" for run in said.runs)
            self.stopped["replay" if replayed else "crawl"][said.reason] += pages
            self.rejections[said.stage, said.reason] += pages


def _model(said: Mapping[str, str]) -> str:
    region = f" in {said['region']}" if said.get("region") else ""
    return f"{said.get('name')} of {said['provider']}{region}"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Documents and where they come from. kind: what they are published as. version: counted up by every rewrite.

    sources: how the documents came here. files: those with the documents, for the Croissant file. withdrawn: records
    that were left out of a derived folder because a source has withdrawn them. uses: its records, where documents are
    there several times.
    """

    kind: Kind
    version: int
    kept: Kept
    origins: Origins
    sources: Sources
    files: Sequence[Mapping[str, Any]]
    withdrawn: int = 0
    uses: int = 0

    @property
    def name(self) -> str:
        """The names of its crawls."""
        crawls = "-".join(self.origins.crawls) or "corpus"
        if self.kind == "synthetic":
            return f"synthetic texts after {crawls}"
        return crawls if self.kind == "corpus" else f"{self.kind} of {crawls}"

    @property
    def updated(self) -> str:
        """The latest moment that a manifest knows."""
        return self.origins.updated

    @property
    def count(self) -> int:
        """Documents."""
        return self.kept.tally.documents

    @property
    def noun(self) -> str:
        """What it is called in a sentence."""
        return "folder" if self.kind == "synthetic" else self.kind

    @property
    def pages(self) -> int:
        """Documents that are texts of pages; the others a model wrote."""
        return self.count - self.kept.synthetic.total()

    @property
    def domains(self) -> dict[str, DomainSize]:
        """The size of each domain, largest first."""
        return self.kept.whole.ranked()

    @property
    def unlicensed(self) -> int:
        """Kept documents for which no licence is recorded."""
        return self.count - self.kept.tally.names["licences"].total()

    @property
    def rejections(self) -> dict[str, int]:
        """Pages that were left out by stage/reason, in the order of the stages."""
        counts = sorted(self.origins.rejections.items(), key=lambda item: (order(item[0][1]), item[0][0]))
        return {f"{stage}/{reason}": count for (stage, reason), count in counts}

    def facts(self, name: _Fact) -> list[Any]:
        """The distinct values of one policy fact of everything that fetched for this corpus."""
        return list(dict.fromkeys(rules[name] for rules in self.sources.rules if rules.get(name) is not None))

    @property
    def requests(self) -> list[tuple[WishLine, int]]:
        """Withdrawals that somebody asked for, with the documents that each removed."""
        return [(wish, gone) for wish, gone in self.origins.withdrawals if not wish["rule"]]

    @property
    def by_rule(self) -> list[tuple[WishLine, int]]:
        """Withdrawals by a rule: the allowlist no longer grants it, the page refuses by now, its time is over."""
        return [(wish, gone) for wish, gone in self.origins.withdrawals if wish["rule"]]

    def stopped(self, kind: Literal["crawl", "replay"], *reasons: str) -> int:
        """Pages that crawls, or the judging of archives, rejected for one of these reasons."""
        return sum(self.origins.stopped[kind][reason] for reason in reasons)

    def held(self, *reasons: str) -> int:
        """Pages that are on hold for one of these reasons."""
        return sum(self.origins.held[reason] for reason in reasons)

    def largest(self, share: float, most: int | None = None) -> list[tuple[str, DomainSize]]:
        """The top share of the crawled domains by size of their text, at least one, at most `most`."""
        domains = self.sources.crawled.ranked()
        count = max(1, math.ceil(len(domains) * share - 1e-9))
        return list(domains.items())[: count if most is None else min(count, most)]


def most_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Sorted by count, then by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def gather(corpus_dir: str) -> Provenance:
    """Read the manifest and every record. Raises: StorageError where there is no corpus, or damage."""
    place = Place(corpus_dir)
    manifest = place.manifest()
    kept, collector, origins = Kept(), Collector([manifest]), Origins()
    for record in _standing(place):
        kept.add(record)
        if not record.get(SYNTHETIC):
            collector.add(record)
    origins.add(place, manifest)
    files = [_file_of(entry) for entry in manifest["files"] if entry["kind"] == SHARDS]
    return Provenance("corpus", int(manifest.get("version", 1)), kept, origins, collector.sources(), files)


def _standing(place: Place) -> Iterator[Record]:
    """One kept record of each page, without what a withdrawal that was cut off has left."""
    seen = set[bytes]()
    for record in Living(place).kept():
        if (key := page_key(record)) not in seen:
            seen.add(key)
            yield record


def _file_of(entry: Entry) -> dict[str, Any]:
    return {name: entry[name] for name in ("path", "sha256", "bytes", "documents")}
