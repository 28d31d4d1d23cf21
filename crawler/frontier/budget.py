"""A budget is what a crawl may spend, all workers and runs together: pages, bytes, hours, money; counted on the server.

Before a worker is given URLs it says what it has spent and has in hand (one round trip a batch). What others have in
hand is reserved at what a page may cost at most, so that near a limit each worker has one page under way: the limit is
exceeded by no more than that. A worker that died has spent what it was at work on, at the dearest page so far: what it
had leased and not begun with is given back with its leases.

A limit of a seed is counted in the same way for each politeness scope, which is paused while one is reached.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.config.budget import ALL, FIGURES, RUN, SEED, budget_of
from crawler.frontier.shards import ms

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier
    from crawler.frontier.shards import Shards


@dataclass(frozen=True, slots=True)
class Spending:
    """What one process has spent since it began. money: in the currency of the prices."""

    fetched: int = 0
    kept: int = 0
    received: int = 0  # bytes
    money: float = 0.0


@dataclass(slots=True)
class Budget:
    """The budget of a crawl, or of one scope of it, as one worker asks about it.

    entries: of FRONTIER_BUDGET. page_bytes, page_money: what one page may cost at most. scope: whose limits (seed.…)
    these are; empty = those of the crawl.
    """

    frontier: Frontier
    entries: tuple[str, ...]
    page_bytes: float
    page_money: float
    scope: str = ""
    token: str = ""  # from the first question on
    _limits: Mapping[str, Mapping[str, float]] = field(init=False)
    _run: str = field(init=False)

    def __post_init__(self) -> None:
        self._limits, self._run = budget_of(self.entries)

    async def ask(self, wanted: int, in_hand: int, spent: Spending, *, leaves: bool = False) -> tuple[int, str]:
        """How many URLs more this worker may lease, and the limit that is reached, such as "kept:500"; empty = none."""
        if not self.token:
            bearer, own = self.frontier.bearer, secrets.token_hex(8)
            self.token = f"{bearer}.{own}" if bearer else own
        run = "" if self.scope else self._run
        args: list[object] = [self.token, ms(self.frontier.limits.lease_seconds), in_hand, wanted, run]
        args += [spent.fetched, spent.kept, spent.received, f"{spent.money:.17g}", f"{self.page_bytes:.17g}"]
        args.append(f"{self.page_money:.17g}")
        for reach in self._reaches:
            bounds = self._limits.get(reach, {})
            args += [f"{bounds.get(name, 0.0) * (3_600_000 if name == 'hours' else 1):.17g}" for name in FIGURES]
        shard = self.frontier.shard_of_scope(self.scope) if self.scope else 0
        granted, reached = await self.frontier.run("budget", shard, [*args, int(leaves), self.scope])
        return int(granted), self._said(int(reached))

    @property
    def _reaches(self) -> tuple[str, str]:
        return (SEED, "") if self.scope else (ALL, RUN)

    def _said(self, reached: int) -> str:
        if not reached:
            return ""
        reach, name = self._reaches[(reached - 1) // len(FIGURES)], tuple(FIGURES)[(reached - 1) % len(FIGURES)]
        return f"{'' if reach == ALL else f'{reach}.'}{name}:{self._limits[reach][name]:g}"


async def begin_from(shards: Shards, spent: Spending, of_scopes: Mapping[str, Spending] | None = None) -> None:
    """At least what the corpus says was spent: by a frontier that was lost, and by runs that had no limit.

    Bytes and money of a scope are its share of all: they hold only where nothing is counted.
    """
    await shards.run("spent", 0, ["spent", *_rows(spent, shared=False)])
    for scope, one in (of_scopes or {}).items():
        await shards.run(
            "spent", shards.shard_of_scope(scope), ["spent:seeds", *_rows(one, shared=True, before=f"{scope}\t")]
        )


def _rows(spent: Spending, *, shared: bool, before: str = "") -> list[Any]:
    values = {"fetched": spent.fetched, "kept": spent.kept, "bytes": spent.received, "money": f"{spent.money:.17g}"}
    only_new = {name: int(shared and name in ("bytes", "money")) for name in values}
    return [word for name, value in values.items() for word in (f"{before}{name}", value, only_new[name])]


_KEYS = dict(zip(FIGURES, ("fetched", "kept", "bytes", "ms", "money"), strict=True))
_MS_OF_HOUR = 3_600_000


async def spent_of(shards: Shards) -> dict[str, float]:
    """What the crawl has spent, by figure, for all workers and runs; nothing where nobody has counted."""
    return _figures(await _all_of(shards, "spent"))


async def spent_before_run(shards: Shards, run: str) -> dict[str, float]:
    """What had been spent, by figure, when the run of this name (`run.name`) began; nothing where it is not known."""
    found = await _all_of(shards, "spent:before")
    return _figures(
        {figure: value for key, value in found.items() for name, _, figure in [key.rpartition("\t")] if name == run}
    )


async def spent_of_seeds(shards: Shards) -> dict[str, dict[str, float]]:
    """What each politeness scope has spent, by figure; nothing where no limit of a seed was counted."""
    named: dict[str, dict[str, float]] = {}
    for shard in range(shards.limits.shards):
        for key, value in (await _all_of(shards, "spent:seeds", shard)).items():
            scope, _, figure = key.rpartition("\t")
            named.setdefault(scope, {})[figure] = value
    return {scope: _figures(figures) for scope, figures in named.items()}


async def counts_seeds(shards: Shards) -> bool:
    """True where what seeds spend is counted: a run of the crawl has limited them."""
    redis = shards.connection.redis
    keys = [f"{shards.prefix(shard)}spent:seeds" for shard in range(shards.limits.shards)]
    return any([await shards.connection.patiently(lambda key=key: redis.exists(key)) for key in keys])  # type: ignore[misc]


async def limited_seeds(shards: Shards) -> dict[str, str]:
    """Scopes that a limit of a seed has stopped, with the limit, such as "kept: 50"."""
    found: dict[str, str] = {}
    for shard in range(shards.limits.shards):
        for scope, text in (await _hash_of(shards, "limited", shard)).items():
            name, _, bound = text.partition(":")
            figure = next(figure for figure, key in _KEYS.items() if key == name)
            found[scope] = f"{figure}: {float(bound) / (_MS_OF_HOUR if name == 'ms' else 1):g}"
    return found


async def _all_of(shards: Shards, name: str, shard: int = 0) -> dict[str, float]:
    return {key: float(value) for key, value in (await _hash_of(shards, name, shard)).items()}


async def _hash_of(shards: Shards, name: str, shard: int) -> dict[str, str]:
    redis = shards.connection.redis
    found = await shards.connection.patiently(lambda: redis.hgetall(f"{shards.prefix(shard)}{name}"))
    return {key.decode(): value.decode() for key, value in found.items()}


def _figures(named: dict[str, float]) -> dict[str, float]:
    return {name: named[key] / (_MS_OF_HOUR if key == "ms" else 1) for name, key in _KEYS.items() if key in named}
