"""Can the hosts that somebody names be reached with these settings? Asked before a crawl makes its folder.

Only what a person named is looked up, and only where it is little: a list of domains takes its time in the crawl.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

from crawler.config import Config
from crawler.policy.network import METADATA, NetworkRules, rules_of

MOST_LOOKED_UP = 3
"""Hosts whose addresses are asked for."""


def closed_addresses(host: str) -> list[str]:
    """The addresses of a host that are not open to everybody, as networks of one; never a cloud's metadata."""
    try:
        known = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return []
    closed = (address for address in known if NetworkRules().address_complaint(address))
    found = (ipaddress.ip_address(address.split("%", 1)[0]) for address in closed)
    return sorted(str(ipaddress.ip_network(address)) for address in found if address not in METADATA)


def problem_of(config: Config, hosts: Collection[str]) -> str | None:
    """What keeps every one of these hosts from being asked, with the settings that open them; None where one may be.

    hosts: as in a URL, with a port where it is not the usual one.
    """
    if not hosts or len(hosts) > MOST_LOOKED_UP:
        return None
    allow, ports = set[str](), set[int]()
    for host in hosts:
        parts = urlsplit(f"//{host}")
        port = {parts.port} - {None, *config.policy.network_ports}
        closed = _refused(config, parts.hostname or "")
        if not (port or closed):
            return None
        allow.update(closed)
        ports.update(number for number in port if number is not None)
    said = []
    if allow:
        said.append(f"-s NETWORK_ALLOW={','.join([*config.policy.network_allow, *sorted(allow)])}")
    if ports:
        said.append(f"-s NETWORK_PORTS={','.join(map(str, sorted({*config.policy.network_ports, *ports})))}")
    names = " and ".join(sorted(hosts))
    if allow:
        where = "is on this machine or in a private network" if len(hosts) == 1 else "are not open to everybody"
        return f"{names} {where}, where a crawl connects only if you allow it: add --allow-local, or {' '.join(said)}"
    return f"{names}: the crawl does not connect to this port: add {' '.join(said)}"


def _refused(config: Config, host: str) -> list[str]:
    """The closed addresses of the host, where the rules leave it no address at all."""
    closed = closed_addresses(host)
    rules = rules_of(config)
    rules.loopback_only = False  # a missing contact is told by itself
    open_now = {address for address in closed if rules.address_complaint(address.partition("/")[0]) is None}
    return [] if open_now else closed
