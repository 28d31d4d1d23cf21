"""What all workers of a crawl share beside the queue: its scope and rules, small control files, locks."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import count

from crawler.frontier.packing import shard_of
from crawler.frontier.shards import Shards

CRAWLS = "gristmill:crawls"
"""SET of the crawls that a database of the server has; the only key that no crawl owns."""
_POLL = 0.05  # seconds
_LOOKS = 10  # polls from one look whether the holder of a lock is gone to the next
_UNLOCK = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
_RENEW = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"


class SharedValues:
    """Small values by name, with a life time, and single flight for whoever fetches them.

    bearer: the mark of this worker's process (`Frontier.bearer`), which its locks bear as its leases do.
    """

    def __init__(self, shards: Shards, bearer: Callable[[], str] = str) -> None:
        self._shards, self._bearer = shards, bearer
        self._connection = shards.connection

    def _key(self, kind: str, name: str) -> str:
        return f"{self._shards.prefix(shard_of(name, 256))}{kind}:{name}"

    async def get_blob(self, name: str) -> bytes | None:
        """The stored bytes, or None where they are absent or too old."""
        redis = self._connection.redis
        found = await self._connection.patiently(lambda: redis.get(self._key("b", name)))
        return None if found is None else bytes(found)

    async def put_blob(self, name: str, value: bytes, ttl: float) -> None:
        """Store bytes for `ttl` seconds."""
        redis = self._connection.redis
        await self._connection.patiently(lambda: redis.set(self._key("b", name), value, px=max(1, round(ttl * 1000))))

    @asynccontextmanager
    async def single_flight(self, name: str, ttl: float = 60.0) -> AsyncIterator[bool]:
        """`async with frontier.single_flight(name) as first`: True for one caller among all workers at a time.

        The others wait until that one is through and get False: what it stored is there for them, and where it is not
        they may try again. Whoever is first looks again too: the flight before may have landed in between. A worker
        that dies in flight is waited for as long as for its leases (FRONTIER_LEASE_SECONDS, or until somebody knows
        that it is `gone`), one that lives at most `ttl` seconds.
        """
        key, mine = self._key("l", name), f"{self._bearer()}.{secrets.token_hex(8)}"
        redis, life = self._connection.redis, min(ttl, self._shards.limits.lease_seconds)
        first = await self._connection.patiently(lambda: redis.set(key, mine, nx=True, px=round(life * 1000)))
        if not first and await self._connection.patiently(lambda: redis.get(key)) != mine.encode():
            await self._landed(key)
            yield False
            return
        sign_of_life = asyncio.ensure_future(self._renew(key, mine, life, ttl))
        try:
            yield True
        finally:
            sign_of_life.cancel()
            await self._connection.patiently(lambda: redis.eval(_UNLOCK, 1, key, mine))

    async def gone(self, bearer: str) -> None:
        """The process with this mark has certainly ended: nobody waits for its flights any more."""
        await self.put_blob(f"gone:{bearer}", b"1", self._shards.limits.lease_seconds)

    async def _landed(self, key: str) -> None:
        """Wait until nobody has this lock, or its holder is gone."""
        redis = self._connection.redis
        for look in count():
            holder = await self._connection.patiently(lambda: redis.get(key))
            if holder is None:
                return
            bearer = bytes(holder).partition(b".")[0].decode()
            if bearer and look % _LOOKS == 0 and await self.get_blob(f"gone:{bearer}"):
                await self._connection.patiently(partial(redis.eval, _UNLOCK, 1, key, holder))
                return
            await asyncio.sleep(_POLL)

    async def _renew(self, key: str, mine: str, life: float, ttl: float) -> None:
        """Keep a lock three times in its life, for `ttl` seconds in all."""
        redis = self._connection.redis
        for _ in range(int(3 * ttl / life)):
            await asyncio.sleep(life / 3)
            await self._connection.patiently(lambda: redis.eval(_RENEW, 1, key, mine, round(life * 1000)))

    async def scope_set(self, scope: str) -> None:
        """Store the crawl's Scope (JSON) for all workers."""
        await self._store("scope", scope)

    async def scope_get(self) -> str | None:
        """The stored Scope (JSON), None in a new crawl."""
        return await self._stored("scope")

    async def rules_set(self, rules: str) -> None:
        """Store what all workers keep to (JSON, `frontier.rules`)."""
        await self._store("rules", rules)

    async def rules_get(self) -> str | None:
        """What all workers keep to (JSON), None in a new crawl."""
        return await self._stored("rules")

    async def _store(self, name: str, text: str) -> None:
        redis = self._connection.redis
        await self._connection.patiently(lambda: redis.sadd(CRAWLS, self._shards.crawl))
        await self._connection.patiently(lambda: redis.set(self._shards.prefix(0) + name, text))

    async def _stored(self, name: str) -> str | None:
        redis = self._connection.redis
        found = await self._connection.patiently(lambda: redis.get(self._shards.prefix(0) + name))
        return None if found is None else bytes(found).decode()
