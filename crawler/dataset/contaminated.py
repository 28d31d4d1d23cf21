"""`gristmill dataset contaminated`: kept documents that repeat an evaluation set, listed or taken out.

The stage of the crawl (`crawler/stages/contamination/stage.py`) over what is in the shards: for sets that came later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from crawler.config import Config
from crawler.dataset.cuts import rejection
from crawler.dataset.living import Living
from crawler.dataset.rewrite import Decision, Rejection, Rewritten, rewrite
from crawler.dataset.versions import Cause
from crawler.document import Drop, DropReason
from crawler.stages.contamination.stage import ContaminationStage, Overlap
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record

MAX_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class Hit:
    """One contaminated document and the set it shares most with."""

    url: str
    domain: str
    overlap: Overlap


@dataclass(slots=True)
class Contamination:
    """What was found. listed: the first hits, at most `MAX_LISTED`; sets: documents by set."""

    documents: int = 0
    contaminated: int = 0
    sets: Counter[str] = field(default_factory=Counter)
    domains: Counter[str] = field(default_factory=Counter)
    listed: list[Hit] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        hits = [
            {
                "url": hit.url,
                "set": hit.overlap.set_name,
                "n_grams": hit.overlap.grams,
                "example": hit.overlap.example,
                "words": list(hit.overlap.words),
                "characters": list(hit.overlap.characters),
            }
            for hit in self.listed
        ]
        counts = {"documents": self.documents, "contaminated": self.contaminated}
        return counts | {
            "sets": dict(self.sets.most_common()),
            "domains": dict(self.domains.most_common()),
            "hits": hits,
        }


class Search:
    """Looks records up and keeps count. Raises: InputError where a set cannot be used."""

    def __init__(self, config: Config) -> None:
        self._stage = ContaminationStage(config)
        self._least = config.decontamination.min_overlap
        self.found = Contamination()

    def look(self, record: Record) -> Overlap | None:
        """The overlap that condemns a record, or None."""
        self.found.documents += 1
        overlap = next(iter(self._stage.overlaps(record["text"])), None)
        if overlap is None or overlap.grams < self._least:
            return None
        self.found.contaminated += 1
        self.found.sets[overlap.set_name] += 1
        self.found.domains[record.get("domain") or ""] += 1
        if len(self.found.listed) < MAX_LISTED:
            self.found.listed.append(Hit(record["url"], record.get("domain") or "", overlap))
        return overlap


def find(place: Place, config: Config) -> Contamination:
    """Look every kept document up. Raises: InputError; StorageError where a file is damaged."""
    search = Search(config)
    for record in Living(place).kept():
        search.look(record)
    return search.found


def remove(place: Place, config: Config, *, now: float, keep_old: bool = True) -> tuple[Contamination, Rewritten]:
    """Move every contaminated document to `rejected/`, without its text; a new version with its lineage.

    Raises: InputError; StorageError as `rewrite`.
    """
    search, living = Search(config), Living(place)

    def decide(record: Record) -> Decision:
        if not living.has(record) or (overlap := search.look(record)) is None:
            return record
        return Rejection(rejection(record, Drop(ContaminationStage.name, DropReason.CONTAMINATED, str(overlap))))

    reason = f"repeats an evaluation set ({config.eval_digest})"
    done = rewrite(place, decide, Cause("dataset contaminated --remove", reason, now, keep_old))
    return search.found, done
