"""The frontier as its users see it: put URLs in, lease them, settle them. Async, on Redis, without Scrapy.

All state lives in the server, in shards of keys that share one hash tag (`docs/frontier.md` has the table); every
operation is one Lua script, so that a crash at any moment leaves a state in which nothing is lost. The clock is
injected and passed to the scripts.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from crawler.frontier.blobs import Blobs
from crawler.frontier.connection import Connection
from crawler.frontier.model import (
    FOREVER,
    Batch,
    Candidate,
    Clock,
    Counts,
    Lease,
    Limits,
    Mode,
    Nack,
    PutStatus,
    Revive,
    Wire,
)
from crawler.frontier.packing import pack, shard_of, unpack, url_hash
from crawler.frontier.traps import trap_reason
from crawler.frontier.urls import politeness_scope

_PUT = (PutStatus.QUEUED, PutStatus.SEEN, PutStatus.CAPPED, PutStatus.BLOCKED)
_PUT_BATCH = 512  # candidates a call: the server answers nobody else while a script runs
_PRIORITY = 2**40  # queue score = sequence - priority * this
_FIRST_HOLD, _LONGEST_HOLD = 30.0, 6 * 3600.0  # seconds


class Frontier(Blobs):
    """One crawl's frontier. Any number of workers open the same `crawl` on the same server.

    Times are epoch seconds, durations seconds. `trap` names what is wrong with an endless URL, or answers None; seeds
    (depth 0) are not asked about. Every method waits while the server is away; only `open` gives up.
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
    ) -> None:
        self._trap = trap
        self.limits = limits or Limits()
        self.crawl = crawl
        self.connection = Connection(url, now=now, revive=revive)
        self.now = self.connection.now
        self._turn = 0
        self._scope_of = lru_cache(65_536)(self._scope_of_host)

    async def open(self) -> None:
        """Connect and check the server. Raises: FrontierUnavailable, FrontierMisconfigured."""
        await self.connection.open()

    async def close(self) -> None:
        """Give the connections back; changes nothing in the frontier."""
        await self.connection.close()

    async def synchronize(self) -> None:
        """Measure the server's clock again: all workers of a long crawl go by it, whatever their own does."""
        await self.connection.patiently(self.connection.synchronize)

    # --- in ----------------------------------------------------------------------------------------------------------
    async def put(self, candidates: list[Candidate]) -> list[PutStatus]:
        """Add canonical URLs; what is known stays as it is. Answers in the order of `candidates`."""
        answers: list[PutStatus] = [PutStatus.TRAPPED] * len(candidates)
        by_shard: dict[int, list[tuple[int, list[Any]]]] = defaultdict(list)
        for index, candidate in enumerate(candidates):
            refusal = self._refusal(candidate)
            if refusal is not None:
                answers[index] = refusal
                continue
            scope = self.scope_of(candidate.url)
            by_shard[shard_of(scope, self.limits.shards)].append((index, _put_args(candidate, scope)))
        for shard, items in by_shard.items():
            for start in range(0, len(items), _PUT_BATCH):
                part = items[start : start + _PUT_BATCH]
                args = [value for _, item in part for value in item]
                found = await self._run("put", shard, [self.limits.max_pages, *args])
                for (index, _), answer in zip(part, found, strict=True):
                    answers[index] = _PUT[answer]
        return answers

    def _refusal(self, candidate: Candidate) -> PutStatus | None:
        if self.limits.depth and candidate.depth > self.limits.depth and candidate.kind == "page":
            return PutStatus.CAPPED
        if candidate.depth and candidate.kind == "page" and self._trap(candidate.url):
            return PutStatus.TRAPPED
        return None

    # --- out ---------------------------------------------------------------------------------------------------------
    async def lease(self, n: int) -> Batch:
        """Up to `n` URLs whose turn has come, of different scopes first. Expired leases of others come back here."""
        leases: list[Lease] = []
        sums: list[Counts] = []
        shards = self.limits.shards
        self._turn = (self._turn + 1) % shards
        for step in range(shards):
            shard = (self._turn + step) % shards
            now = self.now()
            args = [n - len(leases), _ms(self.limits.lease_seconds), f"{shard}.", secrets.token_hex(4)]
            found, _, totals = await self._run(
                "lease", shard, [*args, self.limits.tries, _ms(self.limits.patience)], now=now
            )
            leases += [self._lease_of(entry, now) for entry in found]
            if totals is not None:
                sums.append(_counts(totals))
            if len(leases) >= n:
                return Batch(tuple(leases), now, None)
        total = _sum(sums)
        return Batch(tuple(leases), total.next_ready_at, total)

    def _lease_of(self, entry: list[bytes | int], now: float) -> Lease:
        token, scope, score, member, why = (bytes(entry[i]).decode() for i in (0, 1, 2, 4, 5))
        parts = unpack(member, scope)
        return Lease(
            token=token,
            url=parts.url,
            scope=scope,
            kind=parts.kind,
            depth=parts.depth,
            attempt=parts.attempts + 1,
            priority=-math.floor(float(score) / _PRIORITY),
            redirects=parts.redirects,
            expires_at=now + self.limits.lease_seconds,
            granted_at=now,
            slot=int(entry[3]),
            holds=parts.holds,
            exhausted=parts.attempts >= self.limits.tries,
            reasons=tuple(why.split("\n")) if why else (),
        )

    # --- outcomes ----------------------------------------------------------------------------------------------------
    async def ack(self, results: Iterable[tuple[str, float | None]]) -> list[bool]:
        """These URLs are finished; everything they produced is durable.

        The number is the latency of the request in seconds, None where none was sent (its politeness slot goes to the
        next URL at once). False in the answer: the lease had expired, nothing happened.
        """
        now = self.now()
        return await self.settle([(t, None if s is None else Wire(now, s)) for t, s in results])

    async def settle(self, results: Iterable[tuple[str, Wire | None]]) -> list[bool]:
        """`ack` with the time at which each request was sent."""
        return [bool(n) for n in await self._per_token("ack", [(token, *_wire(wire)) for token, wire in results])]

    async def finish(self, results: Iterable[tuple[str, Wire | None]]) -> None:
        """These requests are over while their pages are still worked on: their scopes may be asked again."""
        await self._per_token("finish", [(token, *_wire(wire)) for token, wire in results])

    async def nack(
        self, token: str, not_before: float | None, reason: str, *, counted: bool = True, wire: Wire | None = None
    ) -> Nack:
        """This try failed; the URL comes back at `not_before` (None: at once).

        `counted=False` gives the URL back as if it had never been handed out. `Nack.EXHAUSTED`: no try is left; the
        lease lasts on so that the caller records the loss and acknowledges it, which moves it to the dead letters.
        """
        sent = _wire(wire)[0]
        args = [self.limits.tries, token, _ms(not_before or 0), _clean(reason), int(counted), sent]
        (answer,) = await self._run("nack", _shard(token), args)
        return Nack(answer)

    async def release(self, tokens: Iterable[str]) -> None:
        """Give leases back that were never begun; costs no attempt and keeps their place."""
        rows = [(token, 0, "", 0, "") for token in tokens]
        await self._per_token("nack", rows, self.limits.tries)

    async def hold(self, token: str, until: float, reason: str, *, wire: Wire | None = None) -> float:
        """The URL cannot be judged before `until`: it waits aside, longer at every repetition, without costing a try.

        Returns the time at which it is due again (0.0 for a stale lease). It comes back only while the crawl has other
        work, or at the start of a later run.
        """
        args = [token, _ms(until), _clean(reason), _ms(_FIRST_HOLD), _ms(_LONGEST_HOLD), _wire(wire)[0]]
        return float(await self._run("hold", _shard(token), args)) / 1000

    async def extend(self, tokens: Iterable[str]) -> list[str]:
        """This worker is alive: its leases last another term. Returns those that are lost already."""
        lost: list[str] = []
        for shard, rows in _by_shard([(token,) for token in tokens]).items():
            args = [_ms(self.limits.lease_seconds), *(row[0] for row in rows)]
            lost += [token.decode() for token in await self._run("extend", shard, args)]
        return lost

    # --- politeness --------------------------------------------------------------------------------------------------
    def scope_of(self, url: str) -> str:
        """Whose patience a request to this canonical URL uses up."""
        return self._scope_of(url[: (url + "/").index("/", 8)])

    def _scope_of_host(self, origin: str) -> str:
        return politeness_scope(origin + "/", self.limits.scope_by)

    async def block(self, scope: str, until: float, reason: str) -> None:
        """No worker asks this scope before `until` (429, 503). A longer block is never shortened."""
        await self._run("block", shard_of(scope, self.limits.shards), [scope, _ms(until), _clean(reason)])

    async def reserve(self, url: str) -> float:
        """When the caller may send ONE more request to the URL's scope; moves the scope's next turn behind it."""
        return (await self.claim(self.scope_of(url), 0))[0]

    async def claim(self, scope: str, slot: int) -> tuple[float, int]:
        """`reserve` for a scope whose latest slot may be the caller's own (`Lease.slot`): then the turn is now.

        Returns the time of the turn and the new slot.
        """
        at, slot = await self._run("reserve", shard_of(scope, self.limits.shards), [scope, slot])
        return at / 1000, slot

    async def set_delay(self, scope: str, seconds: float) -> None:
        """A delay of its own for a scope (robots.txt Crawl-delay, allowlist); never shorter than the crawl's."""
        prefix = self.prefix(shard_of(scope, self.limits.shards))
        redis = self.connection.redis
        await self.connection.patiently(lambda: redis.hset(prefix + "delay", scope, _ms(seconds)))

    # --- looking after it --------------------------------------------------------------------------------------------
    async def counts(self) -> Counts:
        """How full the frontier is."""
        args = [_ms(self.limits.patience)]
        answers = await asyncio.gather(*(self._run("status", shard, args) for shard in range(self.limits.shards)))
        return _sum([_counts(answer) for answer in answers])

    async def set_mode(self, mode: Mode) -> None:
        """Pause, resume or drain the crawl, for all workers."""
        redis = self.connection.redis
        for shard in range(self.limits.shards):
            key = self.prefix(shard) + "st"
            await self.connection.patiently(lambda key=key: redis.hset(key, "mode", mode.value))  # type: ignore[misc]

    async def requeue(self, what: str, *, scope: str = "", reason: str = "") -> int:
        """Bring URLs back: "due" (held, and their time has come), "held", "later" (long pauses), "dead", "leased".

        "leased" is for a frontier whose workers are all known to be gone: it does not wait for their leases to expire.
        `scope` and `reason` (a part of the latest reason) narrow "held", "later" and "dead". Returns how many.
        """
        shards = [shard_of(scope, self.limits.shards)] if scope else range(self.limits.shards)
        total = 0
        for shard in shards:
            cursor: bytes | str = "0"
            while True:
                moved, cursor = await self._run("requeue", shard, [what, 500, cursor, scope, reason])
                total += moved
                if cursor == b"0":
                    break
        return total

    async def pause(self, scope: str) -> bool:
        """No worker asks this scope until `resume`. False: it was paused already."""
        return bool(await self._run("pause", shard_of(scope, self.limits.shards), [scope, _ms(FOREVER)]))

    async def resume(self, scope: str) -> bool:
        """A paused scope goes on; a block that was there before holds as long as it lasts. False: it was not paused."""
        return bool(await self._run("resume", shard_of(scope, self.limits.shards), [scope]))

    async def purge(self, scope: str) -> int:
        """Forget what is queued for a scope and take nothing new for it. Returns how many URLs went."""
        return int(await self._run("purge", shard_of(scope, self.limits.shards), [scope]))

    async def held(self) -> AsyncIterator[tuple[str, str, float]]:
        """What this run leaves undone for now: (url, reason, until). On hold, or behind a block or a long pause."""
        now = self.now()
        for shard in range(self.limits.shards):
            prefix = self.prefix(shard)
            for key, least in (("held", 0.0), ("later", now + self.limits.patience)):
                async for entry, at in self.connection.redis.zscan_iter(prefix + key, count=500):
                    if at / 1000 >= least:
                        yield await self._parked(prefix, entry.decode(), at / 1000)
            async for scope, at in self.connection.redis.zscan_iter(prefix + "blocked", count=500):
                if at / 1000 > now + self.limits.patience:
                    reason = await self._why(prefix, scope.decode(), "")
                    async for member, _ in self.connection.redis.zscan_iter(prefix + "q:" + scope.decode(), count=500):
                        yield unpack(member.decode(), scope.decode()).url, reason, at / 1000

    async def _parked(self, prefix: str, entry: str, at: float) -> tuple[str, str, float]:
        scope, _, member = entry.split("\t", 2)
        return unpack(member, scope).url, await self._why(prefix, scope, member.partition("~")[2] or member), at

    async def _why(self, prefix: str, scope: str, rest: str) -> str:
        """The latest reason."""
        redis = self.connection.redis
        found = await self.connection.patiently(lambda: redis.hget(prefix + "why", f"{scope}\t{rest}"))
        return (found or b"").decode().rpartition("\n")[2]

    async def dead(self) -> AsyncIterator[tuple[str, tuple[str, ...]]]:
        """The dead letters: (url, reasons of all tries)."""
        for shard in range(self.limits.shards):
            async for key, why in self.connection.redis.hscan_iter(self.prefix(shard) + "dead", count=500):
                scope, _, rest = key.decode().partition("\t")
                yield unpack(rest, scope).url, tuple(why.decode().split("\n"))

    async def run_script(self, name: str, shard: int, args: Sequence[Any]) -> Any:
        """Run a script of `scripts/` that only reads, for whoever looks at the frontier from outside."""
        return await self._run(name, shard, list(args))

    # --- the wire ----------------------------------------------------------------------------------------------------
    async def _run(self, name: str, shard: int, args: list[Any], now: float | None = None) -> Any:
        limits = self.limits
        stamp = _ms(self.now() if now is None else now)
        header = [stamp, _ms(limits.delay), limits.concurrency, limits.latency_factor]
        return await self.connection.script(name, self.prefix(shard), header + args)

    async def _per_token(self, name: str, rows: list[tuple[Any, ...]], *head: Any) -> list[Any]:
        """Run a script over rows that begin with a token: one call a shard, answers in the order of the rows."""
        answers: dict[str, Any] = {}
        for shard, part in _by_shard(rows).items():
            found = await self._run(name, shard, [*head, *(value for row in part for value in row)])
            answers.update(zip((row[0] for row in part), found, strict=True))
        return [answers[row[0]] for row in rows]


def _put_args(candidate: Candidate, scope: str) -> list[Any]:
    member = pack(candidate.url, scope, kind=candidate.kind, depth=candidate.depth, redirects=candidate.redirects)
    return [url_hash(candidate.url), scope, max(-4096, min(4095, candidate.priority)), member]


def _ms(seconds: float) -> int:
    return math.ceil(seconds * 1000)


def _wire(wire: Wire | None) -> tuple[int | str, int]:
    return ("", 0) if wire is None else (_ms(wire.sent_at), _ms(wire.latency))


def _clean(reason: str) -> str:
    """Reasons are joined by line breaks and end up in logs and records: one short printable line each."""
    return "".join(c if c.isprintable() else " " for c in reason[:200])


def _shard(token: str) -> int:
    return int(token.partition(".")[0])


def _by_shard(rows: list[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    parts: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        parts[_shard(row[0])].append(row)
    return parts


def _counts(row: list[Any]) -> Counts:
    *numbers, next_ready, mode = row
    names = ("queued", "leased", "held", "done", "dead", "seen", "purged", "waiting")
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
        waiting=sum(p.waiting for p in parts),
        next_ready_at=min(times, default=None),
        mode=next((m for m in (Mode.DRAIN, Mode.PAUSE) if m in modes), Mode.RUN),
    )
