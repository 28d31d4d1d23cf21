"""A running crawl from the outside: what `scrapy frontier` shows and does."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeVar

from crawler.frontier.client import Frontier
from crawler.frontier.errors import FrontierError
from crawler.frontier.model import Counts, Mode
from crawler.frontier.server import EmbeddedServer
from crawler.frontier.wiring import frontier_folder, limits_of

if TYPE_CHECKING:
    from crawler.config import Config

T = TypeVar("T")

_WINDOW = 60.0  # seconds that the fetchable figure looks ahead
ACTIONS = ("status", "pause", "resume", "drain", "requeue", "purge")
REQUEUE = ("held", "later", "dead")


@dataclass(frozen=True, slots=True)
class ScopeView:
    """One politeness scope: URLs in its queue, requests under way, seconds until its next turn, why it is blocked."""

    scope: str
    queued: int
    busy: int
    next_in: float
    blocked: str


@dataclass(frozen=True, slots=True)
class Overview:
    """How a crawl stands.

    `fetchable` is the figure to scale workers by: how many of the queued URLs politeness allows to be fetched within a
    minute, however many workers there are. One deep host does not ask for two hundred workers.
    """

    crawl: str
    counts: Counts
    fetchable: int
    scopes: tuple[ScopeView, ...]  # longest queues first

    def as_json(self) -> dict[str, object]:
        """For machines."""
        return asdict(self)

    def __str__(self) -> str:
        c = self.counts
        lines = [
            f"crawl {self.crawl}: {c.mode}",
            f"  queued {c.queued} ({c.waiting} of them far in the future)   leased {c.leased}   on hold {c.held}",
            f"  done {c.done}   dead {c.dead}   purged {c.purged}   seen {c.seen}",
            f"  fetchable within a minute: {self.fetchable}",
        ]
        lines += [f"  {s.queued:>9}  {s.scope}{_remark(s)}" for s in self.scopes[:20]]
        if len(self.scopes) > 20:
            lines.append(f"  … and {len(self.scopes) - 20} more")
        return "\n".join(lines)


def _remark(s: ScopeView) -> str:
    parts = [f"{s.busy} under way"] if s.busy else []
    parts += [f"next turn in {s.next_in:.0f} s"] if s.next_in >= 1 else []
    parts += [f"blocked: {s.blocked}"] if s.blocked else []
    return f"  ({', '.join(parts)})" if parts else ""


async def overview(frontier: Frontier) -> Overview:
    """Look at every queue. Reads only; costs one scan over the keys of the crawl."""
    views: list[ScopeView] = []
    for shard in range(frontier.limits.shards):
        prefix = frontier.prefix(shard)
        keys = frontier.connection.redis.scan_iter(prefix + "q:*", count=1000)
        views += [await _view(frontier, prefix, key.decode()[len(prefix) + 2 :]) async for key in keys]
    views.sort(key=lambda v: (-v.queued, v.scope))
    return Overview(frontier.crawl, await frontier.counts(), sum(_fetchable(v, frontier) for v in views), tuple(views))


async def _view(frontier: Frontier, prefix: str, scope: str) -> ScopeView:
    redis = frontier.connection.redis
    due = await redis.zscore(prefix + "next", scope)
    blocked = await redis.zscore(prefix + "blocked", scope)
    still = blocked is not None and blocked / 1000 > frontier.now()
    reason = (await redis.hget(prefix + "why", f"{scope}\t") or b"").decode() if still else ""
    return ScopeView(
        scope=scope,
        queued=await redis.zcard(f"{prefix}q:{scope}"),
        busy=int(await redis.hget(prefix + "busy", scope) or 0),
        next_in=max(0.0, (due or 0) / 1000 - frontier.now()),
        blocked=reason,
    )


def _fetchable(view: ScopeView, frontier: Frontier) -> int:
    if not frontier.limits.delay:
        return view.queued
    return min(view.queued, math.ceil(max(0.0, _WINDOW - view.next_in) / frontier.limits.delay))


async def act(frontier: Frontier, action: str, what: str | None) -> str:
    """One of ACTIONS but `status`; returns the sentence that says what was done. Raises: ValueError."""
    if action in ("pause", "resume", "drain"):
        mode = {"pause": Mode.PAUSE, "resume": Mode.RUN, "drain": Mode.DRAIN}[action]
        await frontier.set_mode(mode)
        return {
            Mode.PAUSE: "paused: workers finish what they have and wait",
            Mode.RUN: "running",
            Mode.DRAIN: "draining: workers finish what they have and end",
        }[mode]
    if action == "requeue" and what in REQUEUE:
        return f"{await frontier.requeue(what)} URLs went back into their queues"
    if action == "purge" and what:
        return f"{await frontier.purge(what)} URLs of {what} are gone; new ones are refused"
    raise ValueError(
        f"expected one of: {' | '.join(ACTIONS[:4])} | requeue {'|'.join(REQUEUE)} | purge SCOPE (a domain as status "
        "lists it)"
    )


def with_frontier(config: Config, work: Callable[[Frontier], Awaitable[T]]) -> T:
    """Run `work` against the crawl's frontier, joining or starting its embedded server where REDIS_URL is unset.

    Raises: FrontierError, also where CORPUS_DIR holds no frontier.
    """

    async def main(url: str) -> T:
        frontier = Frontier(url, config.crawl.crawl_id, limits_of(config))
        await frontier.open()
        try:
            return await work(frontier)
        finally:
            await frontier.close()

    with ExitStack() as stack:
        url = config.crawl.redis_url
        if url is None:
            folder = frontier_folder(config)
            if not folder.is_dir():
                raise FrontierError(
                    f"{folder} holds no frontier: set CORPUS_DIR to the folder of a crawl, or REDIS_URL"
                )
            url = stack.enter_context(EmbeddedServer(folder))
        return asyncio.run(main(url))
