"""A small real site for crawl tests: pages that link to each other, and a log of when each request arrived."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Callable

DEADLINE = 300.0
"""Seconds for what must happen sooner or later, on a machine that does much else."""


class Gate:
    """Lets so many requests through. `reached` is set when the next one stands before it, until `open()`.

    What a test does in the middle of a crawl it does while a gate is shut: the crawl cannot end meanwhile.
    """

    def __init__(self, requests: int) -> None:
        self.reached = threading.Event()
        self._left = requests
        self._open = threading.Event()
        self._counting = threading.Lock()

    def pass_through(self) -> None:
        with self._counting:
            self._left -= 1
            if self._left >= 0:
                return
        self.reached.set()
        assert self._open.wait(DEADLINE), "nobody opened the gate"

    def wait(self) -> None:
        """Until a request stands before it."""
        assert self.reached.wait(DEADLINE), "the crawl did not come so far"

    def open(self) -> None:
        self._open.set()


class Web:
    """Serves `/0 … /{pages-1}`; `/0` links to all. `log` holds (path, arrival, departure) in server time."""

    def __init__(self, pages: int, *, answer_seconds: float = 0.0) -> None:
        self.log: list[tuple[str, float, float]] = []
        self.behaviour: dict[str, Callable[[int], tuple[int, bytes]]] = {}
        self.answer_seconds = answer_seconds
        self.gate: Gate | None = None
        self._pages = pages
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or every answer waits 40 ms for an acknowledgement

            def do_GET(self) -> None:
                web._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.port = self._server.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [path for path, _, _ in self.log]

    def __enter__(self) -> Web:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        arrived = time.monotonic()
        times = self.paths().count(handler.path)
        if self.gate is not None:
            self.gate.pass_through()
        status, body = self.behaviour.get(handler.path, self._page)(times)
        if self.answer_seconds:
            time.sleep(self.answer_seconds)  # what is simulated is a slow server
        self.log.append((handler.path, arrived, time.monotonic()))
        handler.send_response(status)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _page(self, times: int) -> tuple[int, bytes]:
        links = "".join(f'<a href="/{i}">{i}</a>' for i in range(self._pages))
        return 200, f"<html><body>{links}</body></html>".encode()
