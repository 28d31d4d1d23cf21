"""Looking after a frontier that is in use: what `gristmill frontier` asks it to do, while workers go on."""

from __future__ import annotations

from functools import partial
from typing import Any

from crawler.frontier.model import Mode
from crawler.frontier.shards import Shards


class Control:
    """Operations of people, not of workers. Each is safe beside any number of workers."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def set_mode(self, mode: Mode) -> None:
        """Pause, resume or drain the crawl, for all workers."""
        for shard in range(self._shards.limits.shards):
            await self._shards.run("mode", shard, [mode.value])

    async def pause(self, scope: str) -> bool:
        """No worker asks this scope until `resume`. False: it was paused already."""
        return bool(await self._shards.run_on_scope("pause", scope))

    async def unpurge(self, scope: str) -> bool:
        """A purged scope takes new URLs again. False: it was not purged."""
        return bool(await self._shards.run_on_scope("unpurge", scope))

    async def resume(self, scope: str) -> bool:
        """A paused scope goes on; a block that was there before holds as long as it lasts. False: it was not paused."""
        return bool(await self._shards.run_on_scope("resume", scope))

    async def requeue(self, what: str, *, scope: str = "", reason: str = "", outage: bool = False) -> int:
        """Bring URLs back: "due" (held, and their time has come), "held", "later" (long pauses), "dead", "leased",
        "parked" (their kind brought nothing new; it gets another chance).

        "leased" is for a frontier whose workers are all known to be gone: it does not wait for their leases to expire.
        `scope` and `reason` (a part of the latest reason) narrow "held", "later" and "dead", and `outage` "dead" to
        hosts that fail now or never answered. Returns how many.
        """
        shards, total = self._shards, 0
        for shard in [shards.shard_of_scope(scope)] if scope else range(shards.limits.shards):
            cursor: bytes | str = "0"
            while True:
                moved, cursor = await shards.run("requeue", shard, [what, 500, cursor, scope, reason, int(outage)])
                total += moved
                if cursor == b"0":
                    break
        return total

    async def order_by_value(self) -> bool:
        """Give the crawl's bounds to the scripts (`Limits.barren`, `explore`, `quality_weight`).

        True: the bound by which URLs were parked was another one.
        """
        limits, connection, changed = self._shards.limits, self._shards.connection, False
        every = round(1 / limits.explore) if limits.explore else 0
        values = {"bound": limits.barren, "explore": every, "weight": limits.quality_weight}
        for shard in range(limits.shards):
            key = self._shards.prefix(shard) + "st"
            before = await connection.patiently(partial(connection.redis.hget, key, "bound"))
            changed = changed or (before is not None and int(before) != limits.barren)
            await self._set(shard, values)
        return changed

    async def _set(self, shard: int, values: dict[str, Any]) -> None:
        connection, key = self._shards.connection, self._shards.prefix(shard) + "st"
        await connection.patiently(partial(connection.redis.hset, key, mapping=values))

    async def purge(self, scope: str) -> int:
        """Forget what is queued for a scope and take nothing new for it. Returns how many URLs went."""
        return int(await self._shards.run_on_scope("purge", scope))
