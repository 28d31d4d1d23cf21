"""Where a stream goes: `redis://HOST/STREAM` or `kafka://HOST/TOPIC`, without secrets in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from crawler.config.crawl import has_password
from crawler.stream.message import StreamError
from crawler.stream.state import Waiting

PASSWORD = "STREAM_PASSWORD"  # noqa: S105  # the name of the variable
"""Environment variable with the password for the user in the address."""
EXPECTED = (
    "expected redis://host:port/STREAM, rediss://…, unix:///path/of/socket?stream=STREAM or kafka://host:port/TOPIC"
)
Say = Callable[[str], None]
Places = dict[int, tuple[int, int]]
"""By lane: the last sequence that is there, and where it lies (-1 = its sequence says it)."""


@dataclass(frozen=True, slots=True)
class Present:
    """What a server has of a stream. epoch, sequence: of the last message; writer: who sent it, "" = unknown.

    added: messages since the server began the stream; it falls where the server lost it.
    """

    epoch: int
    sequence: int
    writer: str
    added: int


class LostError(Exception):
    """The server was started again while messages were under way: what it has is to be looked at."""


class Target(Protocol):
    """One stream on a server. What it cannot do it says with a StreamError."""

    url: str
    lanes: int
    largest: int
    """Bytes of the largest record that is sent; a larger one goes as a reference."""
    erases: bool
    """True where messages can be deleted."""

    def lane_of(self, url: str) -> int:
        """The lane of a page."""

    def present(self, epoch: int, delivered: Places) -> Present | None:
        """What is there; None where nothing is. epoch, delivered: what should be, by lane."""

    def send(self, messages: Sequence[Waiting], epoch: int) -> Places:
        """Return when all are there, in the order of their lanes; one that is there already is not sent twice."""

    def trim(self, epoch: int) -> int | None:
        """Drop what every group has read; answers the first sequence of this epoch that is still there, None = all."""

    def close(self) -> None:
        """Let go of the server."""


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of `--to`. server: the address for a client, password included; shown: without it; name: of the stream
    or topic."""

    kind: str
    server: str
    shown: str
    name: str
    user: str


def address_of(url: str) -> Address:
    """Read `--to`. Raises: StreamError, without the secret where there is one."""
    if has_password(url):
        scheme, _, rest = url.partition("://")
        raise StreamError(
            f"{scheme}://…@{rest.rpartition('@')[2]}: a password on the command line is read by everyone on this "
            f"machine; leave it out, and set {PASSWORD} in the environment"
        )
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise StreamError(f"{url!r}: {EXPECTED} ({error})") from None
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if parts.scheme == "unix":
        name, path = query.pop("stream", ""), parts.path
    else:
        folder, _, name = parts.path.rpartition("/")
        path = folder if folder.strip("/").isdigit() else ""
        if folder.strip("/") and not path:
            raise StreamError(f"{url!r}: {EXPECTED}; before the stream only the number of a database may stand")
    is_kafka = parts.scheme == "kafka"
    if parts.scheme not in ("redis", "rediss", "valkey", "valkeys", "unix", "kafka") or not name or name.endswith(":"):
        raise StreamError(f"{url!r}: {EXPECTED}")
    if not parts.netloc and parts.scheme != "unix":
        raise StreamError(f"{url!r}: the host is missing; {EXPECTED}")
    user, host = parts.username or "", parts.netloc.rpartition("@")[2]
    if is_kafka:
        if query or path:
            raise StreamError(f"{url!r}: {EXPECTED}; settings of the client go into --client-config FILE")
        return Address("kafka", host, f"kafka://{host}/{name}", name, user)
    tail = f"?{urlencode(query)}" if query else ""
    shown = f"{parts.scheme}://{host}{path}"
    secret = os.environ.get(PASSWORD)
    login = f"{quote(user, safe='')}:{quote(secret, safe='')}@" if secret else (f"{user}@" if user else "")
    return Address("redis", f"{parts.scheme}://{login}{host}{path}{tail}", f"{shown}/{name}", name, user)
