"""What this worker has in its hands: every lease from the moment it arrives until it is settled."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.frontier.model import Lease, Wire
from crawler.times import Moment, moment
from crawler.urls.link import Link

if TYPE_CHECKING:
    from scrapy import Request

SENT_AT = "sent_at"
"""Key in `request.meta` under which the download handler says when (`time.monotonic()`) a request was written out."""
ANSWERED_AT = "answered_at"
"""Key in `request.meta` for the moment (`time.monotonic()`) at which the answer was complete, or the request failed."""
TURN = "turn"
"""Key in `request.meta` for the turn of a request, which may pass before it is written (`Wakefulness.naps`)."""

SUBRESOURCE = "subresource"
"""Key in `request.meta`: a page in the browser asked for it (a script, data). robots.txt and the guard hold for it."""


@dataclass(slots=True, eq=False)
class Flight:
    """One lease in this worker's hands."""

    lease: Lease
    slot: int  # ms; the latest politeness slot that belongs to this lease
    epoch: int = 0  # of the server when the lease arrived (`Connection.epoch`)
    slot_used: bool = False
    request: Request | None = None  # None until the engine took it
    sent_at: float | None = None  # epoch seconds; None: nothing went over the wire
    answered_at: float | None = None
    settling: bool = False
    ending: bool = False  # the server is told that the lease is over, and has perhaps heard it
    in_hand: bool = False  # as the server was told: a request of it is under way, or its page is worked on
    renewed: Moment = field(default_factory=moment)  # before the server was last asked for this lease, or to extend it
    delivered: bool = False  # finished; its outcome is on its way into the store
    missed: int = 0  # inspections in a row that found nobody working on it
    children: list[Link] = field(default_factory=list)  # what was put because of it

    def wire(self, now: float) -> Wire | None:
        """What the request cost its host; None where none was sent."""
        if self.sent_at is None:
            return None
        return Wire(self.sent_at, max(0.0, (self.answered_at or now) - self.sent_at))


class InFlight:
    """All leases of this worker: those that wait for the engine (`ready`) and those under way.

    A URL that a worker died with waits aside until nothing else is under way; nothing is leased meanwhile.
    """

    def __init__(self) -> None:
        self.ready: deque[Lease] = deque()
        self._aside: deque[Lease] = deque()
        self._alone = ""
        self._by_token: dict[str, Flight] = {}
        self.given_back = 0
        """Leases that ended without a try: put back, or never begun."""

    def __len__(self) -> int:
        return len(self._by_token)

    def __iter__(self) -> Iterator[Flight]:
        return iter(list(self._by_token.values()))

    def add(self, lease: Lease, epoch: int = 0, asked: Moment | None = None) -> None:
        """A lease arrived, which was `asked` for then."""
        self._by_token[lease.token] = Flight(lease, lease.slot, epoch, renewed=asked or moment())
        (self._aside if lease.alone and not lease.exhausted else self.ready).append(lease)

    @property
    def suspect(self) -> Flight | None:
        """The flight that is tried alone and not through yet; None while there is none."""
        flight = self._by_token.get(self._alone)
        return None if flight is None or flight.delivered else flight

    @property
    def keeps_free(self) -> bool:
        """True while a URL is tried alone, or waits for that: nothing else may be begun."""
        return bool(self._aside) or self.suspect is not None

    def begin_alone(self) -> bool:
        """Let the next URL that waits aside begin, where nothing else is under way. True where one does."""
        if not self._aside or self.unfinished > len(self._aside):
            return False
        lease = self._aside.popleft()
        self._alone = lease.token
        self.ready.append(lease)
        return True

    def get(self, token: str) -> Flight | None:
        """The flight of a lease, None where it is not ours (any more)."""
        return self._by_token.get(token)

    def drop(self, token: str) -> None:
        """The lease is over."""
        flight = self._by_token.pop(token, None)
        if flight is not None and flight.lease.alone and flight.lease in self._aside:
            self._aside.remove(flight.lease)

    def give_back(self, token: str) -> None:
        """The lease is over, and its URL was not tried."""
        self.given_back += token in self._by_token
        self.drop(token)

    @property
    def only_delivered(self) -> bool:
        """True where there are leases, and nobody in this worker has anything left to do for them."""
        return bool(self._by_token) and all(flight.delivered for flight in self._by_token.values())

    @property
    def is_idle(self) -> bool:
        """True where this worker has nothing left to do for any lease; asked often, and the latest come last."""
        return all(flight.delivered for flight in reversed(self._by_token.values()))

    @property
    def unfinished(self) -> int:
        """How many leases this worker still has something to do for."""
        return sum(not flight.delivered for flight in self._by_token.values())

    def unfinished_of(self, scope: str) -> int:
        """How many of them are of one politeness scope."""
        return sum(not flight.delivered for flight in self._by_token.values() if flight.lease.scope == scope)

    @property
    def scopes(self) -> list[str]:
        """Politeness scopes of which this worker still has something to do, sorted."""
        return sorted({flight.lease.scope for flight in self._by_token.values() if not flight.delivered})

    def tokens(self) -> list[str]:
        """All leases in hand."""
        return list(self._by_token)

    def take_unstarted(self) -> list[str]:
        """Empty `ready`; returns the tokens, which are no longer in hand."""
        tokens = [lease.token for lease in (*self.ready, *self._aside)]
        self.ready.clear()
        self._aside.clear()
        for token in tokens:
            self.give_back(token)
        return tokens

    def of_scope(self, scope: str) -> Iterator[Flight]:
        """Flights the engine has taken, of one politeness scope."""
        return (f for f in self._by_token.values() if f.lease.scope == scope and f.request is not None)

    def begun(self) -> Iterator[Flight]:
        """Flights the engine has taken and nothing was sent for yet."""
        return (f for f in self._by_token.values() if f.request is not None and f.sent_at is None)
