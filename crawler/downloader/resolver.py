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
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import TimeoutError as TxTimeoutError
from twisted.internet.interfaces import IHostnameResolver, IHostResolution
from twisted.internet.threads import deferToThreadPool
from zope.interface import implementer  # type: ignore[import-untyped]  # ships no types

from crawler.policy.network import NetworkRules, rules_of
from crawler.runtime import load
from crawler.trouble import of_this_machine, perhaps_of_this_machine

if TYPE_CHECKING:
    from typing import Self

logger = logging.getLogger(__name__)

MAX_NAMES = 10_000
FOUND_SECONDS, MISSING_SECONDS, UNANSWERED_SECONDS = 300.0, 30.0, 0.5
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
unanswered: Bounded = Bounded()
"""Lower-case host name → the error of a look-up that nobody answered; a name that does not exist is an answer."""


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
        self._latest = ""  # name that was answered, with addresses or that there are none

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

    async def looks_up(self) -> bool | None:
        """Is an answer to be had now? Asks anew for the latest name that was looked up; None before there was one."""
        return None if not self._latest else _is_answer(await maybe_deferred_to_future(self._asked(self._latest)))

    def _permitted(self, host: str) -> Deferred[list[str]]:
        expires, addresses = self._cache.get(host, (0.0, []))
        if expires > self._clock():
            return succeed(self._filtered(host, addresses))
        if (literal := _literal(host)) is not None:
            return succeed(self._filtered(host, literal))
        waiting = self._asked(host)
        waiting.addCallback(lambda found: self._filtered(host, self._remember(host, found)))
        return waiting

    def _asked(self, host: str) -> Deferred[Any]:
        """The addresses, or the error of the look-up."""
        waiting = deferToThreadPool(self._reactor, self._reactor.getThreadPool(), _look_up, host)
        waiting.addTimeout(self._timeout, self._reactor)
        return waiting.addErrback(lambda failure: failure.value)

    def _remember(self, host: str, found: list[str] | BaseException) -> list[str]:
        addresses = found if isinstance(found, list) else []
        if _is_answer(found):
            self._latest = host
            unanswered.pop(host, None)
            lifetime = FOUND_SECONDS if addresses else MISSING_SECONDS
        else:
            unanswered[host], lifetime = found, UNANSWERED_SECONDS
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


async def looks_up() -> bool | None:
    """As `GuardedResolver.looks_up`, of the reactor's resolver; None where it is none of ours."""
    from twisted.internet import reactor

    found = getattr(reactor, "nameResolver", None)
    return await found.looks_up() if isinstance(found, GuardedResolver) else None


def _is_answer(found: list[str] | BaseException) -> bool:
    """True for addresses, and where somebody said that there is no such name, or it cannot be one."""
    if isinstance(found, list):
        return True
    if isinstance(found, TxTimeoutError | TimeoutError):
        return False
    return of_this_machine(found) is None and perhaps_of_this_machine(found) is None


def _literal(host: str) -> list[str] | None:
    """The address of an IP literal in any spelling that connects, for which nobody is asked; None for a name."""
    try:
        return [socket.inet_ntoa(socket.inet_aton(host))]
    except (OSError, ValueError):
        pass
    try:
        return [socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, host))]
    except (OSError, ValueError):
        return None


def _look_up(host: str) -> list[str]:
    """Addresses in the system's order of preference. Raises: OSError, UnicodeError where there are none.

    The system's resolver does not say that it found no descriptor to ask with: whether there is one is tried.
    """
    try:
        found = socket.getaddrinfo(host, None, socket.AF_UNSPEC, socket.SOCK_STREAM)
    except OSError:
        socket.socket().close()
        raise
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
