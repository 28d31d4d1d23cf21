"""Whose turn is it at this host? What the gate before the wire asks, answered for this worker's requests.

A lease brings one politeness slot. Whoever sends the first request of the flight uses it, be it the page or the
robots.txt in front of it; every further request waits for a slot of its own. A turn is permission to send now; what
counts for the next one is when the request was really sent, which a busy machine or a slow connection may delay.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawler.frontier.model import Lease
from crawler.scheduler.address_turns import MOMENT, WAIT_SECONDS, AddressTurns
from crawler.scheduler.in_flight import ANSWERED_AT, SENT_AT, SUBRESOURCE, TURN
from crawler.scheduler.turned_away import Exhausted, PutBack
from crawler.scheduler.wakefulness import Wakefulness
from crawler.times import Moments, moment, seconds_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request

    from crawler.frontier.client import Frontier
    from crawler.scheduler.hands import Hands
    from crawler.scheduler.in_flight import Flight, InFlight

_TICKET_SECONDS = 1.0  # how soon after wait() the request has to follow
_FRESH = 0.05  # share of its delay for which a slot lasts; used later it could fall together with the next one
_FRESH_SECONDS = 0.1  # at most
_REMEMBERED = 10_000  # scopes
_LAST_WAIT = 2.0  # seconds that a worker which ends still waits for a turn
_LOOK = 0.5  # seconds between two looks whether it ends
_SLOT = "politeness_slot"
"""Key in `request.meta` of a request without a lease: the slot of its domain."""
_RESERVE, _RESERVE_SECONDS = 0.1, 1.0  # how long before the end of a lease nothing is sent any more: share, at most


class Turns:
    """Turns of this worker's requests, those with a lease and those without.

    `closing`: True from the moment the worker begins to end. What would still wait for long is then put back: a page
    of a slow site may have its robots.txt and four opt-out files before it, each at a turn of its own.
    """

    def __init__(
        self,
        frontier: Frontier,
        in_flight: InFlight,
        hands: Hands,
        closing: Callable[[], bool] = lambda: False,
        moments: Moments = moment,
    ) -> None:
        self._closing = closing
        self._frontier = frontier
        self._in_flight, self._hands = in_flight, hands
        self._moments, self.wakefulness = moments, Wakefulness(moments)
        self._addresses = AddressTurns(frontier, closing)
        self._tickets: dict[str, tuple[float, int]] = {}  # scope → when wait() ended, and the slot
        self._extras: dict[str, float] = {}  # scope → when its latest request without a lease was sent

    async def wait(self, url: str) -> None:
        """Wait until one extra request may go to the URL's host; it has to follow at once. Raises: PutBack."""
        scope = self._frontier.scope_of(url)
        slot = await self._take_slot(scope)
        self._tickets[scope] = time.monotonic(), slot

    async def turn(self, request: Request) -> None:
        """Wait until this very request may be sent. Raises: PutBack, Exhausted."""
        flight = self._flight_of(request)
        if flight is None:
            request.meta[_SLOT] = await self._turn_of_stranger(request.url)
        else:
            await self._turn_of_page(flight)
        request.meta[TURN] = self.wakefulness.naps

    def may_be_sent(self, request: Request) -> bool:
        """The wire's last question, just before it writes: False where the turn or the lease has passed since."""
        flight = self._flight_of(request)
        current = request.meta.get(TURN) == self.wakefulness.naps and (flight is None or not self._is_stale(flight))
        if not current and flight is not None:
            flight.sent_at = None
        return current

    def _is_stale(self, flight: Flight) -> bool:
        """Its lease has ended, or is about to: another worker may ask for its page, and has the turn of its host."""
        term = self._frontier.limits.lease_seconds
        return seconds_between(flight.renewed, self._moments()) > term - min(_RESERVE * term, _RESERVE_SECONDS)

    async def _turn_of_page(self, flight: Flight) -> None:
        if flight.lease.exhausted:
            raise Exhausted(flight.lease.reasons)
        if not self._owns_fresh_slot(flight):
            self._hands.put_down([flight])
            flight.slot, _ = await self._await_slot(flight.lease.scope, 0 if flight.slot_used else flight.slot)
        ours = await self._hands.take([flight])
        if not ours or flight.epoch != self._frontier.connection.epoch:
            raise PutBack(self._frontier.now())  # the restarted server may not know of this lease and count it twice
        flight.slot_used = True
        flight.sent_at = self._frontier.now()

    def is_in_time(self, request: Request) -> bool:
        """As `may_be_sent`, of the slot at its address: a request that is late for it only has to ask again."""
        return self._addresses.is_in_time(request)

    async def before_connecting(self, request: Request, address: str) -> None:
        """The next connection leads to this address, as far as is known. Raises: PutBack."""
        with self._unsent_where_put_back(request):
            scope, patience = self._frontier.scope_of(request.url), self._patience_of(request)
            await self._addresses.stand_in_line(request, scope, address, patience)

    async def before_writing(self, request: Request, address: str, patience: float) -> None:
        """The connection leads to this address: wait until the request may be written, which has to follow at once.

        `patience`: seconds that it may wait here. Raises: PutBack.

        Whoever had to wait for the address and then for the domain takes no later slot of the address again: requests
        of one domain would hold slots that they cannot use, and keep each other from both for ever.
        """
        scope, patience = self._frontier.scope_of(request.url), min(patience, self._patience_of(request))
        ahead = True
        with self._unsent_where_put_back(request):
            while await self._addresses.take_slot(request, scope, address, patience, ahead=ahead):
                waited = await self._renew(request, scope)
                if not waited and self._addresses.has_slot(request):
                    return
                ahead = ahead and not waited

    def _patience_of(self, request: Request) -> float:
        """A page, and the control file in front of it, goes back into its queue; what a page in the browser asks for
        can only be waited for."""
        return self._frontier.limits.patience if request.meta.get(SUBRESOURCE) else WAIT_SECONDS

    def left(self, request: Request) -> None:
        """The request is over: from now on the moment at which it was sent counts, not that of its turn."""
        sent_at = request.meta.get(SENT_AT)
        self._addresses.over(request, 0.0 if sent_at is None else request.meta.get(ANSWERED_AT, sent_at) - sent_at)
        if sent_at is None:
            return  # it never reached the wire
        at = self._frontier.now() - (time.monotonic() - sent_at)
        flight = self._flight_of(request)
        if flight is not None:
            flight.sent_at = max(at, flight.sent_at or at)
            return
        if len(self._extras) >= _REMEMBERED:
            self._extras.clear()
        self._extras[self._frontier.scope_of(request.url)] = at

    def _flight_of(self, request: Request) -> Flight | None:
        lease = request.meta.get("lease")
        return self._in_flight.get(lease.token) if isinstance(lease, Lease) else None

    @contextmanager
    def _unsent_where_put_back(self, request: Request) -> Iterator[None]:
        """The gate has counted the request as sent: what goes back from behind it was not."""
        try:
            yield
        except PutBack:
            if (flight := self._flight_of(request)) is not None:
                flight.sent_at, flight.slot_used = None, False
            raise

    async def _renew(self, request: Request, scope: str) -> bool:
        """The domain's turn may have passed while its address was waited for. True where it had to be waited for."""
        flight = self._flight_of(request)
        slot, waited = await self._await_slot(scope, request.meta.get(_SLOT, 0) if flight is None else flight.slot)
        if flight is None:
            request.meta[_SLOT] = slot
        else:
            flight.slot, flight.sent_at = slot, self._frontier.now()
        request.meta[TURN] = self.wakefulness.naps
        return waited

    async def _turn_of_stranger(self, url: str) -> int:
        scope = self._frontier.scope_of(url)
        at, slot = self._tickets.pop(scope, (-_TICKET_SECONDS, 0))
        if time.monotonic() - at >= _TICKET_SECONDS:
            slot = await self._take_slot(scope)
        waiting = list(self._in_flight.begun())  # a control file is asked for because of one of these
        await self._hands.take([flight for flight in waiting if flight.lease.scope == scope] or waiting)
        return slot

    async def _take_slot(self, scope: str) -> int:
        self._hands.put_down(flight for flight in self._in_flight.begun() if flight.lease.scope == scope)
        for flight in self._in_flight.of_scope(scope):
            if self._owns_fresh_slot(flight):
                flight.slot_used = True
                # claimed anew: a page that its robots.txt forbids gives its own slot back, as if nothing had been sent
                return (await self._await_slot(scope, flight.slot))[0]
        return (await self._await_slot(scope, 0))[0]

    async def _await_slot(self, scope: str, own: int) -> tuple[int, bool]:
        """Wait for a turn at the scope, also at the distance from what this worker sent without a lease.

        Returns its slot, and whether it had to be waited for.
        """
        patience = self._frontier.limits.patience
        asked = self._frontier.now()
        while True:
            at, slot = await self._frontier.politeness.claim(scope, own, patience)
            delay, naps = slot / 1000 - at, self.wakefulness.naps
            at = max(at, self._extras.get(scope, 0.0) + delay)
            await self._sleep_until(at, patience)
            if naps == self.wakefulness.naps:
                return slot, at > asked + MOMENT
            own = slot  # it overslept: this turn is still its own only where nobody has taken one since

    def _owns_fresh_slot(self, flight: Flight) -> bool:
        if flight.slot_used:
            return False
        granted = flight.lease.granted_at
        delay = flight.slot / 1000 - granted
        return delay <= 0.001 or self._frontier.now() - granted <= min(delay * _FRESH, _FRESH_SECONDS)

    async def _sleep_until(self, at: float, patience: float) -> None:
        now = self._frontier.now()
        if at - now > patience:
            raise PutBack(now)  # into its queue: its turn says when, and a delay keeps no crawl from going on
        while (wait := at - self._frontier.now()) > 0:  # a sleep may end a moment early
            if self._closing() and wait > _LAST_WAIT:
                raise PutBack(self._frontier.now())
            await asyncio.sleep(min(wait, _LOOK))
