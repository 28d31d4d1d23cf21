"""A known site on a loopback address: every page, link and request is ours to count."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

from tests.support.serving import Gate, Handler, LoopbackServer, article


class _Server(LoopbackServer):
    site: Served


class _Handler(Handler):
    server: _Server

    def respond(self) -> None:
        self.server.site.serve(self)


@dataclass
class Served:
    """What a test declares of a site; `start` and `stop` begin and end its server."""

    address: str = "127.0.0.1"
    latency: float = 0.0  # seconds before each answer
    gate: Gate | None = None
    _server: _Server | None = None

    def start(self) -> Served:
        self._server = _Server(_Handler, self.address)
        self._server.site = self
        self._server.start()
        return self

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()

    @property
    def port(self) -> int:
        assert self._server is not None
        return self._server.port

    @property
    def base(self) -> str:
        return f"http://{self.address}:{self.port}"

    def serve(self, request: Handler) -> None:
        raise NotImplementedError


@dataclass
class Hit:
    """One request as the server saw it."""

    path: str
    at: float
    agent: str


@dataclass
class Site(Served):
    """Pages /p/0 … /p/N-1 on one address; page i links to 2i+1 and 2i+2, so the whole site hangs on /p/0."""

    pages: int = 20
    hits: list[Hit] = field(default_factory=list)

    def serve(self, request: Handler) -> None:
        self.hits.append(Hit(request.path, time.time(), request.headers.get("User-Agent", "")))
        time.sleep(self.latency)
        if self.gate is not None and request.path.startswith("/p/"):  # robots.txt and its like are no pages
            self.gate.pass_through()
        request.send(*self.answer(request.path))

    def url(self, page: int) -> str:
        return f"{self.base}/p/{page}"

    def urls(self) -> set[str]:
        return {self.url(i) for i in range(self.pages)}

    def answer(self, path: str) -> tuple[int, bytes]:
        if path == "/robots.txt":
            return 404, b""
        match = re.fullmatch(r"/p/(\d+)", path)
        if match is None or int(match[1]) >= self.pages:
            return 404, b""
        return 200, self.page(int(match[1]))

    def page(self, i: int) -> bytes:
        links = tuple(f"/p/{c}" for c in (2 * i + 1, 2 * i + 2) if c < self.pages)
        return article(f"{self.address}/{i}", links=links, title=f"Page {i}")
