"""A frontier learns of URLs that are finished: all of them where it was lost, those of a worker that died otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.frontier.member import pack, unpack
from crawler.urls.link import link_to

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier
    from crawler.urls.canonicalize import Address

EXPRESS = 1000
"""A priority with which a URL finds a place in its queue, however full that is (`put.lua`)."""
_BATCH = 500


class _Place(NamedTuple):
    """Where a URL waits: `where` is "" for its queue, else the name of the set in which `entry` stands."""

    scope: str
    member: str
    where: str = ""
    entry: str = ""


async def adopt(frontier: Frontier, finished: Iterable[tuple[Address, bytes]]) -> int:
    """These pages are done: seen, and in no queue. Returns how many were new here.

    With each what `visit_entry` made of its last visit, or b"". Harmless when repeated; for a frontier that nobody
    leases from meanwhile.
    """
    known = {link_to(to, priority=EXPRESS): visit for to, visit in finished}
    await frontier.put(list(known))
    places = {link: frontier.scope_of(link.url) for link in known}
    return await _done(frontier, [(_Place(s, pack(link, s)), known[link]) for link, s in places.items()])


async def adopt_waiting(frontier: Frontier, finished: dict[str, bytes]) -> int:
    """Those of these canonical URLs that wait in the frontier are done, as `adopt` has it; any number of workers may
    be at work. What somebody has leased, or what is done, stays as it is. Returns how many."""
    scopes: dict[int, set[str]] = defaultdict(set)
    for url in finished:
        scope = frontier.scope_of(url)
        scopes[frontier.shard_of_scope(scope)].add(scope)
    found = [
        (place, finished[url])
        for shard, names in scopes.items()
        async for place in _waiting(frontier, shard, names)
        if (url := unpack(place.member, place.scope).link.url) in finished
    ]
    return sum([await _done(frontier, found[at : at + _BATCH]) for at in range(0, len(found), _BATCH)])


async def reclaim(frontier: Frontier, bearer: str) -> int:
    """The process whose leases bear this mark (`Frontier.bearer`) is certainly gone: they need not expire first, nor
    what it was about to fetch for all workers."""
    await frontier.shared.gone(bearer)
    total = 0
    for shard in range(frontier.limits.shards):
        key = frontier.prefix(shard) + "lease"
        tokens = [t async for t, _ in frontier.connection.redis.hscan_iter(key, count=_BATCH) if _bears(t, bearer)]
        for at in range(0, max(1, len(tokens)), _BATCH):  # also without a lease: the budget learns of the death
            total += int(await frontier.run("reclaim", shard, [bearer, *tokens[at : at + _BATCH]]))
    return total


def _bears(token: bytes, bearer: str) -> bool:
    return token.rpartition(b".")[2].startswith(bearer.encode())


async def _waiting(frontier: Frontier, shard: int, scopes: set[str]) -> AsyncIterator[_Place]:
    """Every URL of these scopes that waits in order: what a lease came from, and where it returns to."""
    redis, prefix = frontier.connection.redis, frontier.prefix(shard)
    for scope in scopes:
        async for member, _ in redis.zscan_iter(f"{prefix}q:{scope}", count=_BATCH):
            yield _Place(scope, member.decode())
    for where in ("alone", "later"):
        async for entry, _ in redis.zscan_iter(prefix + where, count=_BATCH):
            scope, _, member = entry.decode().split("\t", 2)
            if scope in scopes:
                yield _Place(scope, member, where, entry.decode())


async def _done(frontier: Frontier, found: list[tuple[_Place, bytes]]) -> int:
    by_shard: dict[int, list[Any]] = defaultdict(list)
    for place, visit in found:
        row = [place.scope, place.member, visit, place.where, place.entry]
        by_shard[frontier.shard_of_scope(place.scope)] += row
    return sum([int(await frontier.run("adopt", shard, args)) for shard, args in by_shard.items()])
