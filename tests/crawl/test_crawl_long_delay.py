"""A site that asks for a longer delay than the crawl is patient with a block is crawled at its pace, to the end."""

from __future__ import annotations

import itertools
import json
import signal
import time
from dataclasses import dataclass, field

import pytest

from tests.support.process import scrapy
from tests.support.serving import DEADLINE, Handler, article
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


def test_a_worker_that_is_told_to_stop_does_not_wait_for_the_turns_of_a_slow_site(crawl):
    """robots.txt, three opt-out files and a page at a minute each are more than the grace period of a pod (180 s)."""
    site = SlowSite(robots=b"User-agent: *\nCrawl-delay: 60\n")
    site.start()
    try:
        worker = crawl.start({"url": f"{site.base}/1"}, NETWORK_PORTS=site.port)
        deadline = time.monotonic() + DEADLINE
        while not site.asked:
            assert worker.poll() is None, worker.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)  # polled: another process
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=60)
    finally:
        site.stop()
    assert [path for path, _ in site.asked] == ["/robots.txt"]
    told = scrapy("frontier", "status", "--json", settings={"CORPUS_DIR": crawl.folder})
    counts = json.loads(told.stdout)["counts"]
    assert [counts[name] for name in ("queued", "leased", "held", "done", "dead")] == [1, 0, 0, 0, 0]


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
