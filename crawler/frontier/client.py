"""The frontier as its users see it: put URLs in, lease them, settle them. Async, on Redis, without Scrapy.

All state lives in the server, in shards of keys that share one hash tag (`docs/frontier.md` has the table); every
operation is one Lua script, so that a crash at any moment leaves a state in which nothing is lost. The clock is
injected and passed to the scripts. The parts: `put`, `settle` (settle, nack, hold, …), `politeness` (scopes,
delays, blocks), `unfinished` (what a run leaves undone), `shared` (small values).
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from crawler.frontier.adopt import Adopt
from crawler.frontier.model import Batch, Counts, Limits, Mode
from crawler.frontier.operations import Operations
from crawler.frontier.packing import lease_of
from crawler.frontier.parameters import Known
from crawler.frontier.put import Put
from crawler.frontier.script_call import ms
from crawler.frontier.settle import Settle
from crawler.frontier.unfinished import Unfinished
from crawler.frontier.visits import Visits
from crawler.server.client import Revive
from crawler.server.connection import Connection
from crawler.times import Clock
from crawler.urls.traps import trap_reason

logger = logging.getLogger(__name__)


class Frontier(Put, Settle, Visits, Unfinished, Operations, Adopt):
    """One crawl's frontier. Any number of workers open the same `crawl` on the same server.

    Times are epoch seconds, durations seconds. `trap` names what is wrong with an endless URL, or answers None; seeds
    (depth 0) are not asked about. `jitter` answers numbers from 0 to 1. Every method waits while the server is away;
    only `open` gives up.
    """

    def __init__(
        self,
        url: str,
        crawl: str,
        limits: Limits | None = None,
        *,
        now: Clock | None = None,
        revive: Revive | None = None,
        trap: Callable[[str], str | None] = trap_reason,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._trap = trap
        self._jitter = jitter
        self.limits = limits or Limits()
        self.crawl = crawl
        self.connection = Connection(url, now=now, revive=revive)
        self.now = self.connection.now
        self.known = Known()
        self._born: dict[int, bytes] = {}
        self._turn = 0
        self.origin_of = lru_cache(65_536)(self._origin_of)

    async def open(self) -> None:
        """Connect and check the server. Raises: FrontierUnavailable, FrontierMisconfigured."""
        await self.connection.open()

    async def close(self) -> None:
        """Give the connections back; changes nothing in the frontier."""
        await self.connection.close()

    async def synchronize(self) -> None:
        """Measure the server's clock again: all workers of a long crawl go by it, whatever their own does."""
        await self.connection.patiently(self.connection.synchronize)

    # --- out ---------------------------------------------------------------------------------------------------------
    async def lease(self, n: int) -> Batch:
        """Up to `n` URLs whose turn has come, of different scopes first. Expired leases of others come back here.

        All shards are asked in one round trip for their share of `n`; those that may have more are asked once again.
        """
        now, shards = self.now(), self.limits.shards
        if shards == 1:
            return await self._lease(0, n, now)
        self._turn = (self._turn + 1) % shards
        order = [(self._turn + step) % shards for step in range(shards)]
        share = max(1, n // shards)
        first, later = order[:n], order[n:]
        parts = dict(zip(first, await asyncio.gather(*(self._lease(s, share, now) for s in first)), strict=True))
        leases = [lease for part in parts.values() for lease in part.leases]
        for shard in [s for s in first if parts[s].counts is None] + later:
            if len(leases) == n:
                return Batch(tuple(leases), now, None)
            parts[shard] = await self._lease(shard, n - len(leases), now)
            leases += parts[shard].leases
        if any(part.counts is None for part in parts.values()):
            return Batch(tuple(leases), now, None)
        total = _sum([part.counts for part in parts.values() if part.counts is not None])
        return Batch(tuple(leases), total.next_ready_at, total)

    async def _lease(self, shard: int, n: int, now: float) -> Batch:
        limits, nonce = self.limits, secrets.token_hex(4)
        args = [n, ms(limits.lease_seconds), f"{shard}.", nonce, limits.tries, ms(limits.patience)]
        flat, reasons, next_ready, totals, version, born = await self._run("lease", shard, args, now=now)
        self.known.hear(shard, version)
        self._hear_birth(shard, born)
        why = {reasons[i] - 1: reasons[i + 1] for i in range(0, len(reasons), 2)}
        end, tries = now + limits.lease_seconds, limits.tries
        leases = tuple(
            lease_of(token, payload, why.get(k, b""), granted_at=now, expires_at=end, tries=tries)
            for k, (token, payload) in enumerate(zip(flat[::2], flat[1::2], strict=True))
        )
        leases = await self.leases_named(leases)
        return Batch(leases, next_ready / 1000 or None, None if totals is None else _counts(totals))

    def _hear_birth(self, shard: int, born: bytes) -> None:
        """A shard that was born anew was emptied under this worker; who noticed first may have filled it since."""
        if self._born.setdefault(shard, born) != born:
            self._born[shard] = born
            logger.warning("the frontier has forgotten what it knew: what is in hand is told to it again")
            self.connection.mistrust()

    # --- looking after it --------------------------------------------------------------------------------------------
    async def counts(self) -> Counts:
        """How full the frontier is."""
        args = [ms(self.limits.patience)]
        answers = await asyncio.gather(*(self._run("status", shard, args) for shard in range(self.limits.shards)))
        return _sum([_counts(answer) for answer in answers])


def _counts(row: list[Any]) -> Counts:
    *numbers, next_ready, mode, barren = row
    numbers.append(barren)
    names = ("queued", "leased", "held", "done", "dead", "seen", "purged", "waiting", "barren")
    tallies: dict[str, Any] = dict(zip(names, numbers, strict=True))
    return Counts(**tallies, next_ready_at=next_ready / 1000 if next_ready else None, mode=Mode(mode.decode()))


def _sum(parts: list[Counts]) -> Counts:
    times = [p.next_ready_at for p in parts if p.next_ready_at is not None]
    modes = {p.mode for p in parts}
    return Counts(
        queued=sum(p.queued for p in parts),
        leased=sum(p.leased for p in parts),
        held=sum(p.held for p in parts),
        done=sum(p.done for p in parts),
        dead=sum(p.dead for p in parts),
        seen=sum(p.seen for p in parts),
        purged=sum(p.purged for p in parts),
        barren=sum(p.barren for p in parts),
        waiting=sum(p.waiting for p in parts),
        next_ready_at=min(times, default=None),
        mode=next((m for m in (Mode.DRAIN, Mode.PAUSE) if m in modes), Mode.RUN),
    )
