"""A connection through a proxy, which behaves as one to the site: its peer is the address that was checked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint
from twisted.internet.error import ConnectError
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer  # type: ignore[import-untyped]  # ships no types

from crawler.downloader.proxies import Blame, NoTunnelError, Proxy, ask_for_tunnel
from crawler.downloader.proxy_probe import unreached


@dataclass(frozen=True, slots=True)
class SiteAddress:
    """Where a tunnel ends, as Twisted's addresses say it; and by which proxy."""

    host: str
    port: int
    proxy: Proxy
    type: str = "TCP"


@implementer(IStreamClientEndpoint)
class Route:
    """An endpoint of Twisted's that connects by `connect(factory)`, a coroutine."""

    def __init__(self, connect: Callable[[Any], Any]) -> None:
        self._connect = connect

    def connect(self, protocolFactory: Any) -> Deferred[Any]:  # noqa: N803  # Twisted's name
        """See `IStreamClientEndpoint`."""
        return deferred_from_coro(self._connect(protocolFactory))


class Tunnel(Protocol):
    """The connection to the proxy; once the tunnel is there, what `factory` makes lives in it.

    ended(by_us): called once, after the tunnel was there.
    """

    def __init__(self, site: SiteAddress, factory: Any, ended: Callable[[Tunnel, bool], None]) -> None:
        self._site, self._factory, self._ended = site, factory, ended
        self._words = ask_for_tunnel(site.proxy, site.host, site.port)
        self._inner: Any = None
        self.has_come = False  # a word of the proxy
        self.is_ours = False  # we end it
        self.ready: Deferred[Any] = Deferred()

    def connectionMade(self) -> None:  # noqa: N802  # Twisted's name
        """Say the first word."""
        self._write(next(self._words))

    def dataReceived(self, data: bytes) -> None:  # noqa: N802  # Twisted's name
        """The proxy's words, then the site's."""
        if self._inner is not None:
            self._inner.dataReceived(data)
            return
        if self.ready.called:
            return
        self.has_come = True
        try:
            self._write(self._words.send(data))
        except StopIteration as end:
            self._begin(end.value)
        except NoTunnelError as error:
            self._give_up(error)

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802  # Twisted's name
        """The inner connection is lost with it."""
        if self._inner is not None:
            self._ended(self, self.is_ours)
            self._inner.connectionLost(reason)
        elif not self.ready.called:
            why = NoTunnelError(f"{self._site.proxy.name} hangs up", Blame.UNCLEAR if self.has_come else Blame.PROXY)
            self.ready.errback(why)

    def abandon(self) -> None:
        """Nobody waits for it any more."""
        self.is_ours = True
        transport: Any = self.transport
        if transport is not None:
            transport.abortConnection()

    def _write(self, words: bytes) -> None:
        transport: Any = self.transport
        if words:
            transport.write(words)

    def _give_up(self, why: Exception) -> None:
        self.ready.errback(why)
        self.abandon()

    def _begin(self, rest: bytes) -> None:
        try:
            inner = self._factory.buildProtocol(self._site)
        except Exception as error:  # the guard's no
            self._give_up(error)
            return
        inner.makeConnection(_SiteTransport(self))
        self._inner = inner
        self.ready.callback(inner)
        if rest:
            inner.dataReceived(rest)

    @property
    def site(self) -> SiteAddress:
        """Where it leads."""
        return self._site


class _SiteTransport:
    """The transport as the inner connection sees it."""

    def __init__(self, tunnel: Tunnel) -> None:
        self._tunnel = tunnel
        self._transport: Any = tunnel.transport

    def getPeer(self) -> SiteAddress:  # noqa: N802  # Twisted's name
        """The site."""
        return self._tunnel.site

    def loseConnection(self) -> None:  # noqa: N802  # Twisted's name
        """We end it."""
        self._tunnel.is_ours = True
        self._transport.loseConnection()

    def abortConnection(self) -> None:  # noqa: N802  # Twisted's name
        """We end it at once."""
        self._tunnel.abandon()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


async def connected(reactor: Any, host: str, tunnel: Tunnel, seconds: float, bind: Any) -> Any:
    """What lives in the tunnel, once it is there. host: an address of the proxy; seconds: for each of its two answers.

    Raises: NoTunnelError; what the tunnel's factory raises.
    """
    proxy = tunnel.site.proxy
    endpoint: Any = (TCP6ClientEndpoint if ":" in host else TCP4ClientEndpoint)(
        reactor, host, proxy.address.port, timeout=seconds, bindAddress=bind
    )
    try:
        async with asyncio.timeout(seconds):
            await maybe_deferred_to_future(endpoint.connect(_Made(tunnel)))
    except (ConnectError, OSError) as error:  # a time-out among them
        raise NoTunnelError(unreached(proxy, error), Blame.PROXY) from error
    try:
        async with asyncio.timeout(seconds):
            return await maybe_deferred_to_future(tunnel.ready)
    except TimeoutError:
        # http says nothing until it has reached the site, or not; socks greets first
        silent = proxy.address.kind != "http" and not tunnel.has_come
        blame = Blame.PROXY if silent else Blame.UNCLEAR
        raise NoTunnelError(f"{proxy.name} does not answer", blame, is_silent=True) from None
    finally:
        if tunnel._inner is None:
            tunnel.abandon()


class _Made(Factory):
    """Makes one protocol, which is there already."""

    noisy = False

    def __init__(self, tunnel: Tunnel) -> None:
        self._tunnel = tunnel

    def buildProtocol(self, addr: Any) -> Tunnel:  # noqa: N802, ARG002  # Twisted's name
        """The tunnel."""
        return self._tunnel
