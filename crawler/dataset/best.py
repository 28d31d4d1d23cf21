"""The best copy of each cluster of duplicates is kept: it changes places with the one that happened to come first.

A rejected duplicate has passed every stage, and its record carries its text and the places of its placeholders; so the
two records change places, each with its own provenance (docs/adr/dedup-003-best-copy.md). What must not come back
cannot: a withdrawn or expired record has lost its text, a refused page was never a duplicate, and a record that a later
visit replaced does not count. Each pair is compared again, by the crawl's own fingerprints.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from crawler.config import Config, DedupConfig
from crawler.dataset.lifetimes import Lifetimes, lapsed
from crawler.dataset.living import Living
from crawler.dataset.pages import identity, page_key
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.rewrite import Decision, Rewritten, records_in, rewrite
from crawler.dataset.supersede import standing
from crawler.dataset.versions import Cause
from crawler.dataset.withdrawals import covers
from crawler.document import SPAN_FIELDS, Document, DropReason
from crawler.stages.fingerprint import FingerprintStage
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import REJECTED, SHARDS, Place
from crawler.storage.files.records import (
    OF_TEXT,
    Record,
    as_lists,
    is_duplicate,
    record_fields,
    spans_in,
)

BY = "dataset best"
"""The operation's name in the lineage."""
RULE = "licence tier A before B before none, then quality_score (to 0.01), then the older pub_date, then what is kept"
QUALITY_STEP = 0.01
"""Scores closer than this say nothing about two copies of one text (they differ by a date or a caption)."""
CUTS = ("dataset substrings", "dataset contaminated", "dataset semantic")
"""Operations that looked at the kept copies only: a copy that took such a place would bring back what they removed."""

_TIERS = {"A": 0, "B": 1}
_NO_DATE = "9999"
_Rank = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Exchange:
    """`kept` leaves the shards, `better` takes its place; similarity: estimated, 1.0 for the same text."""

    kept: Record
    better: Record
    similarity: float


@dataclass(slots=True)
class Best:
    """What was found. copies: duplicates that could stand in; without_text: duplicates that cannot, having no text."""

    clusters: int = 0
    copies: int = 0
    without_text: int = 0
    exchanges: list[Exchange] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types, without texts."""
        listed = [
            {"kept": e.kept["url"], "better": e.better["url"], "similarity": round(e.similarity, 4)}
            for e in self.exchanges
        ]
        counts = {"clusters": self.clusters, "copies": self.copies, "without_text": self.without_text}
        return {"rule": RULE, **counts, "exchanges": listed}


def rank_of(record: Record) -> _Rank:
    """What orders the copies of one text, the best first (`RULE`)."""
    quality = round((record.get("quality_score") or 0.0) / QUALITY_STEP)
    return _TIERS.get(record.get("license_tier") or "", len(_TIERS)), -quality, record.get("pub_date") or _NO_DATE


def find(place: Place, config: Config, *, now: float) -> Best:
    """Which kept records have a better copy among the rejected, at this time (seconds since the epoch).

    Memory grows with the duplicates, and with the texts of those kept records only that have a copy of higher rank.
    Raises: StorageError where a file is damaged, or a cut came before.
    """
    _refuse_after_cuts(place)
    found, ranks = Best(), _Copies(place, config, now)
    for record in ranks.usable(found):
        ranks.by_owner[_owner(record)].append((rank_of(record), record["canonical_url"], identity(record)))
    pairs = _Pairs(config.dedup)
    for record in Living(place).kept():
        copies = ranks.by_owner.get(record["canonical_url"])
        if copies is None or identity(record) in ranks.stale:
            continue
        found.clusters += 1
        better = {name for rank, _, name in copies if rank < rank_of(record)}
        if better:
            pairs.add(record, better)
    for record in ranks.usable(Best()):
        pairs.offer(record)
    found.exchanges = pairs.best()
    return found


def exchange(place: Place, config: Config, *, now: float, keep_old: bool = True) -> tuple[Best, Rewritten]:
    """Keep the better copies: a new version with its lineage, safe to repeat. Raises: StorageError as `rewrite`."""
    found = find(place, config, now=now)
    moved = {e.kept["canonical_url"]: e.better["canonical_url"] for e in found.exchanges}
    others = {identity(e.kept): _as_kept(e.better) for e in found.exchanges}
    others |= {identity(e.better): _as_rejected(e) for e in found.exchanges}

    def decide(record: Record) -> Decision:
        if (other := others.get(identity(record))) is not None:
            return other
        owner = moved.get(record.get("dup_of") or "") if is_duplicate(record) else None
        return record | {"dup_of": owner} if owner is not None else record

    done = rewrite(place, decide, Cause(BY, RULE, now, keep_old), folders=(SHARDS, REJECTED), mixed=True)
    return found, done


class _Copies:
    """The rejected duplicates that may stand in, by the page whose text they repeat."""

    def __init__(self, place: Place, config: Config, now: float) -> None:
        self._place = place
        self._lapsed = lapsed(place, Lifetimes.of(config.storage.document_ttl_days), now=now)
        self.stale = standing(place).stale
        self._refused = refusals_of([place])
        self._kept = {page_key(record) for record in records_in(place)}
        self.by_owner: dict[str, list[tuple[_Rank, str, bytes]]] = defaultdict(list)

    def usable(self, found: Best) -> Iterator[Record]:
        """Each of them, in the order of the files; counted in `found`."""
        for record in records_in(self._place, (REJECTED,)):
            if not is_duplicate(record) or not self._stands(record):
                continue
            if not record.get("text") or ("pii_spans" not in record and record.get("pii_span_count")):
                found.without_text += 1
            elif self._refused.of_record(record) is None:
                found.copies += 1
                yield record

    def _stands(self, record: Record) -> bool:
        tag = record.get("license_tag")
        refused = covers(self._refused.domains, record["url"]) or tag in self._refused.licences
        refused = refused or record["url"] in self._lapsed
        known = page_key(record) in self._kept
        return bool(record.get("dup_of")) and not (refused or known or identity(record) in self.stale)


class _Pairs:
    """Kept records with copies that rank higher, and of each the best that still has its text."""

    def __init__(self, config: DedupConfig) -> None:
        self._config, self._stage = config, FingerprintStage(config)
        self._kept: dict[str, tuple[Record, set[bytes], Document]] = {}
        self._best: dict[str, tuple[tuple[_Rank, str], Exchange]] = {}

    def add(self, kept: Record, better: set[bytes]) -> None:
        self._kept[kept["canonical_url"]] = kept, better, self._printed(kept)

    def offer(self, record: Record) -> None:
        kept, better, printed = self._kept.get(_owner(record), (None, None, None))
        if kept is None or better is None or printed is None or identity(record) not in better:
            return
        place = rank_of(record), record["canonical_url"]
        current = self._best.get(kept["canonical_url"])
        if current is not None and current[0] <= place:
            return
        similarity = self._similarity(printed, self._printed(record))
        if similarity is not None:
            self._best[kept["canonical_url"]] = place, Exchange(kept, record, similarity)

    def best(self) -> list[Exchange]:
        return [self._best[url][1] for url in sorted(self._best)]

    def _printed(self, record: Record) -> Document:
        doc = Document(url=record["url"], text=record["text"])
        self._stage(doc)
        return doc

    def _similarity(self, one: Document, two: Document) -> float | None:
        """Of two texts; None where they are no duplicates (any more)."""
        if one.doc_id == two.doc_id:
            return 1.0
        shingles = min(one.shingle_count, two.shingle_count)
        if shingles < self._config.min_shingles:
            return None
        size = self._config.bands * self._config.rows
        pairs = zip(_words(one.signature), _words(two.signature), strict=True)
        share = sum(a == b for a, b in pairs) / size
        short = shingles < self._config.short_shingles
        return share if share >= (self._config.short_threshold if short else self._config.threshold) else None


def _words(signature: bytes) -> Iterator[bytes]:
    return (signature[at : at + 4] for at in range(0, len(signature), 4))


def _owner(record: Record) -> str:
    return str(record["dup_of"])


def _as_kept(copy: Record) -> Record:
    own = {name: as_lists(spans_in(copy, name)) for name in SPAN_FIELDS} | {"dup_of": None, "dup_similarity": None}
    return {name: copy.get(name) for name in record_fields()} | own


def _as_rejected(each: Exchange) -> Record:
    """The kept record as the duplicate of the better one, with all that it needs to come back."""
    kept, same = each.kept, each.similarity == 1.0
    reason = DropReason.EXACT_DUPLICATE if same else DropReason.NEAR_DUPLICATE
    head = {name: kept.get(name) for name in ("url", "canonical_url", "domain")}
    detail = f"of {each.better['canonical_url']}, the better copy"
    head |= {"stage": "exact" if same else "near", "reason": reason.value, "detail": detail[:512]}
    tail = {name: kept.get(name) for name in OF_TEXT}
    rest = {name: value for name, value in kept.items() if name not in {*head, *tail}}
    similar = {"dup_of": each.better["canonical_url"], "dup_similarity": round(each.similarity, 4)}
    return head | rest | tail | similar


def _refuse_after_cuts(place: Place) -> None:
    """Raises: StorageError where an operation has removed passages or pages by looking at the kept copies."""
    for step in place.manifest().get("lineage", []):
        if step["operation"].startswith(CUTS):
            raise StorageError(
                f"{place.url}: version {step['version']} was made by `scrapy {step['operation']}`, which looked at the "
                "kept copies only; a better copy would bring back what it removed. Choose the best copies first: on "
                "the version before, or on a replay of the archive"
            )
