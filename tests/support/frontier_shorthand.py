"""What tests ask a frontier in fewer words than a worker does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from types import SimpleNamespace

from crawler.frontier.client import Frontier
from crawler.frontier.member import unpack
from crawler.frontier.model import Wire
from crawler.scheduler.hands import Hands
from crawler.scheduler.in_flight import InFlight


async def ack(frontier: Frontier, results: Iterable[tuple[str, float | None]]) -> list[bool]:
    """Settle leases by token and seconds that the request took, None where none was sent."""
    now = frontier.now()
    return await frontier.settle([(t, None if s is None else Wire(now, s)) for t, s in results])


async def reserve(frontier: Frontier, url: str) -> float:
    """When one more request may go to the URL's scope."""
    return (await frontier.politeness.claim(frontier.scope_of(url), 0))[0]


async def dead(frontier: Frontier) -> AsyncIterator[tuple[str, tuple[str, ...]]]:
    """The dead letters: (url, reasons of all tries)."""
    for shard in range(frontier.limits.shards):
        async for key, why in frontier.connection.redis.hscan_iter(frontier.prefix(shard) + "dead", count=500):
            scope, _, rest = key.decode().partition("\t")
            yield unpack(rest, scope).link.url, tuple(why.decode().split("\n"))


def hands_of(frontier: Frontier, in_flight: InFlight) -> Hands:
    """What tells the frontier of a worker's leases, for a worker that counts nothing."""
    return Hands(SimpleNamespace(inc_value=lambda *_: None), frontier, in_flight)
