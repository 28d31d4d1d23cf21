"""What a corpus can prove about itself, gathered once for EU summary, Croissant file and dataset card.

Everything comes from the manifest, the records and the list of withdrawals; nothing is typed in, nothing is the time
of day, so equal corpora give equal documents.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from crawler.dataset.refused import address_of, addresses_of
from crawler.dataset.rewrite import read_files
from crawler.dataset.withdrawals import WishLine, in_force, log_lines, removed_by, undone
from crawler.observe.publish.sources import Collector, DomainSize, Part, Sources, rejected_in_crawls
from crawler.observe.report.summary import Summary, summarise
from crawler.storage.files.accounts import counts_of
from crawler.storage.files.place import SHARDS, Place
from crawler.storage.files.shards import read_records
from crawler.storage.types import Manifest

NO_TIER = "none"
"""Key in `Provenance.tiers` of what no entry of an allowlist covers."""
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


@dataclass(frozen=True, slots=True)
class Provenance:
    """One corpus: the summary, the manifest, the size of each domain (largest first), and every rule that held.

    sources: how the documents came here. stopped: rejected documents of crawls by reason. updated: when the corpus last
    changed, RFC 3339, UTC.
    """

    summary: Summary
    manifest: Manifest
    domains: dict[str, DomainSize]
    tiers: dict[str, int]
    redacted: int  # kept documents in which personal data was replaced
    signals: dict[str, int]  # opt-out and licence statements seen on kept pages, by protocol
    sources: Sources
    stopped: Counter[str]
    withdrawals: list[WishLine] = field(default_factory=list)
    removed: Counter[int] = field(default_factory=Counter)  # documents by the number of the withdrawal
    undone: int = 0  # withdrawals that were taken back
    scripts_run: int = 0  # kept documents whose page a browser drew, whichever text won
    methods: Counter[str] = field(default_factory=Counter)  # kept documents by method_used

    @property
    def name(self) -> str:
        """The names of its crawls."""
        return "-".join(self.summary.crawls) or "corpus"

    @property
    def version(self) -> int:
        """Counted up by every rewrite."""
        return int(self.manifest.get("version", 1))

    @property
    def updated(self) -> str:
        """The latest moment that the manifest knows."""
        runs = self.manifest["runs"]
        times = [run["ended"] or run["started"] for run in runs]
        return max([*times, *(step["time"] for step in self.manifest.get("lineage", []))], default="")

    @property
    def characters(self) -> int:
        """Of all kept texts."""
        return sum(domain.characters for domain in self.domains.values())

    @property
    def unlicensed(self) -> int:
        """Kept documents for which no licence is recorded."""
        return self.summary.kept - sum(self.summary.licences.values())

    def facts(self, name: _Fact) -> list[Any]:
        """The distinct values of one policy fact of everything that fetched for this corpus."""
        return list(dict.fromkeys(rules[name] for rules in self.sources.rules if rules.get(name) is not None))

    @property
    def requests(self) -> list[WishLine]:
        """Withdrawals that somebody asked for by naming domains or licences."""
        return [wish for wish in self.withdrawals if not wish["rule"]]

    @property
    def by_rule(self) -> list[WishLine]:
        """Withdrawals by a rule: the allowlist no longer grants it, the page refuses by now, its time is over."""
        return [wish for wish in self.withdrawals if wish["rule"]]

    def removed_with(self, wishes: Iterable[WishLine]) -> int:
        """Documents that these withdrawals removed."""
        return sum(self.removed[wish["number"]] for wish in wishes)

    def rejected(self, *reasons: str) -> int:
        """Documents that crawls rejected for one of these reasons."""
        return sum(self.stopped[reason] for reason in reasons)

    def held(self, *reasons: str) -> int:
        """Pages that are on hold for one of these reasons."""
        return sum(verdict.count for verdict in self.summary.holds if verdict.reason in reasons)

    def largest(self, share: float, most: int | None = None) -> list[tuple[str, DomainSize]]:
        """The top share of the crawled domains by size of their text, at least one, at most `most`."""
        domains = self.sources.crawled.ranked()
        count = max(1, math.ceil(len(domains) * share - 1e-9))
        return list(domains.items())[: count if most is None else min(count, most)]


def gather(corpus_dir: str) -> Provenance:
    """Read the manifest and every kept record once. Raises: StorageError where there is no corpus, or damage."""
    place = Place(corpus_dir)
    manifest = place.manifest()
    everything, collector = Part(), Collector(manifest)
    tiers: Counter[str] = Counter()
    signals: Counter[str] = Counter()
    methods: Counter[str] = Counter()
    redacted = scripts_run = 0
    log = list(log_lines(place))
    gone = {address_of(line["url"]) for line in log if line["kind"] == "page"}
    back: set[str] = set()
    for entry in read_files(place, (SHARDS,)):
        for record in read_records(place, entry["path"]):
            everything.add(record)
            back |= gone & addresses_of(record) if gone else set()
            collector.add(record)
            tiers[record.get("license_tier") or NO_TIER] += 1
            signals.update({signal["protocol"] for signal in record.get("optout_signals") or ()})
            redacted += bool(record.get("pii_flag"))
            methods[str(record.get("method_used"))] += 1
            scripts_run += counts_of(record).get("drawn", 0)
    return Provenance(
        summary=summarise(corpus_dir),
        manifest=manifest,
        domains=everything.ranked(),
        tiers=dict(sorted(tiers.items())),
        redacted=redacted,
        signals=dict(sorted(signals.items())),
        sources=collector.sources(),
        stopped=rejected_in_crawls(manifest),
        withdrawals=[wish for wish in in_force(place) if "inherited" not in wish],
        removed=removed_by(line for line in log if line["kind"] != "page" or address_of(line["url"]) not in back),
        undone=len(undone(log)),
        scripts_run=scripts_run,
        methods=methods,
    )
