"""Whose patience does a request use up, and when may the next one go? Asked by the gate, shared by all workers."""

from __future__ import annotations

from typing import NamedTuple

from crawler.frontier.model import FOREVER
from crawler.frontier.shards import Shards, clean, ms

ALLOWLIST = "allowlist"
"""Source of the delays that the allowlist asks for."""
_UNDER_WAY_SECONDS = 300.0
"""After so long a request whose worker does not say that it is over counts as over."""


class AddressRow(NamedTuple):
    """One question about an address, as `address.lua` reads it; seconds, `slot` in milliseconds."""

    what: str  # line, send or over
    address: str
    delay: float
    who: str
    slot: int = 0
    within: float = 0.0
    most: int = 0  # requests under way at a time, 0 = any number


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

    async def ask_addresses(self, rows: list[AddressRow]) -> list[tuple[float, int]]:
        """When each may go on, and the slot that it was granted (ms); 0: nothing was granted, ask again then.

        Rows of one shard are asked in one call; an address is in the same shard for all workers.
        """
        answers: list[tuple[float, int]] = [(0.0, 0)] * len(rows)
        places: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            places.setdefault(self._shards.shard_of_scope(row.address), []).append(place)
        for shard, mine in places.items():
            args: list[int | str] = [ms(_UNDER_WAY_SECONDS)]
            for row in map(rows.__getitem__, mine):
                args += (row.what, row.address, ms(row.delay), row.who, row.slot, ms(row.within), row.most)
            for place, (at, slot) in zip(mine, await self._shards.run("address", shard, args), strict=True):
                answers[place] = at / 1000, slot
        return answers
