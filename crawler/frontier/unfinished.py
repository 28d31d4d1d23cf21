"""At the end of a run: what stays in the frontier undone, and what was given up."""

from __future__ import annotations

from collections.abc import AsyncIterator

from crawler.frontier.member import split, unpack
from crawler.frontier.shards import Shards


async def held(shards: Shards) -> AsyncIterator[tuple[str, str, float]]:
    """What this run leaves undone for now: (url, reason, until). On hold, or behind a block or a long pause."""
    redis, patience = shards.connection.redis, shards.now() + shards.limits.patience
    for shard in range(shards.limits.shards):
        prefix = shards.prefix(shard)
        for key, least in (("held", 0.0), ("later", patience)):
            async for entry, at in redis.zscan_iter(prefix + key, count=500):
                if at / 1000 >= least:
                    scope, _, member = entry.decode().split("\t", 2)
                    own = await _why(shards, prefix, scope, split(member)[2])
                    reason = own or await _why(shards, prefix, scope, "")
                    yield unpack(member, scope).link.url, reason, at / 1000
        async for blocked, at in redis.zscan_iter(prefix + "blocked", count=500):
            if at / 1000 > patience:
                scope = blocked.decode()
                reason = await _why(shards, prefix, scope, "")
                async for member in queued(shards, scope):
                    yield unpack(member, scope).link.url, reason, at / 1000


async def queued(shards: Shards, scope: str) -> AsyncIterator[str]:
    """The members of a scope's queue, its overflow and what is tried alone included, in no particular order."""
    redis, prefix = shards.connection.redis, shards.prefix(shards.shard_of_scope(scope))
    async for member, _ in redis.zscan_iter(f"{prefix}q:{scope}", count=500):
        yield member.decode()
    async for entry, _ in redis.zscan_iter(f"{prefix}alone", count=500):
        of, _, member = entry.decode().split("\t", 2)
        if of == scope:
            yield member
    start = 0
    while entries := await redis.lrange(f"{prefix}o:{scope}", start, start + 499):
        for entry in entries:
            yield entry.decode().partition(" ")[2]
        start += len(entries)


async def _why(shards: Shards, prefix: str, scope: str, rest: str) -> str:
    """The latest reason."""
    connection = shards.connection
    found = await connection.patiently(lambda: connection.redis.hget(prefix + "why", f"{scope}\t{rest}"))
    return (found or b"").decode().rpartition("\n")[2]
