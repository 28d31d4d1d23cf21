"""A web of loopback addresses: every address of 127.0.0.0/8 is a site that answers, or misbehaves, as declared."""

from __future__ import annotations

import select
import socket
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.serving import Handler, LoopbackServer

FORBIDDEN = "127.200.0.1"
"""A site of this web that the tests' NETWORK_ALLOW leaves closed; `@forbidden@` names it."""
PATIENCE = 10.0
"""Seconds a patient page waits between its head and its body for the client to hang up."""


@dataclass(frozen=True)
class Answer:
    """What a site sends. `@here@` and `@there@` in headers and small bodies become base URLs of the case's sites."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "text/html; charset=utf-8"
    patient: bool = False  # the body follows only if the client has not hung up on the head


Route = Answer | Callable[[Any], None]
Routes = Mapping[str, Route]


class PolicyWeb(LoopbackServer):
    """`site(address, routes)` declares one; `asked` and `unread` are the server's own log."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.sites: dict[str, Routes] = {}
        self.names: dict[str, dict[bytes, bytes]] = {}
        self.asked: dict[str, list[str]] = defaultdict(list)  # address → paths
        self.connected: list[str] = []  # addresses, one for each connection that arrived
        self.unread: set[str] = set()  # addresses whose patient page was hung up on before its body

    def base(self, address: str) -> str:
        return f"http://{address}:{self.port}"

    def site(self, address: str, routes: Routes, there: str = "") -> str:
        """Declare the answers of an address; `there` is the address that `@there@` stands for."""
        self.sites[address] = routes
        here = self.base(address)
        self.names[address] = {
            b"@here@": here.encode(),
            b"@there@": self.base(there or address).encode(),
            b"@forbidden@": self.base(FORBIDDEN).encode(),
        }
        return here

    def verify_request(self, request: Any, client_address: Any) -> bool:
        self.connected.append(request.getsockname()[0])
        return True


class _Handler(Handler):
    server: PolicyWeb

    def respond(self) -> None:
        address = self.address
        self.server.asked[address].append(self.path)
        route = self.server.sites.get(address, {}).get(self.path, Answer(404))
        if callable(route):
            self.close_connection = True
            route(self)
        else:
            self._send(route, address)

    def _send(self, answer: Answer, address: str) -> None:
        body = self._named(answer.body, address) if len(answer.body) < 100_000 else answer.body
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, self._named(value.encode("latin-1"), address).decode("latin-1"))
        if answer.content_type and not any(name.lower() == "content-type" for name, _ in answer.headers):
            self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if answer.patient and self._hung_up():
            self.server.unread.add(address)
            self.close_connection = True
            return
        self.wfile.write(body)

    def _hung_up(self) -> bool:
        ready, _, _ = select.select([self.connection], [], [], PATIENCE)
        return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""

    def _named(self, text: bytes, address: str) -> bytes:
        for token, value in self.server.names.get(address, {}).items():
            text = text.replace(token, value)
        return text
