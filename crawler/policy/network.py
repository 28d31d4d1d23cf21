"""The network rules say which URLs may be requested and which addresses may be connected to.

A crawler follows links that strangers wrote. It must not become their way into the network it runs in (server-side
request forgery): only http and https, only the configured ports, only globally routable addresses.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from crawler.config import Config

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_URL = 2_083
"""Longest URL that is fetched, in characters."""

_MAX_ORIGINS = 10_000
"""Answers about scheme and authority that are remembered: a site's pages share theirs."""
_UNCLEAN = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_PORTS = {"http": 80, "https": 443}

_SPECIAL = tuple(
    ipaddress.ip_network(text)
    for text in (
        # RFC 6890 and its updates; spelled out because what `is_global` knows depends on the Python version
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("::/128", "::1/128", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32"),
        *("2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
    )
)
METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in ("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254")
)
"""Cloud metadata services; Azure's is globally routable."""


class NetworkRules:
    """What the crawl may connect to. Pure; the same object serves the URL check, the resolver and the connection check.

    `allow`: networks that are opened although not globally routable (tests, demos, an intranet). `ports`: what may be
    connected to. `loopback_only`: refuse every other address, because nobody could be asked about this crawler.
    """

    def __init__(
        self, allow: Iterable[str] = (), ports: Iterable[int] = (80, 443), loopback_only: bool = False
    ) -> None:
        self.allow: tuple[Network, ...] = tuple(ipaddress.ip_network(item) for item in allow)
        self.ports = frozenset(ports)
        self.loopback_only = loopback_only
        self._origins: dict[tuple[str, str], str | None] = {}  # scheme and authority → complaint; nothing else counts

    def url_complaint(self, url: str) -> str | None:
        """Why this URL may not be requested; None where it may (its addresses are still to be checked)."""
        if len(url) > MAX_URL:
            return f"URL has more than {MAX_URL} characters"
        if _UNCLEAN.search(url):
            return "URL holds a control character, a space or a backslash"
        try:
            parts = urlsplit(url)
            origin = parts.scheme, parts.netloc
            if origin not in self._origins:
                if len(self._origins) >= _MAX_ORIGINS:
                    self._origins.clear()
                port = _PORTS.get(parts.scheme, 0) if parts.port is None else parts.port
                self._origins[origin] = self._parts_complaint(parts, port)
            return self._origins[origin]
        except ValueError:
            return "URL cannot be parsed"

    def _parts_complaint(self, parts: SplitResult, port: int) -> str | None:
        if parts.scheme not in _PORTS:
            return f"scheme {parts.scheme[:20]!r} is not http or https"
        if parts.username is not None or parts.password is not None:
            return "URL holds user information"
        if not parts.hostname:
            return "URL has no host"
        if port not in self.ports:
            return f"port {port} is not in NETWORK_PORTS"
        literal = _literal(parts.hostname)
        return self.address_complaint(literal) if literal else None

    def address_complaint(self, address: str | Address) -> str | None:
        """Why nothing may be sent to this address; None where it is open."""
        try:
            ip = plain_address(address)
        except ValueError:
            return "not an IP address"
        if self.loopback_only and not ip.is_loopback:
            return NO_CONTACT
        if any(ip.version == network.version and ip in network for network in self.allow):
            return None
        if ip in METADATA:
            return f"{ip} is a cloud metadata address"
        if not ip.is_global or any(ip.version == network.version and ip in network for network in _SPECIAL):
            return f"{ip} is not a globally routable address"
        return None


def rules_of(config: Config) -> NetworkRules:
    """The rules that the configuration asks for."""
    policy = config.policy
    return NetworkRules(policy.network_allow, policy.network_ports, loopback_only=not config.crawl.contact)


NO_CONTACT = "CRAWLER_CONTACT is not set: without a contact the crawl does not leave loopback"


def plain_address(address: str | Address) -> Address:
    """The address that a packet would really go to: zone removed, IPv4 taken out of its IPv6 mapping."""
    ip = ipaddress.ip_address(address.split("%", 1)[0]) if isinstance(address, str) else address
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    return ip


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.split("%", 1)[0])
    except ValueError:
        return None
