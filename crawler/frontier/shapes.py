"""The table of outcomes, read for people: by domain and shape, what requests brought, which links are parked, and why.

Written by the scripts (`shapes.lua` says what stands where); nothing here writes.
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.frontier.member import unpack
from crawler.frontier.outcome import OTHER_SHAPES, WHOLE_SCOPE
from crawler.number import number_of
from crawler.urls.shape import shape_id_of, shape_of

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

_ROW = struct.Struct(">5I2BHI2dIh")
_PARKED = 8
"""Where the number of parked links stands in a row."""
_PARKED_SCOPES = 50
_PAGE = 500
_READ = 20_000
"""Parked URLs of a domain that are read to find an example of each shape."""


@dataclass(frozen=True, slots=True)
class ShapeView:
    """What came of one shape of a politeness scope. `tokens`: kept, weighted by quality; `led`: kept behind its links.

    `streak`: requests in a row that brought nothing new, `scope_streak`: to any shape of the scope. `example` is a URL
    of it, a parked one where there is one.
    """

    scope: str
    shape: str
    example: str
    fetched: int
    kept: int
    short: int
    duplicate: int
    other: int
    streak: int
    parked: int
    tokens: float
    led: float
    scope_streak: int = 0

    @property
    def tokens_a_request(self) -> float:
        """What a request has brought on average."""
        return self.tokens / self.fetched if self.fetched else 0.0

    @property
    def reason(self) -> str:
        """Why its links are parked: one clause."""
        if not self.fetched:
            return f"the last {number_of(self.scope_streak, 'page')} of its domain brought nothing new"
        parts = (("kept", self.kept), ("too short", self.short), ("duplicates", self.duplicate), ("others", self.other))
        found = ", ".join(f"{n:,} {name}" for name, n in parts if n)
        domain = f", nor did the last {self.scope_streak:,} of its domain" if self.scope_streak > self.streak else ""
        return (
            f"its last {number_of(self.streak, 'page')} brought nothing new{domain} "
            f"(of {number_of(self.fetched, 'page')}: {found})"
        )


async def parked_scopes(frontier: Frontier) -> AsyncIterator[tuple[str, int]]:
    """Every scope with parked links, and how many they are."""
    for shard in range(frontier.limits.shards):
        key = frontier.prefix(shard) + "barren"
        async for scope, n in frontier.connection.redis.hscan_iter(key, count=_PAGE):
            yield scope.decode(), int(n)


async def parked_kinds(frontier: Frontier, domain: str = "") -> tuple[ShapeView, ...]:
    """The kinds of links that are parked, most links first; of many domains only those that most are parked of."""
    scopes = [(n, scope) async for scope, n in parked_scopes(frontier) if domain in ("", scope)]
    largest = heapq.nlargest(_PARKED_SCOPES, scopes)
    views = [view for _, scope in largest for view in await shapes_of(frontier, scope) if view.parked]
    return tuple(sorted(views, key=lambda v: (-v.parked, v.scope, v.shape)))


async def shapes_of(frontier: Frontier, scope: str) -> list[ShapeView]:
    """The table of a scope: most tokens first, then most requests."""
    key = f"{frontier.prefix(frontier.shard_of_scope(scope))}w:{scope}"
    rows = {name.decode(): bytes(row) async for name, row in frontier.connection.redis.hscan_iter(key, count=_PAGE)}
    streak = struct.unpack_from(">I", rows.pop(WHOLE_SCOPE, bytes(8)), 4)[0]
    any_parked = any(_ROW.unpack_from(row)[_PARKED] for row in rows.values())
    waiting = await _examples(frontier, scope, set(rows)) if any_parked else {}
    views = [replace(_view(scope, name, row, waiting.get(name, "")), scope_streak=streak) for name, row in rows.items()]
    return sorted(views, key=lambda v: (-v.tokens, -v.fetched, v.shape))


def _view(scope: str, name: str, row: bytes, parked: str) -> ShapeView:
    fetched, kept, short, duplicate, other, _, _, streak, n, tokens, led, _, _ = _ROW.unpack_from(row)
    example = parked or row[_ROW.size :].decode("utf-8", "replace")
    shape = f"{scope} (all other shapes)" if name == OTHER_SHAPES else shape_of(example)
    return ShapeView(scope, shape, example, fetched, kept, short, duplicate, other, streak, n, tokens, led)


async def _examples(frontier: Frontier, scope: str, known: set[str]) -> dict[str, str]:
    """A parked URL of each shape, as far as they are found among the first ones."""
    found: dict[str, str] = {}
    key = f"{frontier.prefix(frontier.shard_of_scope(scope))}z:{scope}"
    for start in range(0, _READ, _PAGE):
        members = await frontier.connection.redis.lrange(key, start, start + _PAGE - 1)
        for member in members:
            url = unpack(member.decode(), scope).link.url
            name = shape_id_of(url)
            found.setdefault(name if name in known else OTHER_SHAPES, url)
        if len(members) < _PAGE or len(found) >= len(known):
            break
    return found
