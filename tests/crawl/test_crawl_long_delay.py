"""A site that asks for a longer delay than the crawl is patient with a block is crawled at its pace, to the end."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field

import pytest

from tests.support.serving import Handler, article
from tests.support.site import Served

DELAY = 1.0


@dataclass
class SlowSite(Served):
    """Two pages, and a robots.txt that may ask for the delay."""

    robots: bytes = b""
    asked: list[tuple[str, float]] = field(default_factory=list)

    def serve(self, request: Handler) -> None:
        self.asked.append((request.path, time.monotonic()))
        pages = {"/robots.txt": self.robots, "/1": article("one", links=("/2",)), "/2": article("two")}
        body = pages.get(request.path, b"")
        request.send(200 if body else 404, body)


@pytest.mark.parametrize("whose", ["the site", "the crawl"])
def test_a_delay_beyond_the_patience_of_the_crawl_does_not_end_it(crawl, whose):
    site = SlowSite(robots=f"User-agent: *\nCrawl-delay: {DELAY}\n".encode() if whose == "the site" else b"")
    site.start()
    settings = {"DOWNLOAD_DELAY": 0 if whose == "the site" else DELAY}
    try:
        done = crawl.run(
            {"url": f"{site.base}/1"},
            NETWORK_PORTS=site.port,
            FRONTIER_PATIENCE_SECONDS=0.4,
            OPTOUT_PROFILE="minimal",
            **settings,
        )
    finally:
        site.stop()
    assert done.returncode == 0, done.stderr
    assert [path for path, _ in site.asked] == ["/robots.txt", "/.well-known/tdmrep.json", "/1", "/2"]
    assert crawl.urls() == [f"{site.base}/1", f"{site.base}/2"]
    times = [at for _, at in site.asked]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert min(gaps) >= 0.95 * DELAY
