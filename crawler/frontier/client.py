"""The frontier as its users see it: put URLs in, lease them, settle them. Async, on Redis, without Scrapy.

All state lives in the server, in shards of keys that share one hash tag (`docs/frontier.md` has the table); every
operation is one Lua script, so that a crash at any moment leaves a state in which nothing is lost. The clock is
injected and passed to the scripts.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
from collections.abc import Callable, Iterable
from typing import Any

from crawler.frontier.control import Control
from crawler.frontier.member import lease_of, pack
from crawler.frontier.model import Batch, Counts, Fault, Limits, Mark, Mode, Nack, PutStatus, Wire
from crawler.frontier.politeness import Politeness
from crawler.frontier.put import Put
from crawler.frontier.script_source import read_all
from crawler.frontier.shards import Shards, clean, ms, shard_of_token, wire_args
from crawler.frontier.shared import SharedValues
from crawler.frontier.visits import Visits
from crawler.server.client import Revive
from crawler.server.connection import SET_SECONDS, Connection
from crawler.times import Clock
from crawler.urls.link import Link
from crawler.urls.shape import shape_id_of
from crawler.urls.traps import trap_reason

logger = logging.getLogger(__name__)

_FIRST_HOLD, _LONGEST_HOLD = 30.0, 6 * 3600.0  # seconds

_USUAL_DEATHS = 1 / 3600
_TALLIES = ("queued", "leased", "held", "done", "dead", "seen", "purged", "waiting", "barren", "paused")
Result = tuple[str, Wire | None] | tuple[str, Wire | None, bytes] | tuple[str, Wire | None, bytes, bytes]
"""Token, what the request cost, what to remember of the visit, what it brought."""


class Frontier(Shards):
    """One crawl's frontier. Any number of workers open the same `crawl` on the same server.

    The way of a URL is here: put, leased, and out of a worker's hands again. Its parts: `politeness` (delays, blocks
    and turns of scopes), `visits` (what is remembered of finished URLs), `control` (what people ask of it), `shared`
    (small values and locks of the crawl).

    Times are epoch seconds, durations seconds. `trap` names what is wrong with an endless URL, or answers None; seeds
    (depth 0) are not asked about. `jitter` answers numbers from 0 to 1. Every method waits while the server is away;
    only `open` gives up. A lease that has expired is nobody's any more: its late outcome does nothing.
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
        super().__init__(Connection(url, now=now, revive=revive), crawl, limits or Limits())
        self.politeness = Politeness(self)
        self.visits = Visits(self)
        self.control = Control(self)
        self.shared = SharedValues(self, lambda: self.bearer)
        self._put = Put(self, trap)
        self._jitter = jitter
        self._born: dict[int, bytes] = {}
        self.bearer = ""  # of this worker's leases: a mark of its process, which their tokens bear
        self.death_rate = _USUAL_DEATHS  # of workers, a second of their work; `claims` measures it
        self._turn = 0
        self._ahead = 0.0

    async def open(self) -> None:
        """Connect and check the server. Raises: FrontierUnavailable, FrontierMisconfigured."""
        read_all()
        await self.connection.open()
        await self._agree_on_time(0.0)

    async def close(self) -> None:
        """Give the connections back; changes nothing in the frontier."""
        await self.connection.close()

    async def synchronize(self) -> None:
        """Measure the server's clock again: all workers of a long crawl go by it, whatever their own does."""
        await self.connection.patiently(self.connection.synchronize)
        await self._agree_on_time(self.now())

    async def _agree_on_time(self, latest: float) -> None:
        """A clock that was set back would freeze the crawl for as long, one that was set on would end all leases and
        all delays at once: the crawl's time goes on, and all workers know it."""
        connection = self.connection
        if not connection.is_measured:
            return
        answer = await self.run("clock", 0, [ms(latest)], now=connection.server_time())
        ahead, before = int(answer) / 1000, self._ahead
        way = "back" if ahead > before + SET_SECONDS else "on" if ahead < min(before, 0.0) - SET_SECONDS else ""
        if way:
            logger.warning(
                "the server's clock was set %s by %.0f s; the crawl and its records keep the time that was reached",
                way,
                abs(ahead - before),
            )
        self._ahead = connection.ahead = ahead

    async def put(self, links: list[Link]) -> list[PutStatus]:
        """Add canonical URLs; what is known stays as it is. Answers in the order of `links`."""
        return await self._put.put(links)

    async def lease(self, n: int, in_hand: int = 0) -> Batch:
        """Up to `n` URLs whose turn has come, of different scopes first. Expired leases of others come back here.

        `in_hand`: URLs that this worker is still at work on. A URL that a worker died with comes alone (`Lease.alone`),
        first to workers with nothing in hand; whoever has something finishes that before it begins with it.

        All shards are asked in one round trip for their share of `n`; those that may have more are asked once again.
        """
        now, shards = self.now(), self.limits.shards
        if shards == 1:
            return await self._lease(0, n, now, in_hand)
        self._turn = (self._turn + 1) % shards
        order = [(self._turn + step) % shards for step in range(shards)]
        share = max(1, n // shards)
        first, later = order[:n], order[n:]
        parts = dict(
            zip(first, await asyncio.gather(*(self._lease(s, share, now, in_hand) for s in first)), strict=True)
        )
        leases = [lease for part in parts.values() for lease in part.leases]
        for shard in [s for s in first if parts[s].counts is None] + later:
            if len(leases) == n:
                return Batch(tuple(leases), now, None)
            parts[shard] = await self._lease(shard, n - len(leases), now, in_hand)
            leases += parts[shard].leases
        if any(part.counts is None for part in parts.values()):
            return Batch(tuple(leases), now, None)
        total = _sum([part.counts for part in parts.values() if part.counts is not None])
        return Batch(tuple(leases), total.next_ready_at, total)

    async def _lease(self, shard: int, n: int, now: float, in_hand: int) -> Batch:
        limits, nonce = self.limits, self.bearer + secrets.token_hex(4)
        args = [n, ms(limits.lease_seconds), f"{shard}.", nonce, limits.tries, ms(limits.patience)]
        args += [in_hand, f"{self.death_rate / 1000:.12f}"]
        flat, reasons, next_ready, totals, born, alone = await self.run("lease", shard, args, now=now)
        self._hear_birth(shard, born)
        why = {reasons[i] - 1: reasons[i + 1] for i in range(0, len(reasons), 2)}
        end = now + limits.lease_seconds
        leases = tuple(
            lease_of(token, payload, why.get(k, b""), granted_at=now, expires_at=end, alone=bool(alone))
            for k, (token, payload) in enumerate(zip(flat[::2], flat[1::2], strict=True))
        )
        return Batch(leases, next_ready / 1000 or None, None if totals is None else _counts(totals))

    def _hear_birth(self, shard: int, born: bytes) -> None:
        """A shard that was born anew was emptied under this worker; who noticed first may have filled it since."""
        if self._born.setdefault(shard, born) != born:
            self._born[shard] = born
            logger.warning("the frontier's data were lost: the URLs in progress are put into it again")
            self.connection.mistrust()

    async def settle(self, results: Iterable[Result]) -> list[bool]:
        """These URLs are finished; everything they produced is durable.

        Each comes with what its request cost (None where none was sent: its politeness slot goes to the next URL at
        once), what to remember of the visit (`visit_entry`), and what it brought (`outcome_entry`). False in the
        answer: the lease had expired, nothing happened.
        """
        rows = [(token, *wire_args(wire), *(*more, b"", b"")[:2]) for token, wire, *more in results]
        return [bool(n) for n in await self.run_on_tokens("ack", rows)]

    async def finish(self, results: Iterable[tuple[str, Wire | None]]) -> None:
        """These requests are over while their pages are still worked on: their scopes may be asked again."""
        await self.run_on_tokens("finish", [(token, *wire_args(wire)) for token, wire in results])

    async def nack(
        self,
        token: str,
        not_before: float | None,
        reason: str,
        *,
        counted: bool = True,
        wire: Wire | None = None,
        fault: Fault = Fault.URL,
    ) -> Nack:
        """This try failed; the URL comes back at `not_before` (None: at once).

        `counted=False` gives the URL back as if it had never been handed out. `fault` says whose failure it was; while
        the breaker of its scope is open a failure of the host costs the URL nothing. `Nack.EXHAUSTED`: no try is left;
        the lease lasts on so that the caller records the loss and acknowledges it, which moves it to the dead letters.
        """
        row = (token, ms(not_before or 0), clean(reason), int(counted), wire_args(wire)[0], int(fault))
        (answer,) = await self.run("nack", shard_of_token(token), [*self._nack_head(), *row])
        return Nack(answer)

    async def respell(self, token: str, link: Link, *, wire: Wire | None = None) -> bool:
        """Ask for the leased URL once more, as `link` spells it: the same name, in the same place; costs no try.

        False: the lease had expired, nothing happened.
        """
        shape = shape_id_of(link.url) if link.mark is not None else ""
        row = (token, wire_args(wire)[0], pack(link, self.scope_of(link.url), shape=shape))
        return bool(await self.run("respell", shard_of_token(token), list(row)))

    async def release(self, tokens: Iterable[str]) -> None:
        """Give leases back that were never begun; costs no attempt and keeps their place."""
        rows = [(token, 0, "", 0, "", 0) for token in tokens]
        await self.run_on_tokens("nack", rows, *self._nack_head())

    def _nack_head(self) -> tuple[int | float, ...]:
        limits = self.limits
        pauses = ms(limits.breaker_pause), ms(limits.breaker_longest)
        return (limits.tries, limits.breaker_failures, *pauses, self._jitter(), ms(limits.slowdown))

    async def hold(self, token: str, until: float, reason: str, *, wire: Wire | None = None) -> float:
        """The URL cannot be judged before `until`: it waits aside, longer at every repetition, without costing a try.

        Returns the time at which it is due again (0.0 for a stale lease). It comes back only while the crawl has other
        work or no end (`scheduler/held.py`), or at the start of a later run.
        """
        args = [token, ms(until), clean(reason), ms(_FIRST_HOLD), ms(_LONGEST_HOLD), wire_args(wire)[0]]
        return float(await self.run("hold", shard_of_token(token), args)) / 1000

    async def extend(self, tokens: Iterable[str]) -> list[str]:
        """This worker is alive: its leases last another term. Returns those that are lost already."""
        held = list(tokens)
        answers = await self.mark([(token, Mark.KEEP) for token in held])
        return [token for token, ours in zip(held, answers, strict=True) if not ours]

    async def mark(self, rows: list[tuple[str, Mark]]) -> list[bool]:
        """Extend these leases and say how far their pages are. False in the answer: the lease is lost."""
        term = ms(self.limits.lease_seconds)
        return [bool(n) for n in await self.run_on_tokens("extend", [(t, m.value) for t, m in rows], term)]

    async def counts(self) -> Counts:
        """How full the frontier is."""
        args = [ms(self.limits.patience)]
        answers = await asyncio.gather(*(self.run("status", shard, args) for shard in range(self.limits.shards)))
        return _sum([_counts(answer) for answer in answers])


def _counts(row: list[Any]) -> Counts:
    *numbers, next_ready, mode, barren, paused = row
    numbers += barren, paused
    tallies: dict[str, Any] = dict(zip(_TALLIES, numbers, strict=True))
    return Counts(**tallies, next_ready_at=next_ready / 1000 if next_ready else None, mode=Mode(mode.decode()))


def _sum(parts: list[Counts]) -> Counts:
    times = [p.next_ready_at for p in parts if p.next_ready_at is not None]
    modes = {p.mode for p in parts}
    tallies: dict[str, Any] = {name: sum(getattr(p, name) for p in parts) for name in _TALLIES}
    mode = next((m for m in (Mode.DRAIN, Mode.PAUSE) if m in modes), Mode.RUN)
    return Counts(**tallies, next_ready_at=min(times, default=None), mode=mode)
