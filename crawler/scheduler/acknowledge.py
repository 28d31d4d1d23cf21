"""How leases go back: settled, tried again, on hold or put back; every outcome of a flight passes here, in batches.

A page's links reach the server before the page is acknowledged; where the server was restarted in between they are put
again first.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from crawler.frontier.model import Fault, Lease, Nack, Wire
from crawler.frontier.outcome import outcome_entry
from crawler.server.batching import Batcher
from crawler.server.connection import ServerRestarted
from crawler.statkeys import PUT_AGAIN, STALE
from crawler.storage.files.errors import StorageError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.statscollectors import StatsCollector

    from crawler.document import Document
    from crawler.frontier.client import Frontier
    from crawler.scheduler.hands import Hands
    from crawler.scheduler.in_flight import Flight, InFlight
    from crawler.scheduler.revisits import Revisits
    from crawler.urls.link import Link

LONGEST_BACKOFF = 600.0  # seconds
SYNCED_SECONDS = 3.0
"""Age of a write from which a restarted server has it: AOF is synced every second, or writes wait for it after two."""
_Ack = tuple[str, Wire | None, bytes, bytes]


class Acknowledgements:
    """Ends the flights of one worker. `stir` is called when a place has become free; `backoff` is in seconds.

    failed: is called with the error of an acknowledgement that nobody awaits. judged: with each page that is through.
    """

    def __init__(
        self,
        stats: StatsCollector,
        frontier: Frontier,
        in_flight: InFlight,
        revisits: Revisits,
        hands: Hands,
        *,
        stir: Callable[[], None],
        failed: Callable[[BaseException], None],
        backoff: float,
        judged: Callable[[Lease, Document | None], None] = lambda _, __: None,
    ) -> None:
        self._stats = stats
        self._frontier = frontier
        self._in_flight = in_flight
        self._revisits, self._hands = revisits, hands
        self._stir, self._failed, self._judged = stir, failed, judged
        self._backoff = backoff
        self._acks: Batcher[tuple[str, Wire | None, bytes, bytes], bool] = Batcher(self._send_acks)
        self._finishes: Batcher[tuple[str, Wire | None], None] = Batcher(self._send_finishes)
        self._children_kept: Batcher[str, None] = Batcher(self._let_go_of_children)
        self._deliveries: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """True while an acknowledgement waits or is under way."""
        return self._acks.busy

    async def drain(self) -> None:
        """Until everything that waits here has been sent."""
        if self._deliveries:
            await asyncio.wait(self._deliveries)
        await self._hands.drain()
        await self._finishes.drain()
        await self._acks.drain()

    async def settle(self, token: str, doc: Document | None, delivery: asyncio.Future[None] | None = None) -> None:
        """See `Scheduler.settle`."""
        flight = self._in_flight.get(token)
        if flight is None or flight.settling:
            return
        flight.settling = True
        self._judged(flight.lease, doc)
        visit = self._revisits.entry(flight.lease, doc)
        wire = flight.wire(self._frontier.now())
        brought = outcome_entry(flight.lease, doc, self._frontier.limits.quality_weight) if wire is not None else b""
        if delivery is None:
            await self._acknowledge(flight, (token, wire, visit, brought))
            return
        if flight.answered_at is None:  # no answer has freed the host's place: it waits for no upload
            self._finishes.submit((token, wire))
        flight.delivered, flight.request = True, None
        self._hands.deliver(flight)
        self._stir()
        task = asyncio.ensure_future(self._deliver(flight, (token, wire, visit, brought), delivery))
        self._deliveries.add(task)
        task.add_done_callback(self._delivered)

    async def _deliver(self, flight: Flight, ack: _Ack, delivery: asyncio.Future[None]) -> None:
        """Acknowledge once the outcome is in the store; where it will not be, the lease is released with the crawl."""
        await asyncio.wait({delivery}, timeout=SYNCED_SECONDS)
        if not delivery.done() and flight.children:
            await self._children_kept(flight.lease.token)
        with suppress(StorageError):
            await delivery
            await self._acknowledge(flight, ack)

    def _delivered(self, task: asyncio.Task[None]) -> None:
        self._deliveries.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(error)

    async def _acknowledge(self, flight: Flight, ack: _Ack) -> None:
        flight.ending = True
        if not await self._acks(ack):
            self._stats.inc_value(STALE)
            self._frontier.connection.mistrust()  # expired; or emptied, and links it was told before are gone, too
        self._let_go(flight)

    async def retry(self, token: str, not_before: float | None, reason: str, fault: Fault) -> bool:
        """See `Scheduler.retry`."""
        flight = self._in_flight.get(token)
        if flight is None:
            return True
        now = self._frontier.now()
        at = not_before if not_before is not None else now + backoff(self._backoff, flight.lease.attempt)
        flight.ending = True
        answer = await self._frontier.nack(token, at, reason, wire=flight.wire(now), fault=fault)
        if answer is Nack.EXHAUSTED:
            flight.ending = False
            return False
        await self._give_up(flight, is_stale=answer is Nack.STALE)
        return True

    async def hold(self, token: str, until: float, reason: str) -> None:
        """See `Scheduler.hold`."""
        flight = self._in_flight.get(token)
        if flight is not None:
            flight.ending = True
            due = await self._frontier.hold(token, until, reason, wire=flight.wire(self._frontier.now()))
            await self._give_up(flight, is_stale=due == 0.0)

    async def put_back(self, token: str, not_before: float) -> None:
        """See `Scheduler.put_back`."""
        flight = self._in_flight.get(token)
        if flight is not None:
            flight.ending = True
            wire = flight.wire(self._frontier.now())
            answer = await self._frontier.nack(token, not_before, "", counted=False, wire=wire)
            await self._give_up(flight, is_stale=answer is Nack.STALE, is_tried=False)

    async def respell(self, token: str, link: Link) -> None:
        """See `Scheduler.respell`."""
        flight = self._in_flight.get(token)
        if flight is not None:
            flight.ending = True
            known = await self._frontier.respell(token, link, wire=flight.wire(self._frontier.now()))
            await self._give_up(flight, is_stale=not known)

    async def _give_up(self, flight: Flight, *, is_stale: bool, is_tried: bool = True) -> None:
        """A URL without an outcome leaves this worker. A server that does not know its lease may have lost both."""
        if is_stale:
            await self._frontier.put([flight.lease.link])
        if not is_tried:
            self._in_flight.give_back(flight.lease.token)
        self._let_go(flight)

    def answered(self, request: Request) -> None:
        """The request is over: its host may be asked again while the page is still worked on."""
        lease = request.meta.get("lease")
        flight = self._in_flight.get(lease.token) if isinstance(lease, Lease) else None
        if flight is None or flight.settling or flight.sent_at is None:
            return
        flight.answered_at = self._frontier.now()
        self._finishes.submit((flight.lease.token, flight.wire(flight.answered_at)))

    def _let_go(self, flight: Flight) -> None:
        self._in_flight.drop(flight.lease.token)
        self._stir()

    async def _send_acks(self, items: list[tuple[str, Wire | None, bytes, bytes]]) -> list[bool]:
        """Acknowledge, once the server certainly has what these pages led to.

        Links may have gone with the last second of a server that was restarted since: then they are put again first,
        which changes nothing where they are there.
        """
        connection = self._frontier.connection
        while True:
            epoch = connection.epoch
            try:
                with connection.only_in(epoch):
                    await self._put_again((item[0] for item in items), epoch)
                    return await self._frontier.settle(items)
            except ServerRestarted:
                continue

    async def _put_again(self, tokens: Iterable[str], epoch: int) -> None:
        stale = [flight for token in tokens if (flight := self._in_flight.get(token)) and flight.epoch != epoch]
        children = [child for flight in stale for child in flight.children]
        if children:
            await self._frontier.put(children)
            self._stats.inc_value(PUT_AGAIN, len(children))
        for flight in stale:
            flight.epoch = epoch

    async def _let_go_of_children(self, tokens: list[str]) -> list[None]:
        """Thousands of pages may wait for their upload: links that the server cannot lose any more leave the memory."""
        connection = self._frontier.connection
        epoch = connection.epoch
        with suppress(ServerRestarted), connection.only_in(epoch):
            flights = [flight for token in tokens if (flight := self._in_flight.get(token)) and flight.epoch == epoch]
            await self._frontier.extend(flight.lease.token for flight in flights)  # an answer: it is the same server
            for flight in flights:
                flight.children.clear()
        return [None] * len(tokens)

    async def _send_finishes(self, items: list[tuple[str, Wire | None]]) -> list[None]:
        await self._frontier.finish(items)
        self._stir()
        return [None] * len(items)


def backoff(base: float, attempt: int, draw: Callable[[float, float], float] = random.uniform) -> float:
    """Seconds until the next try after `attempt` failed ones: full jitter, from 0 to base × 2^attempt, at most 600.

    Source: Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015): of the variants compared there full
    jitter costs the fewest requests. It needs no floor here: the scope's delay and blocks hold for a second try, too.
    """
    return draw(0.0, min(base * 2.0 ** min(attempt, 64), LONGEST_BACKOFF))
