"""Licences in real crawls: what has expired is recorded and never asked for."""

import asyncio
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.seeding import join_scope
from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.scope import Scope
from crawler.urls.candidate import Candidate
from tests.support.site import prose


@pytest.fixture
def web():
    """127.0.0.6 redirects /moved to 127.0.0.7; everything else is a page. `asked` is what arrived."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            host = self.headers["Host"].partition(":")[0]
            asked.append((host, self.path))
            if self.path == "/robots.txt":
                status, body, target = 404, b"", ""
            elif self.path == "/moved":
                status, body, target = 301, b"", f"http://127.0.0.7:{server.server_address[1]}/here"
            else:
                text = "".join(f"<p>{p}</p>" for p in prose(f"{host}{self.path}"))
                body = f"<html lang=en><title>Page</title><main><h1>Page</h1>{text}</main></html>".encode()
                status, target = 200, ""
            self.send_response(status)
            if target:
                self.send_header("Location", target)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("0.0.0.0", 0), Handler)
    server.daemon_threads = True
    server.asked = asked
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_what_expired_in_the_queue_or_behind_a_redirect_is_recorded_and_no_request_is_sent(crawl, web, redis_url):
    port = web.server_address[1]
    good = AllowlistEntry(f"127.0.0.6:{port}", "A", "CC0-1.0", expires="2999-12-31", discovery="links")
    ended = AllowlistEntry(f"127.0.0.7:{port}", "B", "MIT", expires="2026-01-01", discovery="links")

    async def prepare() -> None:
        frontier = Frontier(redis_url, "crawl")
        await frontier.open()
        await join_scope(frontier, Scope(entries=(good, ended)))
        pages = [f"http://127.0.0.6:{port}/kept", f"http://127.0.0.6:{port}/moved", f"http://127.0.0.7:{port}/queued"]
        await frontier.put([Candidate(url) for url in pages])
        await frontier.close()

    asyncio.run(prepare())
    done = crawl.run({}, REDIS_URL=redis_url, NETWORK_PORTS=str(port), NEARDUP_THRESHOLD=1.0)
    assert done.returncode == 0, done.stderr
    assert {host for host, _ in web.asked} == {"127.0.0.6"}
    (kept,) = crawl.records()
    assert (kept["url"], kept["license_tag"], kept["license_tier"]) == (f"http://127.0.0.6:{port}/kept", "CC0-1.0", "A")
    refused = {str(r["url"]): (r["stage"], r["reason"]) for r in crawl.records("rejected")}
    assert refused == {
        f"http://127.0.0.6:{port}/moved": ("frontier", "licence_expired"),
        f"http://127.0.0.7:{port}/queued": ("frontier", "licence_expired"),
    }
    details = [str(r["detail"]) for r in crawl.records("rejected")]
    assert any(re.fullmatch(r"127\.0\.0\.7:\d+: MIT held until 2026-01-01", detail) for detail in details)
