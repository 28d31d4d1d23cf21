"""Where the forward proxies of one's own are, as EGRESS_PROXIES says it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from crawler.config.secret import PLACE

KINDS = ("http", "socks5")
_EXPECTED = "expected http://host:port or socks5://host:port"
_REFERENCE = (
    "?login=env:NAME (an environment variable) or ?login=file:PATH behind the port, each with user:password in it"
)


@dataclass(frozen=True, slots=True)
class ProxyAddress:
    """Where a proxy is. kind: of `KINDS`; login: where user and password stand, env:NAME or file:PATH, "" = none."""

    kind: str
    host: str
    port: int
    login: str = ""

    @property
    def name(self) -> str:
        """host:port, as everything that people see calls it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def proxy_address(text: str) -> ProxyAddress:
    """What one URL of EGRESS_PROXIES says. Raises: ValueError with a sentence that shows no credentials."""
    parts = urlsplit(text)
    if "@" in parts.netloc:
        raise ValueError(f"credentials may not be part of a URL, which is logged: give {_REFERENCE}")
    try:
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{_EXPECTED} ({error})") from None
    if parts.scheme not in KINDS:
        hint = ": names are looked up and checked here, so socks5 it is" if parts.scheme == "socks5h" else ""
        raise ValueError(f"{_EXPECTED}, not the scheme {parts.scheme[:20]!r}{hint}")
    if not parts.hostname or not port or parts.path not in {"", "/"} or parts.fragment:
        raise ValueError(f"{_EXPECTED}, with a port from 1 to 65535 and no path")
    login = ""
    if parts.query:
        given = parse_qsl(parts.query, keep_blank_values=True)
        if [name for name, _ in given] != ["login"] or not PLACE.fullmatch(given[0][1]):
            raise ValueError(f"a login is given by its place only: {_REFERENCE}")
        login = given[0][1]
    return ProxyAddress(parts.scheme, parts.hostname, port, login)


def check_proxies(value: tuple[str, ...]) -> str | None:
    """What is wrong with a list of proxies; None where nothing is."""
    seen: set[str] = set()
    for text in value:
        if not text.strip():  # a variable that is not set must not send a crawl out directly
            return f"an entry is empty: {_EXPECTED} for each, or no value at all where requests are to leave directly"
        try:
            name = proxy_address(text).name
        except ValueError as error:
            return str(error)
        if name in seen:
            return f"{name} is listed twice: name each proxy once"
        seen.add(name)
    return None
