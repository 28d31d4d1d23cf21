"""A worker that is killed with pages in the browser leaves nothing running, loses nothing and doubles nothing."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from crawler.browser.watch import MARK
from tests.browser.conftest import crawl, drawn, prose
from tests.support.corpus_crawl import start_crawl
from tests.support.loopback_web import PolicyWeb

TOPICS = ("orchard", "windmill", "ferry", "quarry", "brewery", "chapel")
PATIENCE = 60.0


def until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def browsers_below(process: psutil.Process) -> list[psutil.Process]:
    found = []
    for child in process.children(recursive=True):
        try:
            if any(part.startswith(MARK) for part in child.cmdline()):
                found += [child, *child.children(recursive=True)]
        except psutil.Error:
            continue
    return found


def is_alive(process: psutil.Process) -> bool:
    """A zombie runs no more; who collects it is not ours to say."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("pages_before", [0, 2])
def test_a_killed_worker_takes_its_browser_along_and_the_next_one_finishes_the_crawl(
    tmp_path: Path, web: PolicyWeb, pages_before: int
) -> None:
    here = web.site("127.0.0.2", {f"/{name}": drawn(prose(name)) for name in TOPICS})
    seeds = [f"{here}/{name}" for name in TOPICS]
    folder = tmp_path / "corpus"
    worker = start_crawl(folder, seeds, web.port, BROWSER_CONCURRENCY=1, DOWNLOAD_DELAY=0.3)
    watched = psutil.Process(worker.pid)
    until(lambda: len(browsers_below(watched)) > 3 and len(web.asked["127.0.0.2"]) > pages_before)
    running = browsers_below(watched)
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    until(lambda: not any(map(is_alive, running)))
    done = crawl(folder, web, seeds, FRONTIER_LEASE_SECONDS=5)
    assert done.returncode == 0, done.log[-3000:]
    urls = [record["url"] for record in done._records("shards")]
    assert sorted(urls) == sorted(seeds)
