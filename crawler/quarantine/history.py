"""Where the pages of domains are remembered: in the frontier's server for a live crawl, in memory for a replay.

The rule is `crawler/quarantine/rule.py`; here it is only asked, of each shape of URL by itself. All workers of a crawl
share one history of a shape, in the order in which their pages arrive; a replay has the order of the archive. A
domain is in quarantine while one of its shapes is: who asks hears of its first fall and of its last recovery.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from crawler.quarantine.rule import Event, History, Judgement, YieldRule
from crawler.urls.shape import shape_id, shape_of

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

SHAPES = 256
"""Shapes of a domain that have a history of their own; those that come later share one."""
_OTHERS = "~"
_REMEMBERED = 10_000
"""Shapes whose latest state this worker holds beside the server's: it saves a round trip, not an answer."""
_SWAP = f"""
local shape = ARGV[1]
if redis.call('HEXISTS', KEYS[1], shape) == 0 and redis.call('HLEN', KEYS[1]) >= {SHAPES} then shape = '{_OTHERS}' end
local now = redis.call('HGET', KEYS[1], shape) or ''
if now ~= ARGV[2] then return now end
redis.call('HSET', KEYS[1], shape, ARGV[3])
if ARGV[4] == '' then return 0 end
local fallen, rest = redis.call('HGET', KEYS[2], ARGV[5]) or '', {{}}
for line in string.gmatch(fallen, '[^\\n]+') do
  if string.sub(line, 1, #shape + 1) ~= shape .. ' ' then rest[#rest + 1] = line end
end
if ARGV[4] == 'fell' then rest[#rest + 1] = shape .. ' ' .. ARGV[6] end
if #rest > 0 then
  redis.call('HSET', KEYS[2], ARGV[5], table.concat(rest, '\\n'))
else
  redis.call('HDEL', KEYS[2], ARGV[5])
end
return (fallen ~= '') ~= (#rest > 0) and 1 or 0
"""
"""Compare and set: two workers that see pages of one shape at once must not lose one of them. What fell and recovered
is listed in the same step, so that neither a death nor a release comes between. Answers the state that is there
instead, or whether the domain fell or recovered (1, 0)."""


class YieldHistory(Protocol):
    """What the pipeline asks."""

    async def see(self, domain: str, url: str, share: float, text: str) -> Judgement:
        """Take a page of the domain into its history and say what that means. Its event is the domain's."""


@dataclass(frozen=True, slots=True)
class Fallen:
    """A shape in quarantine. usual, recent: yields as it fell, 0 to 1."""

    shape: str
    usual: float
    recent: float


class MemoryYields:
    """One process, forgotten at its end: some 500 bytes a shape."""

    def __init__(self, rule: YieldRule) -> None:
        self._rule = rule
        self._histories: dict[str, dict[str, str]] = {}
        self._fallen: dict[str, set[str]] = {}

    async def see(self, domain: str, url: str, share: float, text: str) -> Judgement:
        """See `YieldHistory`."""
        histories = self._histories.setdefault(domain, {})
        shape = shape_id(shape_of(url))
        if shape not in histories and len(histories) >= SHAPES:
            shape = _OTHERS
        history = History.load(histories.get(shape, ""))
        judgement = self._rule.see(history, share, text)
        histories[shape] = history.dump()
        return judgement if self._moved(domain, shape, judgement.event) else replace(judgement, event=Event.NOTHING)

    def _moved(self, domain: str, shape: str, event: Event) -> bool:
        """True where the domain fell or recovered."""
        fallen = self._fallen.get(domain, set())
        after = fallen | {shape} if event is Event.FELL else fallen - {shape} if event else fallen
        self._fallen[domain] = after
        return bool(fallen) != bool(after)


class SharedYields:
    """The histories that all workers of a crawl share; a server that is away is waited for."""

    def __init__(self, rule: YieldRule, frontier: Frontier) -> None:
        self._rule, self._frontier = rule, frontier
        self._seen: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def see(self, domain: str, url: str, share: float, text: str) -> Judgement:
        """See `YieldHistory`. One round trip, one more for each worker that was quicker."""
        shape = shape_of(url)
        before = self._seen.get((domain, shape), "")
        while True:
            history = History.load(before)
            judgement = self._rule.see(history, share, text)
            after = history.dump()
            found = await self._swap(domain, shape, before, after, judgement)
            if isinstance(found, int):
                self._remember((domain, shape), after)
                return judgement if found else replace(judgement, event=Event.NOTHING)
            before = found.decode()

    async def quarantined(self) -> dict[str, list[Fallen]]:
        """Domains in quarantine, each with the shapes that fell."""
        every = {}
        for shard in range(self._frontier.limits.shards):
            for domain, lines in (await self._listed(shard)).items():
                every[domain.decode()] = [_fallen(line) for line in lines.decode().split("\n")]
        return dict(sorted(every.items()))

    async def knows(self, domain: str) -> bool:
        """Whether there is a history of the domain."""
        redis, key = self._frontier.connection.redis, self._key(domain)
        return bool(await self._frontier.connection.patiently(lambda: redis.exists(key)))

    async def release(self, domain: str) -> None:
        """Forget the history of a domain: what it gives from now on is what is usual."""
        redis, key = self._frontier.connection.redis, self._key(domain)
        listed = self._list_key(self._frontier.shard_of_scope(domain))
        await self._frontier.connection.patiently(lambda: redis.delete(key))
        await self._frontier.connection.patiently(lambda: redis.hdel(listed, domain))

    async def _listed(self, shard: int) -> dict[bytes, bytes]:
        redis = self._frontier.connection.redis
        return await self._frontier.connection.patiently(lambda: redis.hgetall(self._list_key(shard)))

    async def _swap(self, domain: str, shape: str, before: str, after: str, found: Judgement) -> int | bytes:
        redis = self._frontier.connection.redis
        keys = self._key(domain), self._list_key(self._frontier.shard_of_scope(domain))
        said = f"{found.usual:.4f} {found.recent:.4f} {shape}"
        arguments = shape_id(shape), before, after, str(found.event), domain, said
        return await self._frontier.connection.patiently(lambda: redis.eval(_SWAP, 2, *keys, *arguments))

    def _remember(self, shape: tuple[str, str], state: str) -> None:
        self._seen[shape] = state
        self._seen.move_to_end(shape)
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)

    def _key(self, domain: str) -> str:
        return f"{self._frontier.prefix(self._frontier.shard_of_scope(domain))}yields:{domain}"

    def _list_key(self, shard: int) -> str:
        return f"{self._frontier.prefix(shard)}fallen"


def _fallen(line: str) -> Fallen:
    _, usual, recent, shape = line.split(" ", 3)
    return Fallen(shape, float(usual), float(recent))
