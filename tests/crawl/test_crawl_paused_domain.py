"""A domain that is paused waits, and the crawl with it: no record is made of its URLs, and a signal ends it cleanly.

Pausing, ending and killing leave no unfinished file, in whatever order they come.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

import pytest

from tests.support import warm
from tests.support.crawl import read_until
from tests.support.places import PROJECT
from tests.support.serving import DEADLINE, Gate
from tests.support.site import Site


def command(redis_url: str, *words: str) -> str:
    line = [sys.executable, "-m", "crawler.commands.gristmill", "frontier", *words, "-s", f"REDIS_URL={redis_url}"]
    done = warm.run(line, cwd=PROJECT, capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def status(redis_url: str) -> dict[str, dict[str, int]]:
    return json.loads(command(redis_url, "status", "--json"))["counts"]


def until(condition, what: str) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"never saw: {what}"
        time.sleep(0.1)  # polled: other processes


def paused_crawl(crawl, tmp_path, redis_url):
    """Two sites, one of which is paused after its first pages; returns when all that is left is the paused one's."""
    held, free = Site("127.0.0.1", pages=200), Site("127.0.0.2", pages=10)
    gate = held.gate = Gate(6)
    held.start(), free.start()
    (tmp_path / "seeds.txt").write_text("".join(f"{url}\n" for url in sorted(held.urls() | free.urls())))
    worker = crawl.start(
        {"seeds": str(tmp_path / "seeds.txt")},
        NETWORK_PORTS=f"{held.port},{free.port}",
        REDIS_URL=redis_url,
        CONCURRENT_REQUESTS_PER_DOMAIN=2,
        CRAWL_ID="crawl",
    )
    gate.wait(2)
    assert "is paused" in command(redis_url, "pause", "--domain", f"127.0.0.1:{held.port}")
    gate.open()
    until(lambda: status(redis_url)["leased"] == 0, "nothing under way")
    return worker, held, free


def test_a_crawl_waits_for_a_paused_domain_and_goes_on_with_it(crawl, tmp_path, redis_url):
    worker, held, free = paused_crawl(crawl, tmp_path, redis_url)
    try:
        time.sleep(2.0)  # longer than FRONTIER_IDLE_SECONDS: that nothing happens is what is tested
        assert worker.poll() is None, "the crawl did not end"
        assert status(redis_url)["queued"] > 150, "its URLs wait in the frontier"
        command(redis_url, "resume", "--domain", f"127.0.0.1:{held.port}")
        _, said = worker.communicate(timeout=DEADLINE)
    finally:
        held.stop(), free.stop()
    assert worker.returncode == 0, said
    assert said.count("belongs to domains that are paused") == 1
    assert "hold_paused" not in {record["reason"] for record in crawl.records("rejected")}
    assert set(crawl.urls()) | {r["url"] for r in crawl.records("rejected")} == held.urls() | free.urls()


def test_a_signal_to_a_crawl_that_waits_for_a_paused_domain_ends_it_cleanly(crawl, tmp_path, redis_url):
    worker, held, free = paused_crawl(crawl, tmp_path, redis_url)
    try:
        worker.send_signal(signal.SIGINT)
        _, said = worker.communicate(timeout=60)
    finally:
        held.stop(), free.stop()
    assert worker.returncode == 0, said
    assert list(crawl.folder.rglob("*.part")) == []
    assert "hold_paused" not in {record["reason"] for record in crawl.records("rejected")}
    assert status(redis_url)["queued"] > 150


ORDERS = [("pause", "end", "kill"), ("end", "kill", "pause"), ("kill", "pause", "end")]
"""Each event comes first, second and last once."""


@pytest.mark.parametrize("order", ORDERS, ids=" then ".join)
def test_whatever_comes_first_of_a_pause_an_end_and_a_kill_no_file_stays_unfinished(crawl, redis_url, order):
    site = Site("127.0.0.1", pages=24)
    site.start()
    seeds = {"url": ",".join(sorted(site.urls()))}

    def start():
        return crawl.start(seeds, NETWORK_PORTS=site.port, REDIS_URL=redis_url, CRAWL_ID="crawl", DOWNLOAD_DELAY=0.1)

    worker, paused = start(), False
    try:
        for event in order:
            if worker.poll() is not None:
                worker = start()
                if paused:
                    read_until(worker, "the crawl is paused")
            if not paused:
                wanted = len(site.hits) + 3
                until(lambda wanted=wanted: len(site.hits) >= wanted, "pages are asked for")
            if event == "pause":
                command(redis_url, "pause")
                paused = True
            elif event == "end":
                worker.send_signal(signal.SIGINT)
                _, said = worker.communicate(timeout=DEADLINE)
                assert worker.returncode == 0, said
                assert list(crawl.folder.rglob("*.part")) == [], "it ended in good order"
            else:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.communicate(timeout=DEADLINE)
        command(redis_url, "resume")
        if worker.poll() is not None:
            worker = start()
        _, said = worker.communicate(timeout=DEADLINE)
    finally:
        site.stop()
    assert worker.returncode == 0, said
    assert list(crawl.folder.rglob("*.part")) == []
    pages = crawl.accounted()
    assert pages == sorted(set(pages)) == sorted(site.urls())
