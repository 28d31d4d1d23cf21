"""How far apart requests to one address have to be, and which addresses are one machine's."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import lru_cache

from crawler.policy.network import plain_address

_CUSTOMER = 64
"""Bits of an IPv6 address that name one customer's network: a hoster gives each site of a machine an address in it
(RFC 6177, RIPE-690)."""


class AddressDelays:
    """Seconds between two requests to one address: those of the longest network that holds it, else `usual`.

    `networks`: seconds by network (CIDR). `least`: no answer is below this, whatever the networks say.
    """

    def __init__(self, usual: float, networks: Mapping[str, float], least: float = 0.0) -> None:
        self._usual, self._least = usual, least
        known = ((ipaddress.ip_network(name), seconds) for name, seconds in networks.items())
        self._networks = sorted(known, key=lambda entry: -entry[0].prefixlen)
        self.of = lru_cache(10_000)(self._of)
        self.is_off = not (usual or least or any(networks.values()))

    def _of(self, address: str) -> float:
        ip = plain_address(address)
        own = (seconds for network, seconds in self._networks if ip.version == network.version and ip in network)
        return max(self._least, next(own, self._usual))


@lru_cache(10_000)
def budget_of(address: str) -> str:
    """Whose budget a request to this address uses up: the IPv4 address, or the /64 that an IPv6 address lies in.

    Raises: ValueError where it is no IP address.
    """
    ip = plain_address(address)
    return str(ip) if ip.version == 4 else str(ipaddress.ip_network((ip, _CUSTOMER), strict=False))
