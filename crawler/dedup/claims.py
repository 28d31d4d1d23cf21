"""A worker repeats its latest claims in the duplicate index after the server was restarted.

A server that lost power has forgotten its last second, and with it claims whose documents may be in a shard already. So
whoever meets another server process (`Epochs`) first repeats its own claims of the last seconds, and only then, and
after a pause in which all other workers do the same, asks anything new. Claims are idempotent, so one too many is none.
A worker with fresh claims looks at its server twice a second and is therefore never the last to notice.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from crawler.server.epochs import Epochs, ServerRestarted

logger = logging.getLogger(__name__)

KEPT_SECONDS = 5.0
"""A claim older than this is on the server's disk: `appendfsync everysec` is at most two seconds behind."""
LOOK_SECONDS = 0.5
GRACE_SECONDS = 3.0
"""From a restart to the first new question: six looks of everybody else."""

Question = list[Any]
"""The arguments of one question; the first is the owner's URL."""
Ask = Callable[[Sequence[Question]], Awaitable[Any]]


@dataclass(slots=True)
class _Claim:
    question: Question
    at: float  # `clock()`


class Claims:
    """Asks through `ask`, in the right order after a restart; `ping` says whether the server is there."""

    def __init__(
        self,
        epochs: Epochs,
        ask: Ask,
        ping: Callable[[], Awaitable[bool]],
        *,
        grace: float = GRACE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._epochs, self._ask, self._ping = epochs, ask, ping
        self._grace, self._clock = grace, clock
        self._claims: dict[str, _Claim] = {}
        self._lost: dict[str, Any] = {}  # owner → whose it is now
        self._epoch = epochs.number  # the one that has all our claims
        self._quiet_until = 0.0
        self._renewing = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None

    async def ask(self, questions: Sequence[Question]) -> Any:
        """The answers, one a question; claims made by them are remembered."""
        while True:
            await self.renew()
            await self._stay_quiet()
            epoch = self._epoch
            try:
                with self._epochs.only_in(epoch):
                    answers = await self._ask(questions)
            except ServerRestarted:
                continue
            for question, answer in zip(questions, answers, strict=True):
                if not answer:
                    self._claims[question[0]] = _Claim(question, self._clock())
            if self._looking is None and self._claims:
                self._looking = asyncio.ensure_future(self._look())
            return answers

    async def renew(self) -> None:
        """Make the claims of the last seconds again, if the server was restarted since."""
        async with self._renewing:
            while self._epoch != self._epochs.number:
                epoch = self._epochs.number
                try:
                    with self._epochs.only_in(epoch):
                        await self._repeat()
                except ServerRestarted:
                    continue
                self._epoch = epoch
                self.be_quiet(self._grace)

    async def lost(self, owner: str) -> Any:
        """The answer that took this owner's claim away after a restart, None where it stands. Says so once."""
        await self.renew()
        return self._lost.pop(owner, None)

    def be_quiet(self, seconds: float) -> None:
        """Ask nothing new for so long: others may still have to repeat their claims."""
        self._quiet_until = self._clock() + seconds

    async def close(self) -> None:
        """Stop looking."""
        looking, self._looking = self._looking, None
        if looking is not None:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    async def _stay_quiet(self) -> None:
        while (left := self._quiet_until - self._clock()) > 0:  # noqa: ASYNC110  # a restart meanwhile lengthens it
            await asyncio.sleep(left)

    async def _repeat(self) -> None:
        claims = list(self._claims.values())
        if not claims:
            return
        lost = 0
        for claim, answer in zip(claims, await self._ask([claim.question for claim in claims]), strict=True):
            claim.at = self._clock()
            if answer:
                lost += 1
                owner = claim.question[0]
                self._lost[owner] = answer
                self._claims.pop(owner, None)
        logger.warning("the server was restarted: %d claims made again, %d lost to other pages", len(claims), lost)

    async def _look(self) -> None:
        """Notice a restart also while there is nothing to ask, as long as any claim is fresh."""
        while self._claims:
            await asyncio.sleep(LOOK_SECONDS)
            if await self._ping():
                await self.renew()
                self._forget(self._clock() - KEPT_SECONDS)
        self._looking = None

    def _forget(self, before: float) -> None:
        """Claims from before a moment at which the server was still the same."""
        for owner in [o for o, claim in self._claims.items() if claim.at < before]:
            del self._claims[owner]
