"""A worker's name is claimed by one worker at a time, because the files it writes are named by it.

The claim lasts as long as its worker shows signs of life. What the claims know of lives and deaths is what the frontier
judges a page by that was in hand when workers died: `Frontier.death_rate`.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

from crawler.frontier.shards import ms
from crawler.server.errors import FrontierError

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

log = logging.getLogger(__name__)

LONGEST_LIFE = 10.0
"""Seconds after which the name of a silent worker is free again; less where leases last less."""
LONGEST_BEAT = 2.0
"""Seconds between two signs of life, at most."""
_LOOK = 0.5  # seconds between two looks at a name that somebody has


class NameTakenError(FrontierError):
    """A live worker has this name."""


class Identity(NamedTuple):
    """A worker's name, the process that bears it, and the process that certainly bears it no more ("*": whichever)."""

    name: str
    token: str
    predecessor: str = ""


def bearer_of(token: str) -> str:
    """What the leases of a process bear (`Frontier.bearer`); "" for a process that is not known."""
    return token[:8] if token not in ("", "*") else ""


class Claims:
    """The claim of this worker on its name."""

    def __init__(self, frontier: Frontier, identity: Identity) -> None:
        self._frontier, self._identity = frontier, identity
        self._left = False

    @property
    def _life(self) -> float:
        return min(LONGEST_LIFE, self._frontier.limits.lease_seconds)

    async def enter(self) -> None:
        """Take the name, or wait for it where its worker is silent. Raises: NameTakenError where that one lives."""
        first_seen: int | None = None
        while True:
            ours, remaining, seen = await self._say("enter")
            if ours:
                self._frontier.bearer = bearer_of(self._identity.token)
                return
            if first_seen is not None and seen != first_seen:
                raise self._taken()
            if first_seen is None:
                log.info("the name %s is taken: waiting whether its worker lives", self._identity.name)
            first_seen = seen
            await asyncio.sleep(min(_LOOK, max(0.01, remaining / 1000)))

    async def keep(self) -> None:
        """Show signs of life until cancelled. Raises: NameTakenError where the name has passed to another worker."""
        while True:
            await asyncio.sleep(min(LONGEST_BEAT, self._life / 3))
            if self._left:
                return
            if not await self.beat():
                raise self._taken()

    async def beat(self) -> bool:
        """One sign of life. False where the name has passed to another worker."""
        ours, _, _ = await self._say("beat")
        return ours

    async def leave(self) -> None:
        """The name is free at once: this worker ends and has not died."""
        self._left = True
        await self._say("leave")

    async def _say(self, what: str) -> tuple[bool, int, int]:
        name, token, predecessor = self._identity
        args = [what, name, token, ms(self._life), predecessor]
        ours, remaining, seen, deaths, lived = await self._frontier.run("claim", 0, args)
        self._frontier.death_rate = (deaths + 1) / max(1.0, lived / 1000)
        return bool(ours), remaining, seen

    def _taken(self) -> NameTakenError:
        name = self._identity.name
        return NameTakenError(
            f"another live worker of crawl {self._frontier.crawl!r} has the name {name!r}: give each worker a "
            f"WORKER_ID of its own, or none; the name of a worker that died is free again after {self._life:g} s"
        )
