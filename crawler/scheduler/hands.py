"""What this worker has in hand, as the frontier is told: whatever is when the worker dies is suspected of its death.

A page is in hand from the moment before a request is sent for it, its control files included, until its outcome is
recorded. The mark is on the server before the request is on the wire, or a page that kills at once would never be
found; it says as well whether the lease is still this worker's. Marks of all pages share round trips.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from crawler.frontier.model import Mark
from crawler.number import number_of
from crawler.server.batching import Batcher
from crawler.statkeys import LOST
from crawler.times import Moments, moment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.statscollectors import StatsCollector

    from crawler.frontier.client import Frontier
    from crawler.scheduler.in_flight import Flight, InFlight

log = logging.getLogger(__name__)


class Hands:
    """Marks and renews the leases of one worker; forgets those that are lost."""

    def __init__(
        self, stats: StatsCollector, frontier: Frontier, in_flight: InFlight, moments: Moments = moment
    ) -> None:
        self._stats, self._frontier, self._in_flight, self._moments = stats, frontier, in_flight, moments
        self._marks: Batcher[tuple[str, Mark], bool] = Batcher(self._send)

    async def take(self, flights: Iterable[Flight]) -> bool:
        """Their requests are sent next. False where the server knows one of their leases no longer."""
        taken = list(flights)
        for flight in taken:
            flight.in_hand = True
        marks = [(f.lease.token, Mark.ALONE if f.lease.alone else Mark.IN_HAND) for f in taken]
        return all(await asyncio.gather(*map(self._marks, marks)))

    def put_down(self, flights: Iterable[Flight]) -> None:
        """They wait for a turn; nothing of theirs is under way."""
        for flight in flights:
            if flight.in_hand:
                flight.in_hand = False
                self._marks.submit((flight.lease.token, Mark.WAITING))

    def deliver(self, flight: Flight) -> None:
        """Its outcome is recorded and on its way into the store."""
        flight.in_hand = False
        self._marks.submit((flight.lease.token, Mark.DELIVERED))

    async def renew(self) -> None:
        """Extend all leases of this worker; one that the server does not know has expired, unless it ends just now."""
        tokens = self._in_flight.tokens()
        answers = await self._send([(token, Mark.KEEP) for token in tokens])
        unknown = [self._in_flight.get(token) for token, ours in zip(tokens, answers, strict=True) if not ours]
        lost = [flight.lease.token for flight in unknown if flight is not None and not flight.ending]
        for token in lost:
            self._in_flight.drop(token)
        if lost:
            self._stats.inc_value(LOST, len(lost))
            log.warning("%s expired: their URLs are back in the queue", number_of(len(lost), "lease"))

    async def drain(self) -> None:
        """Until everything that waits here has been sent."""
        await self._marks.drain()

    async def _send(self, rows: list[tuple[str, Mark]]) -> list[bool]:
        asked = self._moments()
        answers = await self._frontier.mark(rows)
        for (token, _), ours in zip(rows, answers, strict=True):
            if ours and (flight := self._in_flight.get(token)) is not None:
                flight.renewed = asked
        return answers
