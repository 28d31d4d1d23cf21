"""Licences in real crawls: what has expired is recorded and never asked for."""

import asyncio
import re

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.seeding import join_scope
from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.scope import Scope
from crawler.urls.link import Link
from tests.support.serving import Handler, LoopbackServer, article


class Web(LoopbackServer):
    """127.0.0.6 redirects /moved to 127.0.0.7; everything else is a page. `asked` is what arrived."""

    def __init__(self) -> None:
        super().__init__(SiteHandler)
        self.asked: list[tuple[str, str]] = []


class SiteHandler(Handler):
    server: Web

    def respond(self) -> None:
        host = self.headers["Host"].partition(":")[0]
        self.server.asked.append((host, self.path))
        if self.path == "/robots.txt":
            self.send(404)
        elif self.path == "/moved":
            self.send(301, headers={"Location": f"http://127.0.0.7:{self.server.port}/here"})
        else:
            self.send(200, article(f"{host}{self.path}"))


@pytest.fixture
def web():
    with Web() as server:
        yield server


def test_what_expired_in_the_queue_or_behind_a_redirect_is_recorded_and_no_request_is_sent(crawl, web, redis_url):
    port = web.server_address[1]
    good = AllowlistEntry(f"127.0.0.6:{port}", "A", "CC0-1.0", expires="2999-12-31", discovery="links")
    ended = AllowlistEntry(f"127.0.0.7:{port}", "B", "MIT", expires="2026-01-01", discovery="links")

    async def prepare() -> None:
        frontier = Frontier(redis_url, "crawl")
        await frontier.open()
        await join_scope(frontier, Scope(entries=(good, ended)))
        pages = [f"http://127.0.0.6:{port}/kept", f"http://127.0.0.6:{port}/moved", f"http://127.0.0.7:{port}/queued"]
        await frontier.put([Link(url) for url in pages])
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
