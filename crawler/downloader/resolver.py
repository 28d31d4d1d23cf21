"""The DNS resolver returns only permitted addresses (`TWISTED_DNS_RESOLVER`).

Twisted's endpoints ask the reactor's resolver for every host, IP literals in any spelling included, and connect to the
addresses it answers without asking again: what is checked is what is connected to, so a name that changes its address
between check and use (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import logging
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IHostnameResolver, IHostResolution
from twisted.internet.threads import deferToThreadPool
from zope.interface import implementer  # type: ignore[import-untyped]  # ships no types

from crawler.policy.network import NetworkRules, rules_of
from crawler.runtime import load

if TYPE_CHECKING:
    from typing import Self

logger = logging.getLogger(__name__)

MAX_NAMES = 10_000
FOUND_SECONDS, MISSING_SECONDS = 300.0, 30.0
"""How long an answer is believed; the system's resolver does not tell the real time to live."""


class Bounded(OrderedDict[str, Any]):
    """A dictionary that forgets its oldest entries beyond MAX_NAMES."""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > MAX_NAMES:
            self.popitem(last=False)


refusals: Bounded = Bounded()
"""Lower-case host name → why its last look-up left no address. Read by `guard.py`: Twisted only says "not found"."""


@implementer(IHostResolution)
class _Resolution:
    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Nothing to cancel: the thread runs on, its answer is not waited for."""


@implementer(IHostnameResolver)
class GuardedResolver:
    """Resolves IPv4 and IPv6 in threads, with a time-out, a bounded cache and `NetworkRules` applied to the answer."""

    def __init__(
        self, reactor: Any, rules: NetworkRules, timeout: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._reactor = reactor
        self._rules = rules
        self._timeout = timeout
        self._clock = clock
        self._cache = Bounded()

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> Self:
        """Scrapy passes its CrawlerProcess: only `settings` is there."""
        return cls(reactor, rules_of(load(crawler.settings)), crawler.settings.getfloat("DNS_TIMEOUT"))

    def install_on_reactor(self) -> None:
        """Scrapy calls this once, before the reactor runs."""
        self._reactor.installNameResolver(self)

    def resolveHostName(  # noqa: N802  # Twisted's name
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803, ARG002
    ) -> _Resolution:
        """See `twisted.internet.interfaces.IHostnameResolver`."""
        resolution = _Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)

        def deliver(addresses: list[str]) -> None:
            for address in addresses:
                kind = IPv6Address if ":" in address else IPv4Address
                if addressTypes is None or kind in addressTypes:
                    resolutionReceiver.addressResolved(kind("TCP", address, portNumber))
            resolutionReceiver.resolutionComplete()

        self._permitted(hostName.lower()).addCallback(deliver)
        return resolution

    async def addresses_of(self, host: str) -> list[str]:
        """The permitted addresses of a host, in the order in which they are tried; empty where there is none."""
        return await maybe_deferred_to_future(self._permitted(host.lower()))

    def _permitted(self, host: str) -> Deferred[list[str]]:
        expires, addresses = self._cache.get(host, (0.0, []))
        waiting: Deferred[list[str]]
        if expires > self._clock():
            waiting = Deferred()
            waiting.callback(self._filtered(host, addresses))
            return waiting
        waiting = deferToThreadPool(self._reactor, self._reactor.getThreadPool(), _look_up, host)
        waiting.addTimeout(self._timeout, self._reactor)
        waiting.addErrback(lambda _failure: [])
        waiting.addCallback(lambda found: self._filtered(host, self._remember(host, found)))
        return waiting

    def _remember(self, host: str, addresses: list[str]) -> list[str]:
        lifetime = FOUND_SECONDS if addresses else MISSING_SECONDS
        self._cache[host] = (self._clock() + lifetime, addresses)
        return addresses

    def _filtered(self, host: str, addresses: list[str]) -> list[str]:
        complaints = {address: self._rules.address_complaint(address) for address in addresses}
        permitted = [address for address, complaint in complaints.items() if complaint is None]
        refused = next((c for c in complaints.values() if c), None)
        if refused and not permitted:
            refusals[host] = refused
        else:
            refusals.pop(host, None)
        return permitted


async def resolved(host: str) -> list[str]:
    """What the reactor's resolver answers for a host; empty where it is none of ours (replays connect to nothing)."""
    from twisted.internet import reactor  # installed when the first request comes, not when this is imported

    found = getattr(reactor, "nameResolver", None)
    return await found.addresses_of(host) if isinstance(found, GuardedResolver) else []


def _look_up(host: str) -> list[str]:
    """Addresses in the system's order of preference; empty where the name does not exist."""
    try:
        found = socket.getaddrinfo(host, None, socket.AF_UNSPEC, socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
