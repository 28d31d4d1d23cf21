"""For a few questions instead of a crawl: what the middlewares use of the scheduler, kept in this process only.

Politeness holds as in a crawl: one request at a time to a host, DOWNLOAD_DELAY or the host's own delay apart.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from scrapy.core.scheduler import BaseScheduler

from crawler.frontier.configured import delays_of, limits_of
from crawler.policy.addresses import AddressDelays, budget_of
from crawler.runtime import config_of
from crawler.urls.canonicalize import politeness_scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class InMemoryFrontier:
    """The shared store and the turns of hosts, for one worker. `blobs` holds what was stored, by name."""

    def __init__(self, delay: float, scope_by: str, addresses: AddressDelays) -> None:
        self.blobs: dict[str, bytes] = {}
        self.politeness = self  # all parts of a frontier in one
        self._delay = delay
        self._scope_by = scope_by
        self._addresses = addresses
        self._delays: defaultdict[str, dict[str, float]] = defaultdict(dict)  # scope → seconds by source
        self._next: dict[str, float] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def get_blob(self, name: str) -> bytes | None:
        """The stored bytes."""
        return self.blobs.get(name)

    async def put_blob(self, name: str, value: bytes, ttl: float) -> None:  # noqa: ARG002  # outlived by nobody here
        """Store bytes until this process ends."""
        self.blobs[name] = value

    @asynccontextmanager
    async def single_flight(self, name: str, ttl: float = 60.0) -> AsyncIterator[bool]:  # noqa: ARG002
        """True for one caller at a time."""
        async with self._locks[f"flight {name}"]:
            yield True

    def scope_of(self, url: str) -> str:
        """Whose patience a request to this URL uses up."""
        return politeness_scope(url, self._scope_by)

    async def set_delay(self, scope: str, seconds: float, source: str) -> None:
        """What one source asks of a scope (Crawl-delay), 0 = nothing; the longest of all sources holds."""
        self._delays[scope][source] = seconds

    async def block(self, scope: str, until: float, reason: str) -> None:  # noqa: ARG002
        """Nobody asks this scope before `until` (seconds since the epoch)."""
        self._next[scope] = max(until, self._next.get(scope, 0.0))

    async def rest(self, scope: str, until: float) -> None:
        """The next turn of this scope is not before `until`."""
        await self.block(scope, until, "")

    async def take_turn(self, scope: str) -> None:
        """Wait until one request may be sent to this scope; it has to follow at once."""
        await self._take(scope, max(self._delay, *self._delays[scope].values(), 0.0))

    async def take_address(self, address: str) -> None:
        """Wait until one request may be sent to this address; it has to follow at once."""
        await self._take(f"address {budget_of(address)}", self._addresses.of(address))

    async def _take(self, name: str, delay: float) -> None:
        async with self._locks[name]:
            while (wait := self._next.get(name, 0.0) - time.time()) > 0:  # noqa: ASYNC110  # a sleep may end early
                await asyncio.sleep(wait)
            self._next[name] = time.time() + delay


class InMemoryScheduler(BaseScheduler):
    """Hands out nothing and queues nothing: requests are sent one by one by whoever asks."""

    epoch = 0  # nothing is told to a server

    def __init__(self, frontier: InMemoryFrontier) -> None:
        self.frontier = self.shared = frontier
        self._tickets: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read delay and scope from the settings."""
        limits = limits_of(config_of(crawler))
        return cls(InMemoryFrontier(limits.delay, limits.scope_by, delays_of(limits)))

    def has_pending_requests(self) -> bool:
        """Nothing waits here."""
        return False

    def enqueue_request(self, request: Request) -> bool:  # noqa: ARG002  # Scrapy's signature
        """Nothing is queued."""
        return False

    def next_request(self) -> Request | None:
        """Nothing comes from here."""
        return None

    async def wait_turn(self, url: str) -> None:
        """The turn of a request that follows at once."""
        scope = self.frontier.scope_of(url)
        await self.frontier.take_turn(scope)
        self._tickets.add(scope)

    def is_in_time(self, request: Request) -> bool:  # noqa: ARG002  # as the scheduler's
        """Nobody else has a turn here."""
        return True

    def may_be_sent(self, request: Request) -> bool:  # noqa: ARG002  # as the scheduler's
        """The wire's last question: nobody else has a turn here."""
        return True

    async def turn(self, request: Request) -> None:
        """The politeness gate's question: wait until this very request may be sent."""
        scope = self.frontier.scope_of(request.url)
        if scope in self._tickets:
            self._tickets.discard(scope)
        else:
            await self.frontier.take_turn(scope)

    async def before_connecting(self, request: Request, address: str) -> None:
        """One request after the other: nobody stands in line."""

    async def before_writing(self, request: Request, address: str, patience: float) -> None:  # noqa: ARG002
        """Wait until a request may be written to a connection that leads to this address."""
        await self.frontier.take_address(address)
