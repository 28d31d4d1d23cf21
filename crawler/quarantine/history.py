"""Where the yields of domains are remembered: in the frontier's server for a live crawl, in memory for a replay.

The rule is `crawler/quarantine/rule.py`; here it is only asked. All workers of a crawl share one history of a domain,
in the order in which their pages arrive; a replay has the order of the archive.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

from crawler.frontier.packing import shard_of
from crawler.quarantine.rule import Event, History, Judgement, YieldRule

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

_REMEMBERED = 10_000
"""Domains whose latest state this worker holds beside the server's: it saves a round trip, not an answer."""
_SWAP = (
    "local now = redis.call('GET', KEYS[1]) or '' if now ~= ARGV[1] then return now end "
    "redis.call('SET', KEYS[1], ARGV[2]) return false"
)
"""Compare and set: two workers that see pages of one domain at once must not lose one of them."""


class YieldHistory(Protocol):
    """What the pipeline asks."""

    async def see(self, domain: str, value: float) -> Judgement:
        """Take a page of the domain into its history and say what that means."""


class MemoryYields:
    """One process, forgotten at its end: some 300 bytes a domain."""

    def __init__(self, rule: YieldRule) -> None:
        self._rule = rule
        self._histories: dict[str, str] = {}

    async def see(self, domain: str, value: float) -> Judgement:
        """See `YieldHistory`."""
        history = History.load(self._histories.get(domain, ""))
        judgement = self._rule.see(history, value)
        self._histories[domain] = history.dump()
        return judgement


class SharedYields:
    """The histories that all workers of a crawl share; a server that is away is waited for."""

    def __init__(self, rule: YieldRule, frontier: Frontier) -> None:
        self._rule, self._frontier = rule, frontier
        self._seen: OrderedDict[str, str] = OrderedDict()

    async def see(self, domain: str, value: float) -> Judgement:
        """See `YieldHistory`. One round trip, one more for each worker that was quicker."""
        before = self._seen.get(domain, "")
        while True:
            history = History.load(before)
            judgement = self._rule.see(history, value)
            after = history.dump()
            now = await self._swap(domain, before, after)
            if now is None:
                self._remember(domain, after)
                break
            before = now
        if judgement.event is not Event.NOTHING:
            await self._list(domain, judgement)
        return judgement

    async def quarantined(self) -> dict[str, str]:
        """Domains in quarantine, each with "usual recent" as shares of 0 to 1."""
        redis = self._frontier.connection.redis
        found = await self._frontier.connection.patiently(lambda: redis.hgetall(self._list_key))
        return {bytes(domain).decode(): bytes(value).decode() for domain, value in sorted(found.items())}

    async def release(self, domain: str) -> bool:
        """Forget the history of a domain: what it gives from now on is what is usual. False where it had none."""
        redis = self._frontier.connection.redis
        known = await self._frontier.connection.patiently(lambda: redis.delete(self._key(domain)))
        await self._frontier.connection.patiently(lambda: redis.hdel(self._list_key, domain))
        return bool(known)

    async def _swap(self, domain: str, before: str, after: str) -> str | None:
        redis = self._frontier.connection.redis
        found = await self._frontier.connection.patiently(
            lambda: redis.eval(_SWAP, 1, self._key(domain), before, after)
        )
        return None if found is None else bytes(found).decode()

    async def _list(self, domain: str, judgement: Judgement) -> None:
        redis = self._frontier.connection.redis
        if judgement.event is Event.FELL:
            said = f"{judgement.usual:.4f} {judgement.recent:.4f}"
            await self._frontier.connection.patiently(lambda: redis.hset(self._list_key, domain, said))
        else:
            await self._frontier.connection.patiently(lambda: redis.hdel(self._list_key, domain))

    def _remember(self, domain: str, state: str) -> None:
        self._seen[domain] = state
        self._seen.move_to_end(domain)
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)

    def _key(self, domain: str) -> str:
        return f"{self._frontier.prefix(shard_of(domain, 256))}y:{domain}"

    @property
    def _list_key(self) -> str:
        return self._frontier.prefix(0) + "quarantined"
