"""A running crawl from the outside: what `gristmill frontier status` reads. Nothing here writes.

Scopes are found in the frontier's own indexes, never by a scan over the server's keys: the cost grows with the scopes
of this crawl, not with its URLs or with the crawls beside it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from typing import NamedTuple

from crawler.frontier.beside import CrawlView, crawls_beside
from crawler.frontier.claims import bearer_of
from crawler.frontier.client import Frontier
from crawler.frontier.member import leased
from crawler.frontier.model import Counts, Mode
from crawler.frontier.packing import shard_of
from crawler.frontier.proxies import ProxyView, proxies_seen
from crawler.frontier.shapes import ShapeView, parked_kinds

_WINDOW = 60.0  # seconds that the fetchable figure looks ahead and the rate looks back
_RING, _RING_SECONDS = 7, 10.0  # as in scripts/common.lua
_PAGE = 250  # scopes a call: the server answers nobody else while a script runs
_SCAN = 1000
_NONCE = 8  # characters at the end of a token that are not its worker's mark (`Frontier._lease`)
_LETTERS = 10_000  # dead letters read for their reasons


@dataclass(frozen=True, slots=True)
class ScopeView:
    """One politeness scope. Times in seconds from now; `failed` are dead letters."""

    scope: str
    queued: int  # `waiting` included
    waiting: int  # with a pause of their own, after a failed try
    leased: int
    busy: int  # requests under way
    held: int
    done: int
    failed: int
    delay: float  # what it asks for itself, or 429 and 503 brought about; 0 = nothing, the crawl's own delay holds
    next_in: float  # until its next turn; 0 = now
    ready_for: float  # how long its turn has come already
    blocked_for: float
    blocked: str  # why; empty where it is not
    paused: bool
    barren: int = 0  # links that are parked, because their kind brought nothing new
    suspects: int = 0  # of the queued: a worker died with them in hand, so they are tried alone


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker that has a name here. silent: seconds since its last sign of life; alive: it still has its name."""

    name: str
    silent: float
    alive: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """How a crawl stands.

    `fetchable` is the runnable work, the figure to scale workers by: the sum over all scopes of min(queued, what
    politeness lets one minute fetch), however many workers there are. One deep host does not ask for two hundred
    workers, and a crawl that is paused or drained asks for none. Status, exporter and autoscalers read this field;
    nothing else computes it. `rate` is URLs finished
    a second over the last minute, by all workers. `oldest_ready` is how long the scope that waits longest has been
    ready, None where none is. `parked` URLs were fetched and wait for their next visit; none of them is due before
    `next_visit_in` seconds from now (0 = due, or not known before the first run with RECRAWL; None = none waits).
    `reasons` are the latest reasons of the first dead letters, most frequent first. `left` URLs are leased to workers
    that show no sign of life; `left_for` seconds from now all of them are queued again (0 = at a worker's next look).
    """

    crawl: str
    counts: Counts
    fetchable: int
    rate: float
    oldest_ready: float | None
    hosts: int
    parked: int
    next_visit_in: float | None
    scopes: tuple[ScopeView, ...]  # longest queues first
    reasons: dict[str, int] = field(default_factory=dict)
    barren: tuple[ShapeView, ...] = ()  # kinds of links that are parked, most links first
    workers: int = 0  # that show signs of life
    workers_seen: tuple[WorkerView, ...] = ()  # those, by name, and silent ones whose names nobody has taken back
    proxies: tuple[ProxyView, ...] = ()  # through which they ask sites, by name
    left: int = 0
    left_for: float = 0.0
    crawls: tuple[CrawlView, ...] = ()  # others in this database, by name

    def as_json(self) -> dict[str, object]:
        """For machines."""
        return asdict(self)


async def overview(frontier: Frontier, *, domain: str = "", top: int = 0) -> Overview:
    """Look at every scope, or with `domain` (a politeness scope) at one; `top` keeps the longest queues only.

    Raises: LookupError where the crawl knows nothing of `domain`.
    """
    views: list[ScopeView] = []
    ready: list[float] = []
    leases: list[tuple[int, bytes]] = []
    for shard in _shards(frontier, domain):
        shelf = _Shelf(frontier, frontier.prefix(shard), shard)
        views += await shelf.views(domain)
        ready += await shelf.ready_since()
        leases += [(shard, token) for token in shelf.leases]
    if domain and not any(_is_known(view) for view in views):
        raise LookupError(f"{domain}: the crawl “{frontier.crawl}” knows no URL of it")
    views.sort(key=lambda v: (-v.queued, -v.leased, -v.done, v.scope))
    parked, soonest = await frontier.visits.next_visits()
    counts = await frontier.counts()
    age = frontier.now() - min(ready) if ready else -1.0
    workers, bearers = await _workers(frontier)
    left = await _left(frontier, leases, bearers)
    return Overview(
        crawl=frontier.crawl,
        counts=counts,
        fetchable=_runnable_work(views, frontier.limits.delay) if counts.mode is Mode.RUN else 0,
        rate=await _rate(frontier),
        oldest_ready=age if age >= 0 else None,
        hosts=len(views),
        parked=parked,
        next_visit_in=None if soonest is None else max(0.0, soonest - frontier.now()),
        scopes=tuple(views[:top] if top else views),
        reasons=await _reasons(frontier, domain),
        barren=await parked_kinds(frontier, domain),
        workers=sum(worker.alive for worker in workers),
        workers_seen=workers,
        proxies=await proxies_seen(frontier.shared, [worker.name for worker in workers if worker.alive]),
        left=len(left),
        left_for=max(0.0, max(left, default=0.0) - frontier.now()),
        crawls=await crawls_beside(frontier),
    )


class _Aside(NamedTuple):
    """URLs of one scope that are not in its queue."""

    leased: int
    held: int
    waiting: int
    suspects: int


class _Shelf:
    """One shard of the frontier, read."""

    def __init__(self, frontier: Frontier, prefix: str, shard: int) -> None:
        self._frontier = frontier
        self._redis = frontier.connection.redis
        self._prefix = prefix
        self._shard = shard
        self.leases: list[bytes] = []  # tokens of what `views` saw handed out

    async def views(self, domain: str) -> list[ScopeView]:
        """The scopes, or with `domain` that one."""
        handed_out = Counter[str]()
        async for token, payload in self._hscan("lease"):
            scope = leased(payload)[0]
            handed_out[scope] += 1
            if domain in ("", scope):
                self.leases.append(token)
        held, waiting, alone = [await self._parked(key) for key in ("held", "later", "alone")]
        barren = [scope.decode() async for scope, _ in self._hscan("barren")]
        known = {*handed_out, *held, *barren, *waiting, *alone}
        names = iter([domain] if domain else sorted(known | await self._names()))
        found: list[ScopeView] = []
        while part := list(islice(names, _PAGE)):
            rows = await self._frontier.run("overview", self._shard, list(part))
            found += [
                self._view(name, row, _Aside(handed_out[name], held[name], waiting[name], alone[name]))
                for name, row in zip(part, rows, strict=True)
            ]
        return found

    async def ready_since(self) -> list[float]:
        """The time since when the scope that waits longest has been ready; empty where none is."""
        first = await self._redis.zrange(self._prefix + "ready", 0, 0, withscores=True)
        return [score / 1000 for _, score in first]

    def _view(self, scope: str, row: list[int | bytes], aside: _Aside) -> ScopeView:
        now = self._frontier.now()
        queued, busy, due, delay, ready, shut, why, paused, done, failed, barren = (
            item.decode() if isinstance(item, bytes) else item for item in row
        )
        return ScopeView(
            scope=scope,
            queued=int(queued) + aside.waiting + aside.suspects,
            waiting=aside.waiting,
            leased=aside.leased,
            busy=int(busy),
            held=aside.held,
            done=int(done),
            failed=int(failed),
            delay=int(delay) / 1000,
            next_in=max(0.0, int(due) / 1000 - now),
            ready_for=max(0.0, now - int(ready) / 1000) if ready else 0.0,
            blocked_for=max(0.0, int(shut) / 1000 - now),
            blocked=str(why),
            paused=bool(paused),
            barren=int(barren),
            suspects=aside.suspects,
        )

    async def _names(self) -> set[str]:
        names = {scope.decode() for key in ("ready", "blocked") async for scope in self._zscan(key)}
        return names | {scope.decode() for key in ("busy", "done", "failed") async for scope, _ in self._hscan(key)}

    async def _parked(self, key: str) -> Counter[str]:
        return Counter([entry.split(b"\t", 1)[0].decode() async for entry in self._zscan(key)])

    async def _zscan(self, key: str) -> AsyncIterator[bytes]:
        seen: set[bytes] = set()  # a scan may answer an entry twice
        async for entry, _ in self._redis.zscan_iter(self._prefix + key, count=_SCAN):
            if entry not in seen:
                seen.add(entry)
                yield entry

    async def _hscan(self, key: str) -> AsyncIterator[tuple[bytes, bytes]]:
        seen: set[bytes] = set()
        async for name, value in self._redis.hscan_iter(self._prefix + key, count=_SCAN):
            if name not in seen:
                seen.add(name)
                yield name, value


async def waits_for_workers(frontier: Frontier, scope: str) -> bool:
    """True while the crawl has live workers, and URLs of this politeness scope that they may ask for or ask for now."""
    connection, now = frontier.connection, f"{1000 * frontier.now():.0f}"
    workers = partial(connection.redis.zcount, f"{frontier.prefix(0)}workers", now, "+inf")
    if not await connection.patiently(workers):
        return False
    ((queued, busy, *_),) = await frontier.run("overview", frontier.shard_of_scope(scope), [scope])
    return bool(int(queued) or int(busy))


async def _workers(frontier: Frontier) -> tuple[tuple[WorkerView, ...], set[bytes]]:
    """The workers by name, and what the leases bear of those that live."""
    redis, prefix, now = frontier.connection.redis, frontier.prefix(0), frontier.now()
    ends = await redis.zrange(f"{prefix}workers", 0, -1, withscores=True)
    claims = await redis.hmget(f"{prefix}claims", [name for name, _ in ends]) if ends else []
    found, bearers = [], set[bytes]()
    for (name, end), claim in zip(ends, claims, strict=True):
        token, _, seen = (claim or b"").rpartition(b":")
        found.append(WorkerView(name.decode(), max(0.0, now - int(seen or 1000 * now) / 1000), end / 1000 >= now))
        if found[-1].alive:
            bearers.add(bearer_of(token.decode()).encode())
    return tuple(sorted(found, key=lambda worker: worker.name)), bearers


async def _left(frontier: Frontier, leases: list[tuple[int, bytes]], living: set[bytes]) -> list[float]:
    """When the leases expire (epoch seconds) whose worker shows no sign of life.

    What a worker gave back since it was looked at has no time any more. A lease that bears nobody's mark says nothing.
    """
    found: list[float] = []
    for shard in range(frontier.limits.shards):
        nonces = [(t, t.rpartition(b".")[2]) for at, t in leases if at == shard]
        tokens = [token for token, nonce in nonces if len(nonce) > _NONCE and nonce[:-_NONCE] not in living]
        for at in range(0, len(tokens), _PAGE):
            key = frontier.prefix(shard) + "leases"
            times = await frontier.connection.redis.zmscore(key, tokens[at : at + _PAGE])
            found += [time / 1000 for time in times if time is not None]
    return found


async def _rate(frontier: Frontier) -> float:
    """URLs finished a second, over the last minute and the part of a slot that has passed."""
    now, total = frontier.now(), 0
    current = int(now // _RING_SECONDS)
    for shard in range(frontier.limits.shards):
        names = [f"lately{slot}" for slot in range(_RING)]
        for record in await frontier.connection.redis.hmget(frontier.prefix(shard) + "st", names):
            slot, _, count = (record or b"0:0").decode().partition(":")
            total += int(count) if current - _RING < int(slot) <= current else 0
    return total / (_WINDOW + now % _RING_SECONDS)


async def _reasons(frontier: Frontier, domain: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    looked = 0
    for shard in _shards(frontier, domain):
        async for key, why in frontier.connection.redis.hscan_iter(frontier.prefix(shard) + "dead", count=_SCAN):
            looked += 1
            if not domain or key.partition(b"\t")[0].decode() == domain:
                found[why.decode().rpartition("\n")[2]] += 1
            if looked >= _LETTERS:
                return dict(found.most_common())
    return dict(found.most_common())


def _shards(frontier: Frontier, domain: str) -> list[int]:
    return [shard_of(domain, frontier.limits.shards)] if domain else list(range(frontier.limits.shards))


def _is_known(view: ScopeView) -> bool:
    return any(
        (view.queued, view.leased, view.held, view.done, view.failed, view.blocked_for, view.paused, view.barren)
    )


def _runnable_work(views: list[ScopeView], usual: float) -> int:
    """usual: the delay of a scope that has none of its own, in seconds."""
    return sum(_fetchable(view, usual) for view in views)


def _fetchable(view: ScopeView, usual: float) -> int:
    """A block or a pause needs no look of its own: it has moved the scope's next turn."""
    at_hand, delay = view.queued - view.waiting, max(view.delay, usual)
    if not delay:
        return at_hand if view.next_in <= _WINDOW else 0
    return min(at_hand, math.ceil(max(0.0, _WINDOW - view.next_in) / delay))
