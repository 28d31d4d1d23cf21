"""The shards of a crawl on its server: which one a scope lies in, and the scripts that work on them."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache
from typing import Any, NamedTuple

from crawler.frontier.model import Limits, Wire
from crawler.frontier.packing import pack_origin, shard_of, split_origin
from crawler.frontier.script_source import script_source
from crawler.server.connection import Connection
from crawler.urls.canonicalize import politeness_scope


class Origin(NamedTuple):
    """What all URLs of one scheme and authority have in common."""

    scope: str
    shard: int
    packed: str


class Shards:
    """One crawl's keys. Every script gets the time and the limits first; the parts of the frontier stand on this."""

    def __init__(self, connection: Connection, crawl: str, limits: Limits) -> None:
        self.connection = connection
        self.crawl = crawl
        self.limits = limits
        self.now = connection.now
        self.origin_of = lru_cache(65_536)(self._origin_of)

    def prefix(self, shard: int) -> str:
        """What all keys of a shard begin with; its braces are the hash tag that keeps them in one cluster slot."""
        return f"{{{self.crawl}.{shard}}}:"

    def scope_of(self, url: str) -> str:
        """Whose patience a request to this canonical URL uses up."""
        return self.origin_of(split_origin(url)[0]).scope

    def shard_of_scope(self, scope: str) -> int:
        """The shard all keys of a scope live in."""
        return shard_of(scope, self.limits.shards)

    def _origin_of(self, origin: str) -> Origin:
        scope = politeness_scope(origin + "/", self.limits.scope_by)
        return Origin(scope, self.shard_of_scope(scope), pack_origin(origin, scope))

    async def run(self, name: str, shard: int, args: list[Any], now: float | None = None) -> Any:
        """Run a script of `scripts/` on a shard. It waits while the server is away."""
        limits = self.limits
        stamp = ms(self.now() if now is None else now)
        header = [stamp, ms(limits.delay), limits.concurrency, limits.latency_factor]
        return await self.connection.script(script_source(name), self.prefix(shard), header + args)

    async def run_on_scope(self, name: str, scope: str, *args: Any) -> Any:
        """Run a script about one scope, whose name is its first argument."""
        return await self.run(name, self.shard_of_scope(scope), [scope, *args])

    async def run_on_tokens(self, name: str, rows: list[tuple[Any, ...]], *head: Any) -> list[Any]:
        """Run a script over rows that begin with a token: one call a shard, answers in the order of the rows.

        Of several rows with one token the last counts.
        """
        if not rows:
            return []
        answers: dict[str, Any] = {}
        once = list({row[0]: row for row in rows}.values())
        for shard, part in (by_shard(once) if self.limits.shards > 1 else {0: once}).items():
            found = await self.run(name, shard, [*head, *(value for row in part for value in row)])
            answers.update(zip((row[0] for row in part), found, strict=True))
        return [answers[row[0]] for row in rows]


def ms(seconds: float) -> int:
    """Milliseconds, never too few."""
    return math.ceil(seconds * 1000)


def wire_args(wire: Wire | None) -> tuple[int | str, int]:
    """When the request was sent and how long it took, as the scripts read it."""
    return ("", 0) if wire is None else (ms(wire.sent_at), ms(wire.latency))


def clean(reason: str) -> str:
    """Reasons are joined by line breaks and end up in logs and records: one short printable line each."""
    return "".join(c if c.isprintable() else " " for c in reason[:200])


def shard_of_token(token: str) -> int:
    """The shard a lease lives in."""
    return int(token.partition(".")[0])


def by_shard(rows: list[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    """Rows that begin with a token, apart by shard."""
    parts: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        parts[shard_of_token(row[0])].append(row)
    return parts
