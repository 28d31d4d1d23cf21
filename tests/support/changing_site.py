"""A site that changes between two crawls, with a server that knows conditional requests; every request is logged."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.linked_web import Gate
from tests.support.site import prose


def article(seed: object, *, words: int = 260, links: tuple[str, ...] = (), note: str = "") -> bytes:
    """A page of made-up prose (from the demo's CC0 articles), the same for the same arguments."""
    paragraphs = "".join(f"<p>{p}</p>" for p in prose(seed, words))
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    head = f"<html lang=en><head><title>About {seed}</title></head>"
    return (
        f"{head}<body><main><h1>About {seed}</h1>{paragraphs}{note}</main><nav>{anchors}</nav></body></html>".encode()
    )


@dataclass
class Page:
    """What one path answers. `etag` and `modified` are sent with every answer and decide about a 304."""

    body: bytes = b""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    etag: str | Callable[[], str] | None = None
    modified: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def is_fresh(self, request: dict[str, str]) -> bool:
        """RFC 9110 section 13.2.2: an entity tag decides where one was sent, else the date."""
        if "If-None-Match" in request:
            opaque = str(self.etag).removeprefix("W/")
            return isinstance(self.etag, str) and request["If-None-Match"].removeprefix("W/") == opaque
        return self.modified is not None and request.get("If-Modified-Since") == self.modified


@dataclass
class Asked:
    """One request as the server saw it, and how it answered."""

    path: str
    status: int
    conditions: dict[str, str]
    sent: int  # bytes of the body


@dataclass
class ChangingSite:
    """`pages` by path; change them between two crawls."""

    pages: dict[str, Page] = field(default_factory=dict)
    latency: float = 0.0
    gate: Gate | None = None
    log: list[Asked] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None

    def start(self) -> ChangingSite:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                time.sleep(site.latency)
                page = site.pages.get(self.path, Page(status=404))
                asked = {n: self.headers[n] for n in ("If-None-Match", "If-Modified-Since") if n in self.headers}
                status = 304 if page.status == 200 and page.is_fresh(asked) else page.status
                body = b"" if status == 304 else page.body
                site.log.append(Asked(self.path, status, asked, len(body)))
                if site.gate is not None:
                    site.gate.pass_through()
                self.send_response(status)
                etag = page.etag() if callable(page.etag) else page.etag
                named = {"ETag": etag, "Last-Modified": page.modified, **page.headers}
                if status != 304:
                    named |= {"Content-Type": page.kind, "Content-Length": str(len(body))}
                for name, value in named.items():
                    if value is not None:
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
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

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def take_log(self) -> dict[str, list[Asked]]:
        """The requests since the last call, by path, robots.txt and other control files left out."""
        taken, self.log = self.log, []
        found: dict[str, list[Asked]] = {}
        for asked in taken:
            if asked.path in self.pages:
                found.setdefault(asked.path, []).append(asked)
        return found
