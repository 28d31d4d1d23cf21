"""A forward proxy of one's own, with its login; and the words in which it is asked for a tunnel.

A tunnel leads to an address that was checked here (CONNECT, for http too, or SOCKS5): the proxy is told no name, so it
looks none up. What it answers is sorted by whose trouble it is. Pure, but for reading logins.
"""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Generator
from dataclasses import dataclass, field
from enum import Enum

from crawler.config import Config
from crawler.config.egress import ProxyAddress, proxy_address
from crawler.config.secret import secret_at
from crawler.problems import InputError

MAX_HEAD = 16_384
"""Bytes of an answer to CONNECT."""
_STATUS = re.compile(rb"HTTP/1\.[0-9] ([0-9]{3})(?:[ \r\n]|$)")
_LOGIN_REFUSED = frozenset({401, 407})
"""What proxies answer to a login that is missing or wrong (tinyproxy: 401 to a wrong one)."""
_NOT_REACHED = frozenset({403, 500, 502, 503, 504})
"""What proxies answer where the site is not reached, or is not to be. Their own trouble may look alike."""
_SOCKS = {
    1: "general failure",
    2: "its rules do not allow it",
    3: "network not reached",
    4: "host not reached",
    6: "no answer in time",
    8: "it knows no addresses of this kind",
}
_REFUSED_BY_SITE = 5  # RFC 1928: the only reply that is certainly the site's


class Blame(Enum):
    """Whose trouble it is that there is no tunnel."""

    PROXY = "proxy"
    SITE = "site"
    UNCLEAR = "unclear"


class NoTunnelError(Exception):
    """A proxy gives no tunnel; the message names it, and no credentials. status: of CONNECT, 0 = none; is_silent: it
    was asked and does not answer."""

    def __init__(self, message: str, blame: Blame, status: int = 0, *, is_silent: bool = False) -> None:
        super().__init__(message)
        self.blame, self.status, self.is_silent = blame, status, is_silent


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy. user, password: UTF-8; both empty = none."""

    address: ProxyAddress
    user: bytes = field(default=b"", repr=False)
    password: bytes = field(default=b"", repr=False)

    @property
    def name(self) -> str:
        """host:port."""
        return self.address.name


def proxies_of(config: Config) -> list[Proxy]:
    """The proxies of EGRESS_PROXIES with their logins; empty where requests leave directly.

    Raises: InputError where a login cannot be read, one sentence each.
    """
    found, problems = [], list[str]()
    for text in config.policy.egress_proxies:
        address = proxy_address(text)
        try:
            found.append(Proxy(address, *_login(address.login)))
        except ValueError as error:
            problems.append(f"EGRESS_PROXIES: the login of {address.name}: {error}")
    if problems:
        raise InputError(problems)
    return found


def _login(place: str) -> tuple[bytes, bytes]:
    """User and password. Raises: ValueError with a sentence that shows nothing of them."""
    if not place:
        return b"", b""
    text, name = secret_at(place, "user:password")
    user, colon, password = text.partition(":")
    parts = user.encode("utf-8", "surrogateescape"), password.encode("utf-8", "surrogateescape")
    if not (user and colon) or not (text.isprintable() and all(len(part) < 256 for part in parts)):
        raise ValueError(f"{name} has to hold one line user:password, each of at most 255 bytes")
    return parts


Words = Generator[bytes, bytes, bytes]
"""Yields what is to be sent (may be empty), is sent what has come; returns what came behind the last word."""


def ask_for_tunnel(proxy: Proxy, address: str, port: int) -> Words:
    """The words that open a tunnel to this address. Raises: NoTunnelError."""
    words = _connect if proxy.address.kind == "http" else _socks
    return words(proxy, address, port)


def greet(proxy: Proxy) -> Words:
    """The words that tell whether a proxy is there and lets us in; nothing is connected to.

    A CONNECT to a port of the proxy's own machine at which nothing listens: any answer is a sign of life.
    Raises: NoTunnelError.
    """
    if proxy.address.kind == "http":
        try:
            yield from _connect(proxy, "127.0.0.1", 1)
        except NoTunnelError as error:
            if error.blame is Blame.PROXY:
                raise
        return b""
    return (yield from _socks_greeting(proxy))


def _connect(proxy: Proxy, address: str, port: int) -> Words:
    target = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.user:
        login = base64.b64encode(proxy.user + b":" + proxy.password).decode("ascii")
        lines.append(f"Proxy-Authorization: Basic {login}")
    head = yield "\r\n".join([*lines, "", ""]).encode("ascii")
    while b"\r\n\r\n" not in head and b"\n\n" not in head:
        if len(head) > MAX_HEAD:
            raise NoTunnelError(f"{proxy.name} is no forward proxy: its answer has no end", Blame.PROXY)
        head += yield b""
    found = _STATUS.match(head)
    if found is None:
        raise NoTunnelError(f"{proxy.name} is no forward proxy for http: it does not speak HTTP/1.1", Blame.PROXY)
    status = int(found[1])
    if 200 <= status < 300:
        cut = re.search(rb"\r?\n\r?\n", head)
        return head[cut.end() :] if cut else b""
    if status in _LOGIN_REFUSED:
        raise NoTunnelError(f"{proxy.name} {_login_refused(proxy)} ({status})", Blame.PROXY, status)
    if status in _NOT_REACHED:
        raise NoTunnelError(f"{proxy.name} does not reach {target} ({status})", Blame.UNCLEAR, status)
    raise NoTunnelError(f"{proxy.name} does not take CONNECT {target} ({status})", Blame.PROXY, status)


def _login_refused(proxy: Proxy) -> str:
    if not proxy.user:
        return "requires a login: give its place as ?login=env:NAME"
    return f"does not accept this login: check {proxy.address.login}"


def _socks(proxy: Proxy, address: str, port: int) -> Words:
    """RFC 1928."""
    came = yield from _socks_greeting(proxy)
    ip = ipaddress.ip_address(address)
    kind = b"\x01" if ip.version == 4 else b"\x04"
    came += yield b"\x05\x01\x00" + kind + ip.packed + port.to_bytes(2, "big")
    while len(came) < 5:
        came += yield b""
    if came[0] != 5:
        raise _no_socks(proxy)
    if code := came[1]:
        target = f"[{address}]:{port}" if ip.version == 6 else f"{address}:{port}"
        if code == _REFUSED_BY_SITE:
            raise NoTunnelError(f"{target} refuses the connection", Blame.SITE)
        why = _SOCKS.get(code)
        blame = Blame.UNCLEAR if why else Blame.PROXY
        raise NoTunnelError(f"{proxy.name} does not reach {target} ({why or f'SOCKS reply {code}'})", blame)
    sizes = {1: 10, 3: 7 + came[4], 4: 22}
    if came[3] not in sizes:
        raise _no_socks(proxy)
    while len(came) < sizes[came[3]]:
        came += yield b""
    return came[sizes[came[3]] :]


def _socks_greeting(proxy: Proxy) -> Words:
    """Until the proxy lets us in (RFC 1929). Returns what came behind that."""
    came = yield b"\x05\x02\x00\x02" if proxy.user else b"\x05\x01\x00"
    while len(came) < 2:
        came += yield b""
    version, method, came = came[0], came[1], came[2:]
    if version != 5:
        raise _no_socks(proxy)
    if method == 0:
        return came
    if method != 2 or not proxy.user:
        raise NoTunnelError(f"{proxy.name} {_login_refused(proxy)}", Blame.PROXY)
    came += yield b"".join(
        (b"\x01", bytes([len(proxy.user)]), proxy.user, bytes([len(proxy.password)]), proxy.password)
    )
    while len(came) < 2:
        came += yield b""
    if came[1]:
        raise NoTunnelError(f"{proxy.name} {_login_refused(proxy)}", Blame.PROXY)
    return came[2:]


def _no_socks(proxy: Proxy) -> NoTunnelError:
    return NoTunnelError(f"{proxy.name} is no forward proxy for socks5: it does not speak SOCKS5", Blame.PROXY)
