"""Behind the stages: the duplicate index of one process, forgotten at its end. Same verdicts as `dedup_redis.py`."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection

import numpy as np

from crawler.config import DedupConfig
from crawler.pipelines.dedup_index import Cluster, Match, Question, Questions, similarity

_FREED = ""


class MemoryIndex:
    """Replay, tests, crawls without a server."""

    def __init__(self, config: DedupConfig) -> None:
        self._questions = Questions(config)
        self._exact: dict[bytes, int] = {}
        self._bands: dict[int, int] = {}  # band and its hash in one integer -> owner
        self._owners: list[str] = []
        self._signatures: list[bytes] = []
        self._duplicates: Counter[int] = Counter()

    async def open(self) -> None:
        """Nothing to do."""

    async def close(self) -> None:
        """Nothing to do."""

    async def check(self, doc_id: str, signature: bytes, shingles: int, owner_url: str) -> Match | None:
        """See `DedupIndex`."""
        asked = self._questions.about(doc_id, signature, shingles)
        number = self._exact.get(asked.digest)
        if number is not None and (owner := self._owners[number]) != _FREED:
            return None if owner == owner_url else self._found(number, 1.0, exact=True)
        keys = [band << 32 | value for band, value in enumerate(asked.bands)]
        agreeing = self._compare(asked, keys)
        own = next(
            (n for n in agreeing if self._owners[n] == owner_url and self._signatures[n] == asked.signature), None
        )
        if own is not None:
            self._exact[asked.digest] = own
            return None
        similar = [(same, -n) for n, same in agreeing.items() if same >= asked.needed and self._owners[n] != owner_url]
        if similar:
            same, negative = max(similar)
            return self._found(-negative, similarity(same, self._questions.scheme.permutations), exact=False)
        self._insert(asked, keys, owner_url)
        return None

    def _compare(self, asked: Question, keys: list[int]) -> dict[int, int]:
        """Agreeing positions by candidate."""
        numbers = dict.fromkeys(self._bands[key] for key in keys if key in self._bands)
        return {n: _agreement(asked.signature, self._signatures[n]) for n in numbers if self._owners[n] != _FREED}

    def _found(self, number: int, similar: float, *, exact: bool) -> Match:
        self._duplicates[number] += 1
        return Match(self._owners[number], similar, exact)

    def _insert(self, asked: Question, keys: list[int], owner_url: str) -> None:
        number = len(self._owners)
        self._exact[asked.digest] = number
        for key in keys:
            if key not in self._bands or self._owners[self._bands[key]] == _FREED:
                self._bands[key] = number
        self._owners.append(owner_url)
        self._signatures.append(asked.signature)

    async def forget(self, owners: Collection[str]) -> int:
        """See `DedupIndex`."""
        wanted, freed = set(owners) - {_FREED}, 0
        for number, owner in enumerate(self._owners):
            if owner in wanted:
                self._owners[number] = _FREED
                del self._duplicates[number]
                freed += 1
        return freed

    async def clusters(self, most: int) -> list[Cluster]:
        """See `DedupIndex`."""
        largest = heapq.nlargest(most, ((count, -number) for number, count in self._duplicates.items()))
        return [Cluster(self._owners[-negative], count) for count, negative in largest]


def _agreement(left: bytes, right: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(left, np.uint8) == np.frombuffer(right, np.uint8)))
