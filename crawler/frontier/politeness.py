"""Whose patience does a request use up, and when may the next one go? Asked by the gate, shared by all workers."""

from __future__ import annotations

from crawler.frontier.model import FOREVER
from crawler.frontier.shards import Shards, clean, ms

ALLOWLIST = "allowlist"
"""Source of the delays that the allowlist asks for."""


class Politeness:
    """Delays, blocks and turns of the politeness scopes."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def block(self, scope: str, until: float, reason: str) -> None:
        """No worker asks this scope before `until` (429, 503). A longer block is never shortened."""
        await self._shards.run_on_scope("block", scope, ms(until), clean(reason))

    async def rest(self, scope: str, until: float) -> None:
        """The scope's next turn is not before `until`. Unlike a block this is its pace, and keeps a crawl going."""
        await self._shards.run_on_scope("block", scope, ms(until), "")

    async def claim(self, scope: str, slot: int, within: float = FOREVER) -> tuple[float, int]:
        """When the caller may send ONE more request to the scope; moves the scope's next turn behind it.

        `slot` is the latest one that belongs to the caller (`Lease.slot`), 0 for none: where it is also the scope's
        latest, the turn is now. Returns the time of the turn and the new slot. Nothing moves where the turn is more
        than `within` seconds away: it is nobody's then.
        """
        at, slot = await self._shards.run_on_scope("reserve", scope, slot, ms(within))
        return at / 1000, slot

    async def set_priority(self, scope: str, priority: int) -> None:
        """Among scopes whose turn has come those with a higher priority are asked first; 0 = as any other."""
        await self._shards.run_on_scope("prefer", scope, priority)

    async def set_delay(self, scope: str, seconds: float, source: str) -> None:
        """What one source asks for, 0 = nothing (any more). The longest of all sources holds, the crawl's included.

        `source` is a name without blanks: `ALLOWLIST`, or "robots:" and the authority whose Crawl-delay it is.
        """
        await self._shards.run_on_scope("delay", scope, source, ms(seconds))
