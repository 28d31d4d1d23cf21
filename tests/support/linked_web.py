"""A small real site for crawl tests: pages that link to each other, and a log of when each request arrived."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from tests.support.serving import Gate, Handler, LoopbackServer


class _Server(LoopbackServer):
    web: Web


class _Handler(Handler):
    server: _Server

    def respond(self) -> None:
        self.server.web.serve(self)


class Web:
    """Serves `/0 … /{pages-1}`; `/0` links to all. `log` holds (path, arrival, departure) in server time."""

    def __init__(self, pages: int, *, answer_seconds: float = 0.0) -> None:
        self.log: list[tuple[str, float, float]] = []
        self.behaviour: dict[str, Callable[[int], tuple[int, bytes]]] = {}
        self.answer_seconds = answer_seconds
        self.gate: Gate | None = None
        self._pages = pages
        self._server = _Server(_Handler, "127.0.0.1")
        self._server.web = self
        self.port = self._server.port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [path for path, _, _ in self.log]

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def serve(self, request: Handler) -> None:
        arrived = time.monotonic()
        times = self.paths().count(request.path)
        if self.gate is not None:
            self.gate.pass_through()
        status, body = self.behaviour.get(request.path, self._page)(times)
        if self.answer_seconds:
            time.sleep(self.answer_seconds)  # what is simulated is a slow server
        self.log.append((request.path, arrived, time.monotonic()))
        request.send(status, body, "text/html")

    def _page(self, times: int) -> tuple[int, bytes]:
        links = "".join(f'<a href="/{i}">{i}</a>' for i in range(self._pages))
        return 200, f"<html><body>{links}</body></html>".encode()
