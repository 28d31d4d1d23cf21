"""The duplicate index of one process, lost at its end, with the verdicts of `redis_index.py`.

Laid out like that one, because Python's dictionaries would cost four times the memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np

from crawler.config import DedupConfig
from crawler.dedup.index import Match, Question, Questions, similarity

_FREED = ""
_FULL = 100  # entries a bucket
_NUMBER = 4  # bytes


class MemoryIndex:
    """Replay, tests, crawls without a server. Up to 2^32 owners."""

    def __init__(self, config: DedupConfig) -> None:
        self._questions = Questions(config)
        self._width = self._questions.scheme.permutations
        self._exact = _Table(10)
        self._bands = [_Table(4) for _ in range(config.bands)]
        self._owners: list[str] = []
        self._signatures = bytearray()
        self._duplicates: Counter[int] = Counter()

    @property
    def away_seconds(self) -> float:
        """Never away."""
        return 0.0

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
        fields = [value.to_bytes(4, "little") for value in asked.bands]
        numbers = [table.get(field) for table, field in zip(self._bands, fields, strict=False)]
        best: tuple[int, int] | None = None  # (agreeing, -number): the most similar, then the oldest
        for number in dict.fromkeys(n for n in numbers if n is not None and self._owners[n] != _FREED):
            agreeing = self._agreement(asked.signature, number)
            if self._owners[number] == owner_url:
                if agreeing == self._width:
                    self._exact.put(asked.digest, number)
                    return None
            elif agreeing >= asked.needed and (best is None or (agreeing, -number) > best):
                best = (agreeing, -number)
        if best is not None:
            return self._found(-best[1], similarity(best[0], self._width), exact=False)
        self._insert(asked, fields, numbers, owner_url)
        return None

    async def confirm(self, owner_url: str) -> Match | None:  # noqa: ARG002  # the protocol's
        """What is claimed in memory stays claimed."""
        return None

    def _agreement(self, mine: bytes, number: int) -> int:
        theirs = np.frombuffer(self._signatures, np.uint8, self._width, number * self._width)
        return int(np.count_nonzero(np.frombuffer(mine, np.uint8) == theirs))

    def _found(self, number: int, similar: float, *, exact: bool) -> Match:
        self._duplicates[number] += 1
        return Match(self._owners[number], similar, exact)

    def _insert(self, asked: Question, fields: list[bytes], numbers: list[int | None], owner_url: str) -> None:
        number = len(self._owners)
        self._exact.put(asked.digest, number)
        for table, field, taken in zip(self._bands, fields, numbers, strict=False):
            if taken is None or self._owners[taken] == _FREED:
                table.put(field, number)
        self._owners.append(owner_url)
        self._signatures += asked.signature or bytes(self._width)

    async def release(self, digest: bytes, owner_url: str) -> int | None:
        """See `DedupIndex`."""
        number = self._exact.get(digest)
        if number is None or self._owners[number] != owner_url:
            return None
        self._owners[number] = _FREED
        return self._duplicates.pop(number, 0)

    async def forget(self, owners: Collection[str]) -> int:
        """See `DedupIndex`."""
        wanted, freed = set(owners) - {_FREED}, 0
        for number, owner in enumerate(self._owners):
            if owner in wanted:
                self._owners[number] = _FREED
                del self._duplicates[number]
                freed += 1
        return freed


class _Table:
    """Fields of `width` random bytes to numbers: a linear hash table (Litwin 1980) whose buckets are packed bytes."""

    def __init__(self, width: int) -> None:
        self._width, self._step = width, width + _NUMBER
        self._buckets = [bytearray()]
        self._size = 1  # largest power of two that is not beyond the number of buckets
        self._count = 0

    def get(self, field: bytes) -> int | None:
        """The number of a field."""
        bucket = self._buckets[self._home(field)]
        at = self._find(bucket, field)
        return None if at < 0 else int.from_bytes(bucket[at + self._width : at + self._step], "little")

    def put(self, field: bytes, number: int) -> None:
        """Set the number of a field."""
        bucket = self._buckets[self._home(field)]
        at = self._find(bucket, field)
        packed = number.to_bytes(_NUMBER, "little")
        if at >= 0:
            bucket[at + self._width : at + self._step] = packed
            return
        bucket += field + packed
        self._count += 1
        if self._count > _FULL * len(self._buckets):
            self._split_one()

    def _home(self, field: bytes) -> int:
        value = int.from_bytes(field[:4], "little")
        home = value % (2 * self._size)
        return home if home < len(self._buckets) else home - self._size

    def _find(self, bucket: bytearray, field: bytes) -> int:
        at = bucket.find(field)
        while at > 0 and at % self._step:
            at = bucket.find(field, at + 1)
        return at

    def _split_one(self) -> None:
        """Distribute the next bucket over itself and a new one."""
        old = len(self._buckets) - self._size
        entries, self._buckets[old] = self._buckets[old], bytearray()
        self._buckets.append(bytearray())
        for at in range(0, len(entries), self._step):
            entry = bytes(entries[at : at + self._step])
            self._buckets[self._home(entry)] += entry
        if len(self._buckets) == 2 * self._size:
            self._size *= 2
