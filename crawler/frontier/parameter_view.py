"""What is known of query parameters, read for people: which change no page of their domain, and on what evidence.

Written by the scripts (`parameters.lua` says what stands where); nothing here writes.
"""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from crawler.urls.parameters import SAMPLE

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

_ROW = struct.Struct(">4I1sd")
_PAGE = 500
MEANING = {
    "l": "changes no page",
    "t": "changes no page so far, but none was seen without it",
    "o": "too few pairs",
    "r": "changes pages",
}
"""What the state of a parameter says."""


@dataclass(frozen=True, slots=True)
class ParameterView:
    """One query parameter of a politeness scope.

    `same`: pairs of URLs that only it tells apart and that brought the same page, on `pages` pages; in `bare` of them
    one URL was without it. `different`: pairs that brought two pages. `example`: of the first such pair, otherwise of
    the latest.
    """

    scope: str
    name: str
    state: str
    same: int
    pages: int
    bare: int
    different: int
    example: str

    @property
    def learned(self) -> bool:
        """True where the evidence is enough."""
        return self.state == "l"

    @property
    def tracking(self) -> str:
        """What FRONTIER_TRACKING_PARAMS or an allowlist entry would say."""
        return f"{self.scope}:{self.name}"

    @property
    def evidence(self) -> str:
        """Why: one clause."""
        if self.different:
            return f"{self.different:,} of {self.same + self.different:,} pairs differ"
        return f"{self.same:,} pairs on {self.pages:,} pages are the same, {self.bare:,} of them with a URL without it"

    def as_json(self) -> dict[str, object]:
        """For machines."""
        return asdict(self) | {"learned": self.learned}


async def parameters_of(frontier: Frontier, scope: str) -> list[ParameterView]:
    """The parameters of a scope: those first that change no page, then by pairs."""
    key = f"{frontier.prefix(frontier.shard_of_scope(scope))}n:{scope}"
    rows = await frontier.connection.redis.hgetall(key)
    return ordered(_view(scope, name.decode(), bytes(row)) for name, row in rows.items())


async def learned_parameters(frontier: Frontier) -> list[ParameterView]:
    """The parameters of all scopes that change no page, or are being tried."""
    found = [view async for scope in _scopes(frontier) for view in await parameters_of(frontier, scope)]
    return ordered(view for view in found if view.state in "lt")


def ordered(views: Iterable[ParameterView]) -> list[ParameterView]:
    """Learned, tried, open, refuted; then most pairs first."""
    return sorted(views, key=lambda v: ("ltor".index(v.state), -v.same, v.scope, v.name))


async def _scopes(frontier: Frontier) -> AsyncIterator[str]:
    for shard in range(frontier.limits.shards):
        key = frontier.prefix(shard) + "learned"
        seen: set[bytes] = set()  # a scan may answer an entry twice
        async for scope, _ in frontier.connection.redis.hscan_iter(key, count=_PAGE):
            if scope not in seen:
                seen.add(scope)
                yield scope.decode()


def as_text(views: list[ParameterView], domain: str, *, applied: bool) -> str:
    """A line for each parameter, and what to do about them. `applied`: the crawl takes them off its links."""
    if not views:
        return f"no query parameter of {domain} was seen" if domain else "no query parameter is known to change no page"
    lines = [f"{v.scope} {v.name}: {MEANING[v.state]} ({v.evidence}), such as {v.example}" for v in views]
    learned = [v for v in views if v.learned]
    if learned and applied:
        lines.append(f"links lose {_listed(learned)} (FRONTIER_LEARN_PARAMS); one page of {SAMPLE} is asked with them")
    elif learned:
        given = ",".join(v.tracking for v in learned)
        lines.append(
            f"-s FRONTIER_LEARN_PARAMS=1 -s CRAWL_RULES=replace takes {_listed(learned)} off links in later runs"
        )
        lines.append(f"-s FRONTIER_TRACKING_PARAMS={given} does so in a new crawl from the start")
    return "\n".join(lines)


def _listed(views: list[ParameterView]) -> str:
    return ", ".join(v.tracking for v in views)


def _view(scope: str, name: str, row: bytes) -> ParameterView:
    same, pages, bare, different, state, _ = _ROW.unpack_from(row)
    return ParameterView(
        scope, name, state.decode(), same, pages, bare, different, row[_ROW.size :].decode("utf-8", "replace")
    )
