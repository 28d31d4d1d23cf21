"""Whose turn is it at this address? Domains that share a machine share its patience, for all workers together.

A request asks twice. Before a connection is made it stands in the address's line where there is one: whose turn is far
away goes back into the queue and keeps no place of this worker busy. When it is about to be written it takes its slot,
at the address that the connection really leads to: connecting may have taken long, or gone elsewhere.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections import OrderedDict, defaultdict
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from crawler.config.address_delays import LATE
from crawler.frontier.configured import delays_of
from crawler.frontier.politeness import AddressRow
from crawler.policy.addresses import budget_of
from crawler.scheduler.turned_away import PutBack
from crawler.server.batching import Batcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from crawler.frontier.client import Frontier
    from crawler.policy.addresses import AddressDelays

MOMENT = 0.005
"""Seconds: a turn that is now, as two clocks say it."""
WAIT_SECONDS = 2.0
"""Longest time that a request waits for its address with a place of this worker in hand."""
_LATE_SECONDS = 0.1  # by so much at most a request may be late for its slot
_LOOK = 0.25  # seconds between two looks whether the worker ends
_BUSY_SECONDS = 60.0  # for so long an address at which somebody waited counts as one with a line
_REMEMBERED = 10_000  # addresses
_NAME, _GRANT = "address_turn", "address_slot"
"""Keys in `request.meta`: the name of a request here; until when its slot lasts (epoch seconds), and the slot."""


class _Budget(NamedTuple):
    """Seconds from slot to slot, and by how many a request may be late for its own without touching the next."""

    name: str
    spaced: float
    margin: float


class AddressTurns:
    """Turns at addresses, of this worker's requests. `closing`: True from the moment the worker begins to end."""

    def __init__(self, frontier: Frontier, closing: Callable[[], bool]) -> None:
        self._frontier, self._closing = frontier, closing
        self._ask: Batcher[AddressRow, tuple[float, int]] = Batcher(frontier.politeness.ask_addresses)
        self._busy: OrderedDict[str, float] = OrderedDict()  # address → until when it counts as one with a line
        self._coming: defaultdict[str, set[str]] = defaultdict(set)  # address → requests between line and slot
        self._sent: dict[str, str] = {}  # name of a request → the address that it was sent to
        self._names = (f"{secrets.token_hex(4)}.{n}" for n in count())
        self._delays: tuple[object, AddressDelays] | None = None

    async def stand_in_line(self, request: Request, scope: str, address: str, patience: float) -> None:
        """Before a connection is made: wait up to `patience` seconds. Raises: PutBack, once the scope's next turn is at
        its place in the line."""
        budget = self._budget(address)
        if budget is None:
            return
        if self._coming[budget.name] or self._busy.get(budget.name, 0.0) > self._frontier.now():
            at, granted = await self._ask(AddressRow("line", budget.name, budget.spaced, scope, within=patience))
            if not granted:
                await self._put_back(scope, at)
            await self._sleep_until(at)
        name = request.meta[_NAME] = next(self._names)
        self._coming[budget.name].add(name)
        self._sent[name] = budget.name

    async def take_slot(
        self, request: Request, scope: str, address: str, patience: float, *, ahead: bool = True
    ) -> bool:
        """Before a request is written: it has to follow at once. True where it had to wait. Raises: PutBack.

        `patience`: seconds that it may wait here, its connection in hand. `ahead`: the slot may be a later one, which
        is waited for; otherwise the address has been waited for, and `has_slot` says whether there is one.
        """
        budget = self._budget(address)
        if budget is None:
            return False
        name = request.meta[_NAME] = request.meta.get(_NAME) or next(self._names)
        self._forget(name)
        (_, slot), waited, until = request.meta.pop(_GRANT, (0.0, 0)), False, self._frontier.now() + patience
        while True:
            within = max(0.0, until - self._frontier.now()) if ahead else 0.0
            row = AddressRow("send", budget.name, budget.spaced, name, slot, within, self._most())
            at, slot = await self._ask(row)
            if not slot and max(at, self._frontier.now()) > until:
                await self._go_to_the_end(budget, scope)
            waited = waited or at > self._frontier.now() + MOMENT
            await self._sleep_until(at)
            if slot and self._frontier.now() - at <= budget.margin:
                self._sent[name] = budget.name
                request.meta[_GRANT] = at + budget.margin, slot
                return waited
            self._note_busy(budget.name)
            if not ahead:
                return True

    def has_slot(self, request: Request) -> bool:
        """True where the latest `take_slot` that had to wait took one."""
        return _GRANT in request.meta

    def is_in_time(self, request: Request) -> bool:
        """The very last question: False where the slot of its address has passed since, on a busy machine."""
        until, _ = request.meta.get(_GRANT, (math.inf, 0))
        return bool(self._frontier.now() <= until)

    def over(self, request: Request, seconds: float) -> None:
        """The request is over; it took so long."""
        name = request.meta.pop(_NAME, None)
        budget = self._forget(name) if name else None
        if budget is not None and self._most():
            rest = round(1000 * self._frontier.limits.latency_factor * seconds)
            self._ask.submit(AddressRow("over", budget, 0.0, str(name), rest))

    def _forget(self, name: str) -> str | None:
        budget = self._sent.pop(name, None)
        if budget is not None and (coming := self._coming.get(budget)) is not None:
            coming.discard(name)
            if not coming:
                del self._coming[budget]
        return budget

    async def _go_to_the_end(self, budget: _Budget, scope: str) -> None:
        self._note_busy(budget.name)
        at, _ = await self._ask(AddressRow("line", budget.name, budget.spaced, scope))
        await self._put_back(scope, at)

    async def _put_back(self, scope: str, at: float) -> None:
        await self._frontier.politeness.rest(scope, at)
        raise PutBack(at)

    def _note_busy(self, budget: str) -> None:
        self._busy[budget] = self._frontier.now() + _BUSY_SECONDS
        self._busy.move_to_end(budget)
        while len(self._busy) > _REMEMBERED:
            self._busy.popitem(last=False)

    async def _sleep_until(self, at: float) -> None:
        while (wait := at - self._frontier.now()) > 0:
            if self._closing() and wait > WAIT_SECONDS:
                raise PutBack(self._frontier.now())
            await asyncio.sleep(min(wait, _LOOK))

    def _in_force(self) -> AddressDelays:
        """The delays of the crawl, which another worker may have made longer."""
        limits = self._frontier.limits
        if self._delays is None or self._delays[0] is not limits:
            self._delays = limits, delays_of(limits)
        return self._delays[1]

    def _most(self) -> int:
        """Requests to one address at a time, 0 = any number: where an address is what a budget covers."""
        return self._frontier.limits.concurrency if self._frontier.limits.scope_by == "address" else 0

    def _budget(self, address: str) -> _Budget | None:
        """None where requests to this address need no turn of their own."""
        delay = self._in_force().of(address)
        if not delay:
            return _Budget(budget_of(address), 0.0, math.inf) if self._most() else None
        margin = min(delay * LATE, _LATE_SECONDS)
        return _Budget(budget_of(address), delay + margin, margin)
