"""At the end of a run: what stays in the frontier undone, and what was given up."""

from __future__ import annotations

from collections.abc import AsyncIterator

from crawler.frontier.packing import unpack
from crawler.frontier.script_call import ScriptCalls


class Unfinished(ScriptCalls):
    """Lists URLs by what keeps them."""

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
                    async for member in self.queued(scope.decode()):
                        yield unpack(member, scope.decode()).url, reason, at / 1000

    async def queued(self, scope: str) -> AsyncIterator[str]:
        """The members of a scope's queue, its overflow included, in no particular order."""
        redis = self.connection.redis
        prefix = self.prefix(self.shard_of_scope(scope))
        async for member, _ in redis.zscan_iter(f"{prefix}q:{scope}", count=500):
            yield member.decode()
        start = 0
        while entries := await redis.lrange(f"{prefix}o:{scope}", start, start + 499):
            for entry in entries:
                yield entry.decode().partition(" ")[2]
            start += len(entries)

    async def _parked(self, prefix: str, entry: str, at: float) -> tuple[str, str, float]:
        scope, _, member = entry.split("\t", 2)
        own = await self._why(prefix, scope, member.partition("~")[2] or member)
        return unpack(member, scope).url, own or await self._why(prefix, scope, ""), at

    async def _why(self, prefix: str, scope: str, rest: str) -> str:
        """The latest reason."""
        redis = self.connection.redis
        found = await self.connection.patiently(lambda: redis.hget(prefix + "why", f"{scope}\t{rest}"))
        return (found or b"").decode().rpartition("\n")[2]
