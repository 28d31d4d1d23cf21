"""A web of loopback addresses whose sites misbehave on request, and a crawl of it in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import PROJECT
from tests.support.serving import Handler, LoopbackServer, hang, reset


@dataclass
class Reply:
    status: int = 200
    body: bytes = b"<html><body>hello</body></html>"
    headers: list[tuple[str, str]] = field(default_factory=list)
    content_type: str | None = "text/html"


Route = Reply | Callable[[BaseHTTPRequestHandler], None]


class Web(LoopbackServer):
    """Every address of 127.0.0.0/8 is a site: `site("127.0.0.5", {"/robots.txt": Reply(404)})`."""

    reply = Reply
    reset = staticmethod(reset)
    hang = staticmethod(hang)

    def __init__(self) -> None:
        super().__init__(SiteHandler)
        self.sites: dict[str, dict[str, Route]] = {}
        self.log: list[tuple[str, str]] = []

    def site(self, address: str, routes: dict[str, Route]) -> str:
        self.sites[address] = routes
        return f"http://{address}:{self.port}"

    def asked(self, base: str) -> list[str]:
        address = base.split("//")[1].split(":", maxsplit=1)[0]
        return [path for host, path in self.log if host == address]


class SiteHandler(Handler):
    server: Web

    def respond(self) -> None:
        self.server.log.append((self.address, self.path))
        route = self.server.sites.get(self.address, {}).get(self.path, Reply(404, b"", content_type=None))
        if callable(route):
            self.close_connection = True
            route(self)
            return
        self.send_response(route.status)
        names = {name.lower() for name, _ in route.headers}
        for name, value in route.headers:
            self.send_header(name, value)
        if route.content_type and "content-type" not in names:
            self.send_header("Content-Type", route.content_type)
        self.send_header("Content-Length", str(len(route.body)))
        self.end_headers()
        self.wfile.write(route.body)


@pytest.fixture
def web() -> Iterator[Web]:
    with Web() as server:
        yield server


@pytest.fixture
def crawl(web: Web) -> Callable[..., dict[str, Any]]:
    """`crawl(urls, **settings)`: what became of each URL."""

    def run(
        urls: list[str],
        hosts: dict[str, Any] | None = None,
        blobs: Any = None,
        trusting_resolver: bool = False,
        **settings: Any,
    ) -> dict[str, Any]:
        usual = {"NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": str(web.port), "DOWNLOAD_TIMEOUT": 20}
        job = {"urls": urls, "hosts": hosts or {}, "blobs": blobs or {}, "settings": usual | settings}
        job["trusting_resolver"] = trusting_resolver
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("crawl_urls.py"))],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            cwd=PROJECT,
            env=os.environ | {"PYTHONPATH": str(PROJECT), "SCRAPY_SETTINGS_MODULE": ""},
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        report["log"] = done.stderr
        return report

    return run
