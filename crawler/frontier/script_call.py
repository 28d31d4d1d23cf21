"""A script call chooses the shard and its arguments, and returns answers in the caller's order."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from crawler.frontier.model import Limits, Wire
from crawler.frontier.packing import shard_of
from crawler.frontier.script_source import script_source
from crawler.frontier.shared import SharedValues
from crawler.times import Clock


class ScriptCalls(SharedValues):
    """Runs scripts against shards; every script gets the time and the limits first."""

    limits: Limits
    now: Clock

    def shard_of_scope(self, scope: str) -> int:
        """The shard all keys of a scope live in."""
        return shard_of(scope, self.limits.shards)

    async def _run(self, name: str, shard: int, args: list[Any], now: float | None = None) -> Any:
        limits = self.limits
        stamp = ms(self.now() if now is None else now)
        header = [stamp, ms(limits.delay), limits.concurrency, limits.latency_factor]
        return await self.connection.script(script_source(name), self.prefix(shard), header + args)

    async def _per_token(self, name: str, rows: list[tuple[Any, ...]], *head: Any) -> list[Any]:
        """Run a script over rows that begin with a token: one call a shard, answers in the order of the rows.

        Of several rows with one token the last counts.
        """
        if not rows:
            return []
        answers: dict[str, Any] = {}
        once = list({row[0]: row for row in rows}.values())
        for shard, part in (by_shard(once) if self.limits.shards > 1 else {0: once}).items():
            found = await self._run(name, shard, [*head, *(value for row in part for value in row)])
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
