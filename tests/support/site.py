"""A known site on a loopback address: every page, link and request is ours to count.

The prose is our own (`bench/_prose.py`), seeded per page.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bench._prose import prose
from tests.support.linked_web import Gate


@dataclass
class Hit:
    """One request as the server saw it."""

    path: str
    at: float
    agent: str


@dataclass
class Site:
    """Pages /p/0 … /p/N-1 on one address; page i links to 2i+1 and 2i+2, so the whole site hangs on /p/0."""

    address: str = "127.0.0.1"
    pages: int = 20
    latency: float = 0.0  # seconds before each answer
    gate: Gate | None = None
    hits: list[Hit] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None

    def start(self) -> Site:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.hits.append(Hit(self.path, time.time(), self.headers.get("User-Agent", "")))
                time.sleep(site.latency)
                if site.gate is not None and self.path.startswith("/p/"):  # robots.txt and its like are no pages
                    site.gate.pass_through()
                status, body = site.answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer((self.address, 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    @property
    def port(self) -> int:
        assert self._server is not None
        return self._server.server_address[1]

    def url(self, page: int) -> str:
        return f"http://{self.address}:{self.port}/p/{page}"

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
        paragraphs = "".join(f"<p>{p}</p>" for p in prose(f"{self.address}/{i}"))
        links = "".join(f'<a href="/p/{c}">page {c}</a> ' for c in (2 * i + 1, 2 * i + 2) if c < self.pages)
        title = f"Page {i}"
        html = f"<html lang=en><head><title>{title}</title></head><body><main><h1>{title}</h1>{paragraphs}</main>"
        return f"{html}<nav>{links}</nav></body></html>".encode()
