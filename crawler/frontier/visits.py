"""The frontier's memory of visits: what is due comes back, and a lease knows its URL's last visit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from crawler.document import Document, Drop, Reason
from crawler.frontier.model import Batch
from crawler.frontier.packing import url_hash
from crawler.frontier.shards import Shards
from crawler.recrawl.visit import Intervals, Visit, visit_after

if TYPE_CHECKING:
    from crawler.config import FrontierConfig

_SWEEP_BATCH = 8  # hashes of about 32 URLs a call: the server answers nobody else while a script runs
_HASTEN_BATCH = 512  # URLs a call


def visit_entry(url: str, visit: Visit) -> bytes:
    """What `settle` takes along: the visit and whose it is."""
    return b"%d\t%s" % (url_hash(url), visit.pack())


class Visits:
    """URLs that were fetched before. Times are epoch seconds."""

    freed_at: float = 0.0
    """When a text of several pages last lost its owner (epoch seconds): older duplicates are judged again."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._recrawled: bool | None = None

    async def recall(self, batch: Batch) -> Batch:
        """The same leases, each with the last visit of its URL.

        Costs nothing in a crawl that was never swept: none of its URLs comes back.
        """
        if not batch.leases or not await self.has_been_swept():
            return batch
        by_shard: dict[int, list[int]] = defaultdict(list)
        for index, lease in enumerate(batch.leases):
            by_shard[self._shards.shard_of_scope(lease.scope)].append(index)
        leases = list(batch.leases)
        for shard, indexes in by_shard.items():
            found = await self._shards.run("recall", shard, [url_hash(leases[i].url) for i in indexes])
            for i, packed in zip(indexes, found, strict=True):
                leases[i] = replace(leases[i], visit=self._unpacked(bytes(packed))) if packed else leases[i]
        return replace(batch, leases=tuple(leases))

    def _unpacked(self, packed: bytes) -> Visit:
        visit = Visit.unpack(packed)
        return visit.reconsidered() if 0 < visit.duplicate_at <= self.freed_at else visit

    async def has_been_swept(self) -> bool:
        """True where a second run has begun: its URLs were done before and are not now."""
        if self._recrawled is None:  # asked once: RECRAWL is the same for all workers of a crawl
            connection, key = self._shards.connection, self._shards.prefix(0) + "st"  # every sweep begins with shard 0
            self._recrawled = bool(await connection.patiently(lambda: connection.redis.hexists(key, "recrawl")))
        return self._recrawled

    async def sweep(self, intervals: Intervals) -> int:
        """Put every URL whose time has come back into its queue; returns how many.

        The intervals hold for the whole crawl from then on, also for URLs whose last visit knew others.
        """
        cutoff, moved = int(self._shards.now() * 1000), 0
        for shard in range(self._shards.limits.shards):
            more = 1
            while more:
                part, more = await self._shards.run("sweep", shard, [cutoff, _SWEEP_BATCH, intervals.plan()])
                moved += part
        self._recrawled = True
        return moved

    async def in_play(self) -> int:
        """How many URLs that were visited are queued, leased or on hold for another visit."""
        found, connection = 0, self._shards.connection
        for shard in range(self._shards.limits.shards):
            key = self._shards.prefix(shard) + "st"
            known, done = await connection.patiently(partial(connection.redis.hmget, key, ["visits", "parked"]))
            found += int(known or 0) - int(done or 0)
        return found

    async def due(self, intervals: Intervals) -> int:
        """How many URLs `sweep` would bring back now; changes nothing."""
        cutoff, found = int(self._shards.now() * 1000), 0
        for shard in range(self._shards.limits.shards):
            seen = 0
            while True:
                part, looked = await self._shards.run("due", shard, [cutoff, _SWEEP_BATCH, intervals.plan(), seen])
                found, seen = found + part, seen + looked
                if looked < _SWEEP_BATCH:
                    break
        return found

    async def hasten(self, changed: Iterable[tuple[str, float]]) -> int:
        """These canonical URLs were changed at these times: due at once where the last visit is older.

        Returns how many went back into their queues. URLs that are unknown or in work stay as they are.
        """
        by_shard: dict[int, list[Any]] = defaultdict(list)
        for url, at in changed:
            by_shard[self._shards.shard_of_scope(self._shards.scope_of(url))] += [url_hash(url), f"{at:.0f}"]
        moved = 0
        for shard, args in by_shard.items():
            for start in range(0, len(args), 2 * _HASTEN_BATCH):
                moved += await self._shards.run("hasten", shard, args[start : start + 2 * _HASTEN_BATCH])
        return moved

    async def next_visits(self) -> tuple[int, float | None]:
        """How many URLs wait for their next visit, and a time before which none of them is due."""
        waiting, times = 0, list[float]()
        connection = self._shards.connection
        for shard in range(self._shards.limits.shards):
            st, due = self._shards.prefix(shard) + "st", self._shards.prefix(shard) + "due"
            waiting += int(await connection.patiently(partial(connection.redis.hget, st, "parked")) or 0)
            first = await connection.patiently(partial(connection.redis.zrange, due, 0, 0, withscores=True))
            times += [at / 1000 for _, at in first]
        return waiting, min(times, default=None)


def name_of_page(record: dict[str, Any]) -> str:
    """The canonical URL of a record's page: what the frontier calls it."""
    return str(record.get("canonical_url") or record["url"])


def visit_of_record(record: dict[str, Any], config: FrontierConfig, now: float) -> bytes:
    """What the crawl would have remembered of the page behind a final record, for a later RECRAWL."""
    reason = Reason.of(record["reason"]) if "reason" in record else None
    if not config.recrawl_remember or (reason is not None and not reason.meaning):
        return b""  # a reason that only another version has: nothing is known of the visit
    doc = Document(url=record["url"])
    for name in ("doc_id", "content_hash", "etag", "last_modified", "http_status", "crawled_at", "char_count"):
        setattr(doc, name, record.get(name) or getattr(doc, name))
    doc.extraction_yield, doc.quality_score = record.get("extraction_yield"), record.get("quality_score")
    if reason is not None:
        doc.verdict = Drop(record["stage"], reason)
    return visit_entry(name_of_page(record), visit_after(None, doc, Intervals.of(config), now))
