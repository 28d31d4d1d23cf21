"""Web servers of tests: on loopback, in a thread, gone with the test; every request is theirs to count."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from bench.web.prose import prose

DEADLINE = 300.0
"""Seconds for what must happen sooner or later, on a machine that does much else."""
HTML = "text/html; charset=utf-8"


class Gate:
    """Lets so many requests through; the others stand before it until `open()`.

    What a test does in the middle of a crawl it does while a gate is shut: the crawl cannot end meanwhile.
    """

    def __init__(self, requests: int) -> None:
        self._left = requests
        self._open = threading.Event()
        self._counting = threading.Condition()

    def pass_through(self) -> None:
        with self._counting:
            self._left -= 1
            if self._left >= 0:
                return
            self._counting.notify_all()
        assert self._open.wait(DEADLINE), "nobody opened the gate"

    @property
    def standing(self) -> int:
        """How many requests have come to the shut gate."""
        return max(0, -self._left)

    def wait(self, requests: int = 1) -> None:
        """Until so many requests stand before it."""
        with self._counting:
            assert self._counting.wait_for(lambda: self.standing >= requests, DEADLINE), "the crawl did not come so far"

    def open(self) -> None:
        self._open.set()


class Handler(BaseHTTPRequestHandler):
    """Sends whole answers; says nothing on standard error."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or every answer waits 40 ms for an acknowledgement
    server: Any

    def do_GET(self) -> None:
        self.respond()

    def respond(self) -> None:
        """Answer a GET request; each server has its own way."""
        raise NotImplementedError

    @property
    def address(self) -> str:
        """The loopback address that was asked: the site."""
        return str(self.connection.getsockname()[0])

    def send(
        self, status: int, body: bytes = b"", kind: str | None = HTML, headers: Mapping[str, str | None] | None = None
    ) -> None:
        """One answer; a header whose value is None is left out. 304 has no body and no type."""
        named = {"Content-Type": kind, "Content-Length": str(len(body))} if status != 304 else {}
        self.send_response(status)
        for name, value in (named | dict(headers or {})).items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Every server keeps a log of its own."""


class LoopbackServer(ThreadingHTTPServer):
    """Runs from `start` to `stop`, or as a context. On 0.0.0.0 every address of 127.0.0.0/8 is a site."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler: type[BaseHTTPRequestHandler], address: str = "0.0.0.0") -> None:
        super().__init__((address, 0), handler)
        self.closing = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()
        self._thread.join(5)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


def reset(handler: Any) -> None:
    """Hang up with RST."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()  # while `rfile` holds it, it stays open
    handler.close_connection = True


def hang(handler: Any) -> None:
    """Never answer."""
    handler.server.closing.wait(60)


def article(seed: object, *, words: int = 260, links: tuple[str, ...] = (), note: str = "", title: str = "") -> bytes:
    """A page of made-up prose (from the demo's CC0 articles), the same for the same arguments."""
    title = title or f"About {seed}"
    paragraphs = "".join(f"<p>{p}</p>" for p in prose(seed, words))
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    head = f"<html lang=en><head><title>{title}</title></head>"
    return f"{head}<body><main><h1>{title}</h1>{paragraphs}{note}</main><nav>{anchors}</nav></body></html>".encode()
