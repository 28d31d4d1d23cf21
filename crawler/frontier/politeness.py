"""Whose patience does a request use up, and when may the next one go? Asked by the gate, shared by all workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from crawler.frontier.model import FOREVER
from crawler.frontier.packing import pack_origin, split_origin
from crawler.frontier.script_call import ScriptCalls, clean, ms
from crawler.urls.canonicalize import politeness_scope

ALLOWLIST = "allowlist"
"""Source of the delays that the allowlist asks for."""


class Origin(NamedTuple):
    """What all URLs of one scheme and authority have in common."""

    scope: str
    shard: int
    packed: str


class Politeness(ScriptCalls):
    """Delays, blocks and turns of the politeness scopes."""

    origin_of: Callable[[str], Origin]

    def scope_of(self, url: str) -> str:
        """Whose patience a request to this canonical URL uses up."""
        return self.origin_of(split_origin(url)[0]).scope

    def _origin_of(self, origin: str) -> Origin:
        scope = politeness_scope(origin + "/", self.limits.scope_by)
        return Origin(scope, self.shard_of_scope(scope), pack_origin(origin, scope))

    async def block(self, scope: str, until: float, reason: str) -> None:
        """No worker asks this scope before `until` (429, 503). A longer block is never shortened."""
        await self._run("block", self.shard_of_scope(scope), [scope, ms(until), clean(reason)])

    async def rest(self, scope: str, until: float) -> None:
        """The scope's next turn is not before `until`. Unlike a block this is its pace, and keeps a crawl going."""
        await self._run("block", self.shard_of_scope(scope), [scope, ms(until), ""])

    async def claim(self, scope: str, slot: int, within: float = FOREVER) -> tuple[float, int]:
        """When the caller may send ONE more request to the scope; moves the scope's next turn behind it.

        `slot` is the latest one that belongs to the caller (`Lease.slot`), 0 for none: where it is also the scope's
        latest, the turn is now. Returns the time of the turn and the new slot. Nothing moves where the turn is more
        than `within` seconds away: it is nobody's then.
        """
        at, slot = await self._run("reserve", self.shard_of_scope(scope), [scope, slot, ms(within)])
        return at / 1000, slot

    async def set_priority(self, scope: str, priority: int) -> None:
        """Among scopes whose turn has come those with a higher priority are asked first; 0 = as any other."""
        await self._run("prefer", self.shard_of_scope(scope), [scope, priority])

    async def set_delay(self, scope: str, seconds: float, source: str) -> None:
        """What one source asks for, 0 = nothing (any more). The longest of all sources holds, the crawl's included.

        `source` is a name without blanks: `ALLOWLIST`, or "robots:" and the authority whose Crawl-delay it is.
        """
        await self._run("delay", self.shard_of_scope(scope), [scope, source, ms(seconds)])
