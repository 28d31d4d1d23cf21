"""Is a proxy there, does it let us in, and does it take the ports of this crawl? Asked with plain sockets.

No site is connected to: what tunnels are asked for is the proxy's own machine, and an address that documentation has.
"""

from __future__ import annotations

import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor

from crawler.config import Config
from crawler.downloader.proxies import Blame, NoTunnelError, Proxy, Words, ask_for_tunnel, greet, proxies_of
from crawler.problems import InputError

PATIENCE = 5.0
"""Seconds that a proxy has for its greeting."""
_NOBODY = "192.0.2.1"
"""Documentation's (RFC 5737): nobody is there, and a proxy that does not allow a port says so before it looks."""
_RULE_SECONDS = 2.0
_AT_ONCE = 16


def trouble_of(proxy: Proxy) -> str | None:
    """Why the proxy does not serve, in a sentence; None where it is there and lets us in. Takes at most PATIENCE."""
    try:
        _said(proxy, greet(proxy), PATIENCE)
    except NoTunnelError as error:
        return str(error) if error.blame is Blame.PROXY else None
    except OSError as error:
        return unreached(proxy, error)
    return None


def unreached(proxy: Proxy, error: BaseException) -> str:
    """What is said of a proxy that is not connected to, or says nothing."""
    if "Timeout" in type(error).__name__:  # Python's, or Twisted's
        return f"{proxy.name} does not answer"
    number = getattr(error, "osError", None)  # Twisted's
    why = os.strerror(number) if number else getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{proxy.name} is not reached ({why})"


def refuses_port(proxy: Proxy, port: int) -> bool:
    """True where the proxy says that it makes no tunnels to this port. Silence is no such word."""
    if proxy.address.kind != "http":
        return False
    try:
        _said(proxy, ask_for_tunnel(proxy, _NOBODY, port), _RULE_SECONDS)
    except NoTunnelError as error:
        return error.status in {403, 405}
    except OSError:
        return False
    return False


def launch_problems(config: Config) -> tuple[list[str], list[str]]:
    """What keeps a crawl from leaving through EGRESS_PROXIES, and what it may begin with all the same."""
    try:
        proxies = proxies_of(config)
    except InputError as error:
        return list(error.problems), []
    if not proxies:
        return [], []
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        found = {proxy.name: said for proxy, said in zip(proxies, threads.map(trouble_of, proxies), strict=True)}
        asked = [(proxy, port) for proxy in proxies if not found[proxy.name] for port in config.policy.network_ports]
        refused = threads.map(lambda pair: refuses_port(*pair), asked)
        problems = [
            f"EGRESS_PROXIES: {proxy.name} refuses CONNECT to port {port}: allow it there (tinyproxy: ConnectPort; "
            "squid: SSL_ports), or take the port out of NETWORK_PORTS"
            for (proxy, port), is_refused in zip(asked, refused, strict=True)
            if is_refused
        ]
    away = [said for said in found.values() if said]
    if len(away) == len(proxies):
        return [f"EGRESS_PROXIES: {'; '.join(away)}: no request is sent without a proxy", *problems], []
    return problems, [f"EGRESS_PROXIES: {said}: its sites go through the others" for said in away]


def _said(proxy: Proxy, words: Words, seconds: float) -> None:
    """Say the words to their end. Raises: NoTunnelError, OSError."""
    until = time.monotonic() + seconds
    with socket.create_connection((proxy.address.host, proxy.address.port), seconds) as connection:
        sending = next(words)
        while True:
            connection.settimeout(max(0.001, until - time.monotonic()))
            connection.sendall(sending)
            came = connection.recv(65_536)
            if not came:
                raise ConnectionResetError(0, "it hangs up")
            try:
                sending = words.send(came)
            except StopIteration:
                return
