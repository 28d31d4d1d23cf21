"""Which pages may go to a model: kept, current and redacted ones; never held, withdrawn, refused or lapsed ones.

Whose licence nobody knows goes only where it is asked for by its word, `none`; to a server on this machine any may go.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from crawler.dataset.annotations.tables import key_of
from crawler.dataset.lifetimes import Lifetimes
from crawler.dataset.living import Living
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record

NO_TIER = "none"
TIERS = ("A", "B", NO_TIER)
TEXTLESS = "without text"


@dataclass(slots=True)
class Pages:
    """The pages that may go out, and what was left out, by its reason.

    tiers: of licences; None = any. sample: how many pages at most, drawn by `seed`: the same ones, however often.
    unwanted: why a page that might go out is left out; "" where it is not. noun: what one of them is called.
    """

    noun: ClassVar[str] = "page"
    place: Place
    tiers: Collection[str] | None
    lifetimes: Lifetimes = field(default_factory=lambda: Lifetimes({}))
    now: float = 0.0
    sample: int | None = None
    seed: int = 0
    unwanted: Callable[[Record], str] = lambda _: ""
    left_out: Counter[str] = field(default_factory=Counter)

    def read(self) -> Iterator[Record]:
        """The records, in the order of the corpus. With a sample their keys are held in memory.

        Raises: StorageError.
        """
        if self.sample is None:
            yield from self._allowed()
            return
        ranked = ((self._rank(record), key_of(record)) for record in self._allowed())
        drawn = {key for _, key in heapq.nsmallest(self.sample, ranked)}
        yield from (record for record in self._allowed() if key_of(record) in drawn)

    def _living(self) -> Iterator[Record]:
        living = Living(self.place, self.lifetimes, self.now)
        self.left_out = living.left_out
        return living.kept()

    def _allowed(self) -> Iterator[Record]:
        for record in self._living():
            if self.tiers is not None and (tier := record.get("license_tier") or NO_TIER) not in self.tiers:
                self.left_out[f"licence tier {tier}"] += 1
            elif not str(record.get("text") or "").strip():
                self.left_out[TEXTLESS] += 1
            elif why := self.unwanted(record):
                self.left_out[why] += 1
            else:
                yield record

    def _rank(self, record: Record) -> bytes:
        return hashlib.blake2b(key_of(record), key=str(self.seed).encode(), digest_size=16).digest()
