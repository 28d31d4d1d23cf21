"""The download handler closes a connection to a forbidden address before a byte is sent.

The resolver has checked the address already; this is the second lock, on what the socket is really connected to. The
same place sees to it that a request is sent once: whether and when to try again is the frontier's to say.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, runtime_checkable
from typing import Protocol as TypingProtocol
from urllib.parse import urldefrag, urlsplit

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DownloadFailedError
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import CancelledError
from twisted.web.client import URI

from crawler.downloader.certificates import Certificates
from crawler.downloader.egress import Egress, egress_of
from crawler.downloader.own_trouble import OwnTrouble
from crawler.downloader.private import Factory, Protocol, connect_through, remember_encoded_names, reroute, verify_by
from crawler.downloader.proxies import Blame, NoTunnelError, Proxy
from crawler.downloader.resolver import resolved
from crawler.downloader.tunnel import Route
from crawler.policy.network import NetworkRules, rules_of
from crawler.runtime import config_of
from crawler.scheduler.in_flight import ANSWERED_AT, SENT_AT
from crawler.scheduler.stopping import stop_crawl
from crawler.scheduler.turned_away import PutBack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.interfaces import IAddress
    from twisted.python.failure import Failure

_USUAL_TIMEOUT, _SHARE_OF_TIMEOUT = 30.0, 0.25  # seconds; share of it that a request may wait on its connection

_ASKED_AGAIN = 8  # times, on a machine too busy to write in time


class ForbiddenAddressError(DownloadFailedError):
    """The connection led to an address that the network rules refuse."""


class _GuardedProtocol(Protocol):
    """Asks before each request and writes down when it went."""

    peer = ""
    proxy: Proxy | None = None
    departures: Departures | None = None

    def request(self, request: Any) -> Any:
        if self.departures is None:
            return super().request(request)
        departing = self.departures.next_for(request.absoluteURI)
        return self._ask_and_write(departing, request, _ASKED_AGAIN)

    def _ask_and_write(self, departing: Request, request: Any, tries: int) -> Any:
        assert self.departures is not None
        asked = deferred_from_coro(self.departures.permitted(departing, self.peer))
        # no coroutine around the request itself: who reads a response must see it before the next bytes arrive
        return asked.addCallback(lambda _: self._write(departing, request, tries)).addErrback(self._abandon)

    def _write(self, departing: Request, request: Any, tries: int) -> Any:
        assert self.departures is not None
        if tries and not self.departures.is_in_time(departing):
            return self._ask_and_write(departing, request, tries - 1)
        self.check_alive()
        self.departures.leaves(departing, request.absoluteURI, self.proxy)
        request.uri = self.departures.targets.get(request.absoluteURI, request.uri)
        return super().request(request)

    def _abandon(self, failure: Failure) -> Failure:
        """Nothing was sent on this connection, and no pool has it."""
        unsent = isinstance(failure.value, PutBack | CancelledError | asyncio.CancelledError)
        if unsent and self.transport is not None:
            self.transport.abortConnection()
        return failure


@runtime_checkable
class GivesAddressTurns(TypingProtocol):
    """A scheduler that knows whose turn it is at an address."""

    async def before_connecting(self, request: Request, address: str) -> None:
        """Wait until a connection for this request may be made. Raises: PutBack."""

    async def before_writing(self, request: Request, address: str, patience: float) -> None:
        """Wait until the request may be written. Raises: PutBack."""

    def is_in_time(self, request: Request) -> bool:
        """False where it has to ask again before it is written: the machine was busy meanwhile."""

    def may_be_sent(self, request: Request) -> bool:
        """The wire's last question: False where the turn or the lease has passed."""


class Departures:
    """What waits to be written, by URL, and when it was (`time.monotonic()`).

    targets: what the request line says for a URL that Twisted would spell otherwise (it drops an empty query).
    """

    def __init__(self, scheduler: Callable[[], GivesAddressTurns | None], egress: Egress | None = None) -> None:
        self._scheduler, self._egress = scheduler, egress
        self._waiting: defaultdict[bytes, list[Request]] = defaultdict(list)
        self.sent: dict[bytes, float] = {}
        self.targets: dict[bytes, bytes] = {}

    @contextmanager
    def announced(self, url: bytes, request: Request) -> Iterator[None]:
        """The request for this URL is about to leave."""
        self._waiting[url].append(request)
        try:
            yield
        finally:
            with suppress(ValueError):  # it has left
                self._waiting[url].remove(request)
            if not self._waiting[url]:
                del self._waiting[url]

    def next_for(self, url: bytes) -> Request:
        """The request that waits longest for this URL. Raises: LookupError where none was announced."""
        return self._waiting[url].pop(0)

    async def permitted(self, request: Request, peer: str) -> None:
        """Wait for its turn at the address that its connection leads to. Raises: PutBack."""
        timeout = float(request.meta.get("download_timeout") or _USUAL_TIMEOUT)
        if (scheduler := self._scheduler()) is not None:
            await scheduler.before_writing(request, peer, timeout * _SHARE_OF_TIMEOUT)

    def is_in_time(self, request: Request) -> bool:
        """False where the turn at its address has passed since."""
        scheduler = self._scheduler()
        return scheduler is None or scheduler.is_in_time(request)

    def leaves(self, request: Request, url: bytes, proxy: Proxy | None = None) -> None:
        """It is written at this moment. Raises: PutBack where its turn or its lease has passed since."""
        scheduler = self._scheduler()
        if scheduler is not None and not (scheduler.is_in_time(request) and scheduler.may_be_sent(request)):
            raise PutBack(time.time())
        self.sent[url] = time.monotonic()
        if self._egress is not None:
            self._egress.written(request, proxy)


def guarded_factory(rules: NetworkRules, departures: Departures | None = None) -> type[Factory]:
    """What the connection pool calls for each new connection: a factory that looks at the peer's address first.

    `departures` is asked before a request is written to its connection.
    """

    class GuardedFactory(Factory):
        protocol = _GuardedProtocol

        def buildProtocol(self, addr: IAddress | None) -> Any:  # noqa: N802  # Twisted's name
            peer = getattr(addr, "host", "")
            complaint = rules.address_complaint(peer)
            if complaint:
                raise ForbiddenAddressError(complaint)
            protocol = super().buildProtocol(addr)
            protocol.departures, protocol.peer, protocol.proxy = departures, peer, getattr(addr, "proxy", None)
            return protocol

    return GuardedFactory


class GuardedDownloadHandler(HTTP11DownloadHandler):
    """`DOWNLOAD_HANDLERS` for http and https."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        remember_encoded_names()
        self._egress = egress_of(crawler)
        if self._egress is not None:
            reroute(self, self._egress.proxy_for, self._route, self._otherwise)
        self._departures = Departures(lambda: self._scheduler, self._egress)
        self._trouble = OwnTrouble(partial(stop_crawl, crawler))
        config = config_of(crawler)
        connect_through(self, guarded_factory(rules_of(config), self._departures))
        verify_by(self, lambda inner: Certificates(inner, config.policy.certificate_exceptions))

    async def download_request(self, request: Request) -> Response:
        """Download, and leave in `request.meta` when the request was really sent: connecting may have taken time.

        Raises also: PutBack where the turn of its address is too far away, or what failed is this machine's trouble.
        """
        try:
            response = await self._download(request)
        except Exception as error:
            if self._egress is not None:
                await self._egress.look_at(error, request)
            await self._trouble.look_at(error, urlsplit(request.url).hostname or "")
            raise
        self._trouble.answered()
        return response

    async def _download(self, request: Request) -> Response:
        exact = urldefrag(request.url)[0].encode("ascii")
        uri = URI.fromBytes(exact)  # type: ignore[no-untyped-call]
        url = uri.toBytes()
        if (at := exact.find(b"/", 8)) > 0 and exact[at:] != uri.originForm:
            self._departures.targets[url] = exact[at:]
        if (scheduler := self._scheduler) is not None:
            for address in (await resolved(urlsplit(request.url).hostname or ""))[:1]:
                await scheduler.before_connecting(request, address)
        try:
            with self._departures.announced(url, request):
                return await super().download_request(request)
        finally:
            self._departures.targets.pop(url, None)
            request.meta[ANSWERED_AT] = time.monotonic()
            if (sent_at := self._departures.sent.pop(url, None)) is not None:
                request.meta[SENT_AT] = sent_at

    def _route(self, proxy: Proxy, host: str, port: int, bind: Any) -> Route:
        assert self._egress is not None
        return Route(partial(self._egress.connect, proxy, host, port, bind))

    def _otherwise(self, proxy: Proxy, failure: Failure) -> None:
        """The proxy's own trouble is noted, and another one taken; anything else is raised."""
        if not (isinstance(failure.value, NoTunnelError) and failure.value.blame is Blame.PROXY):
            failure.raiseException()
        assert self._egress is not None
        self._egress.failed(proxy, str(failure.value))

    @property
    def _scheduler(self) -> GivesAddressTurns | None:
        """None where it gives no turns to hosts either: the gate's is the question whether that may be."""
        scheduler = getattr(self._crawler.engine, "scheduler", None)
        return scheduler if isinstance(scheduler, GivesAddressTurns) else None
