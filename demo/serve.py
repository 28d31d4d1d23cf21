"""Fourth step of the demo web: serve it over real HTTP on loopback, one address a site, with an access log.

`python -m demo.serve --port 0 --log access.jsonl --ready ready.json` binds 127.0.0.2, 127.0.0.3, … on one free port
(where those addresses do not exist, as on macOS, 127.0.0.1 with one port a site), writes the base URLs to `--ready`
and to the terminal, and serves until SIGTERM, SIGINT or, with `--until-stdin-closes`, the end of its parent.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import IO, Any, ClassVar
from urllib.parse import urlsplit

from .pages import Page, Site, load_second, load_web
from .render import Web, page_html, robots_txt, sitemap_files
from .scripted import script_files

LAST_MODIFIED = 1_760_000_000  # seconds since the epoch; a constant, so that validators are the same in every run
RETRY_AFTER_SECONDS = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP response before it is written to the wire."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class DemoWeb:
    """Answers requests for every site; thread-safe, remembers how often each page was asked for."""

    def __init__(self, web: Web, log: IO[str] | None) -> None:
        self.web = web
        self._log = log
        self._lock = threading.Lock()
        self._asked: Counter[tuple[str, str]] = Counter()
        self._files = {site.name: self._special_files(site) for site in web.sites.values()}

    def change(self, sites: Mapping[str, Site]) -> None:
        """Serve these pages from now on, under the same addresses."""
        with self._lock:
            self.web = Web(sites, self.web.bases)
            self._files = {site.name: self._special_files(site) for site in sites.values()}

    def _special_files(self, site: Site) -> dict[str, Answer]:
        made = sitemap_files(self.web, site) | script_files(site)
        files = {p: Answer(200, body, {"Content-Type": kind}) for p, (kind, body) in made.items()}
        robots = robots_txt(self.web, site)
        files["/robots.txt"] = Answer(site.robots_status, robots, {"Content-Type": "text/plain; charset=utf-8"})
        return files

    def answer(self, site: str, target: str, if_none_match: str | None = None) -> Answer:
        """The response for a request target; the query is ignored, as most servers do with tracking parameters."""
        path, pages = urlsplit(target).path, self.web.sites[site].pages
        if special := self._files[site].get(path):
            return special
        page = pages.get(target) or pages.get(path)
        if page is None:
            return Answer(404, b"<html><body><h1>Not found</h1></body></html>", {"Content-Type": "text/html"})
        answer = self._page_answer(page)
        if answer.status == 200 and if_none_match == answer.headers["ETag"]:
            return Answer(304, b"", {"ETag": answer.headers["ETag"]})
        return answer

    def _page_answer(self, page: Page) -> Answer:
        with self._lock:
            count = self._asked[page.site, page.path]
            self._asked[page.site, page.path] += 1
        status = page.statuses[min(count, len(page.statuses) - 1)]
        headers = {"Content-Type": page.content_type, **dict(page.headers)}
        if page.location is not None:
            headers["Location"] = self.web.url(page.location, page.site)
        if status in {429, 503}:
            headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        body = page_html(self.web, page).encode()
        if status == 200:
            headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            headers["Last-Modified"] = formatdate(LAST_MODIFIED, usegmt=True)
        return Answer(status, body, headers)

    def log(self, entry: dict[str, Any]) -> None:
        """Append one line to the access log, at once."""
        if self._log is not None:
            with self._lock:
                self._log.write(json.dumps(entry) + "\n")
                self._log.flush()


class Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 with keep-alive; `server` carries the site's name and the demo web."""

    protocol_version = "HTTP/1.1"
    server_version = "demo-web"
    sys_version = ""
    timeout: ClassVar[float | None] = 60.0
    server: DemoServer

    def do_GET(self) -> None:
        """Answer and log one request."""
        arrived = time.time()
        answer = self.server.demo.answer(self.server.site, self.path, self.headers.get("If-None-Match"))
        self.server.demo.log(  # before the answer: who has read it finds its line
            {
                "time": arrived,
                "address": "{}:{}".format(*self.server.server_address[:2]),
                "site": self.server.site,
                "method": self.command,
                "path": self.path,
                "status": answer.status,
                "user_agent": self.headers.get("User-Agent", ""),
            }
        )
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the access log has its own lines."""


class DemoServer(ThreadingHTTPServer):
    """One site on one address."""

    daemon_threads = True
    request_queue_size = 128
    demo: DemoWeb

    def __init__(self, site: str, address: tuple[str, int]) -> None:
        self.site = site
        super().__init__(address, Handler)

    def server_bind(self) -> None:
        """Bind without the reverse look-up of `HTTPServer`, which waits for a name server where there is none."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])


def bind(sites: Mapping[str, Site], port: int) -> list[DemoServer]:
    """One listening server a site: one port on 127.0.0.<number>, or several ports on 127.0.0.1.

    port 0 chooses a free one. Raises: OSError where the given port is taken.
    """
    for _ in range(20):
        try:
            return _bind_addresses(sites, port)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                return [DemoServer(name, ("127.0.0.1", port and port + i)) for i, name in enumerate(sites)]
            if port:
                raise
    raise OSError(errno.EADDRINUSE, "no port is free on all loopback addresses after 20 attempts")


def _bind_addresses(sites: Mapping[str, Site], port: int) -> list[DemoServer]:
    servers: list[DemoServer] = []
    try:
        for site in sites.values():
            servers.append(DemoServer(site.name, (f"127.0.0.{site.number}", port)))
            port = servers[0].server_address[1]
    except OSError:
        for server in servers:
            server.server_close()
        raise
    return servers


def start(servers: list[DemoServer], sites: Mapping[str, Site], log: IO[str] | None) -> Web:
    """Serve every site in daemon threads; returns the web with its base URLs."""
    web = Web(sites, {s.site: "http://{}:{}".format(*s.server_address[:2]) for s in servers})
    demo = DemoWeb(web, log)
    for server in servers:
        server.demo = demo
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    return web


def _obey_stdin(stop: threading.Event, demo: DemoWeb, ready: Path | None) -> None:
    """A line on standard input: the second generation, announced by `<ready>.second`. Its end: stop."""
    while sys.stdin.readline():
        demo.change(load_second())
        if ready is not None:
            ready.with_name(ready.name + ".second").touch()
    stop.set()


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m demo.serve", description="Serve the demo web on loopback.")
    parser.add_argument("--port", type=int, default=0, help="one port for all addresses; 0 = a free one")
    parser.add_argument("--log", type=Path, help="access log, JSON lines, appended")
    parser.add_argument("--ready", type=Path, help="file that gets the base URLs as JSON once the server listens")
    parser.add_argument(
        "--until-stdin-closes", action="store_true", help="end with the process that started it; a line changes the web"
    )
    options = parser.parse_args(arguments)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    log = options.log.open("a", encoding="utf-8") if options.log else None
    sites = load_web()
    try:
        servers = bind(sites, options.port)
    except OSError as error:
        sys.stderr.write(f"demo.serve: cannot listen on port {options.port}: {error.strerror}; try --port 0\n")
        return 1
    web = start(servers, sites, log)
    if options.until_stdin_closes:
        obey = (stop, servers[0].demo, options.ready)
        threading.Thread(target=_obey_stdin, args=obey, daemon=True).start()
    sys.stdout.write("".join(f"{name:<12} {base}\n" for name, base in web.bases.items()))
    sys.stdout.flush()
    if options.ready:
        part = options.ready.with_suffix(".part")
        part.write_text(json.dumps(dict(web.bases)), "utf-8")
        part.replace(options.ready)
    stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
