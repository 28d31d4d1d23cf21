"""Looking after a frontier that is in use: what `scrapy frontier` asks it to do, while workers go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crawler.frontier.model import FOREVER, Mode
from crawler.frontier.script_call import ScriptCalls, ms


class Operations(ScriptCalls):
    """Operations of people, not of workers. Each is safe beside any number of workers."""

    async def set_mode(self, mode: Mode) -> None:
        """Pause, resume or drain the crawl, for all workers."""
        redis = self.connection.redis
        for shard in range(self.limits.shards):
            key = self.prefix(shard) + "st"
            await self.connection.patiently(lambda key=key: redis.hset(key, "mode", mode.value))  # type: ignore[misc]

    async def pause(self, scope: str) -> bool:
        """No worker asks this scope until `resume`. False: it was paused already."""
        return bool(await self._run("pause", self.shard_of_scope(scope), [scope, ms(FOREVER)]))

    async def resume(self, scope: str) -> bool:
        """A paused scope goes on; a block that was there before holds as long as it lasts. False: it was not paused."""
        return bool(await self._run("resume", self.shard_of_scope(scope), [scope]))

    async def requeue(self, what: str, *, scope: str = "", reason: str = "") -> int:
        """Bring URLs back: "due" (held, and their time has come), "held", "later" (long pauses), "dead", "leased",
        "parked" (their kind brought nothing new; it gets another chance).

        "leased" is for a frontier whose workers are all known to be gone: it does not wait for their leases to expire.
        `scope` and `reason` (a part of the latest reason) narrow "held", "later" and "dead". Returns how many.
        """
        shards = [self.shard_of_scope(scope)] if scope else range(self.limits.shards)
        total = 0
        for shard in shards:
            cursor: bytes | str = "0"
            while True:
                moved, cursor = await self._run("requeue", shard, [what, 500, cursor, scope, reason])
                total += moved
                if cursor == b"0":
                    break
        return total

    async def order_by_value(self) -> bool:
        """Give the crawl's bounds to the scripts (`Limits.barren`, `explore`).

        True: the bound by which URLs were parked was another one.
        """
        redis, changed = self.connection.redis, False
        values = {"bound": self.limits.barren, "explore": round(1 / self.limits.explore) if self.limits.explore else 0}
        for shard in range(self.limits.shards):
            key = self.prefix(shard) + "st"
            before = await self.connection.patiently(lambda key=key: redis.hget(key, "bound"))  # type: ignore[misc]
            changed = changed or (before is not None and int(before) != self.limits.barren)
            await self.connection.patiently(lambda key=key: redis.hset(key, mapping=values))  # type: ignore[misc]
        return changed

    async def purge(self, scope: str) -> int:
        """Forget what is queued for a scope and take nothing new for it. Returns how many URLs went."""
        return int(await self._run("purge", self.shard_of_scope(scope), [scope]))

    async def run_script(self, name: str, shard: int, args: Sequence[Any]) -> Any:
        """Run a script of `scripts/` that only reads, for whoever looks at the frontier from outside."""
        return await self._run(name, shard, list(args))
