"""Workers are killed: pages that did nothing are all there in the end, and one that kills its worker is given up."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from crawler.storage.files.shards import read_lines
from tests.support.crawl import Crawl
from tests.support.serving import DEADLINE, Gate
from tests.support.site import Site

SEVERAL = [f"127.0.7.{n}" for n in range(1, 5)]


@dataclass
class Deadly(Site):
    """Whoever asks for `deadly` dies before the answer."""

    deadly: str = ""
    victims: list[subprocess.Popen[str]] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, bytes]:
        if path == self.deadly:
            os.killpg(self.victims[-1].pid, signal.SIGKILL)
        return super().answer(path)


@pytest.fixture
def deadly() -> Iterator[Deadly]:
    site = Deadly(pages=12)
    yield site.start()
    site.stop()


def spooled(spool: Path) -> list[str]:
    """URLs of the records that are synced to the spool."""
    parts = [path for folder in ("shards", "rejected") for path in (spool / folder).glob("*.part")]
    return [json.loads(line)["url"] for path in parts for line in read_lines(path)]


def until_it_ends(crawl: Crawl, site: Site, most: int, **settings: object) -> tuple[int, subprocess.Popen[str], str]:
    """The same command again and again, as a supervisor gives it. How often, and how it ended."""
    for starts in range(1, most + 1):
        process = crawl.start({"url": ",".join(sorted(site.urls()))}, **settings)
        if isinstance(site, Deadly):
            site.victims.append(process)
        _, err = process.communicate(timeout=DEADLINE)
        if process.returncode != -signal.SIGKILL:
            return starts, process, err
    raise AssertionError(f"it still dies after {most} starts")


def test_a_page_that_kills_its_worker_is_given_up_alone_and_the_exit_code_says_so(crawl, deadly):
    deadly.deadly = "/p/5"
    common = {"NETWORK_PORTS": deadly.port, "FRONTIER_LEASE_SECONDS": 2, "WORKER_ID": "w1", "STAGE_WORKERS": 0}
    starts, process, err = until_it_ends(crawl, deadly, 25, **common)
    assert starts > 3
    assert process.returncode == 1, err
    assert "error: 1 page was given up: every worker that had such a page alone in hand died" in err
    assert f"{deadly.url(5)}: " in err and "workers died with this page alone in hand" in err
    (given_up,) = [record for record in crawl.records("rejected") if record["stage"] not in {"near", "quality"}]
    assert (given_up["url"], given_up["stage"], given_up["reason"]) == (deadly.url(5), "frontier", "stage_crashed")
    assert {str(r["url"]) for kind in ("shards", "rejected") for r in crawl.records(kind)} == deadly.urls()


def test_workers_that_are_killed_before_they_send_lose_no_page(crawl, make_site, redis_url):
    sites = [make_site(pages=2, address=address) for address in SEVERAL]
    gate = Gate(0)  # robots.txt has been read, the pages stand before the gate or wait for their turn
    for site in sites:
        site.gate = gate
    seeds = ",".join(url for site in sites for url in sorted(site.urls()))
    common = {
        "NETWORK_PORTS": ",".join(str(site.port) for site in sites),
        "REDIS_URL": redis_url,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "FRONTIER_LEASE_SECONDS": 1,
        "DOWNLOAD_DELAY": 0.2,
        "RETRY_TIMES": 0,  # one try
        "STAGE_WORKERS": 0,
    }
    for number in range(6):
        process = crawl.start({"url": seeds}, WORKER_ID=f"w{number}", **common)
        before = gate.standing
        end = time.monotonic() + DEADLINE
        while gate.standing == before:
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.02)  # polled: another process
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    gate.open()
    done = crawl.run({"url": seeds}, WORKER_ID="last", **common)
    assert done.returncode == 0, done.stderr
    assert set(crawl.accounted()) == {url for site in sites for url in site.urls()}


def test_a_second_worker_of_a_live_name_refuses_to_start_and_loses_nothing_of_the_first(
    crawl, make_site, redis_url, store, tmp_path
):
    site = make_site(pages=8)
    gate = site.gate = Gate(2)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "WORKER_ID": "vm-1", "CORPUS_DIR": f"{store}/names"}
    common |= {"STAGE_WORKERS": 0}
    first = crawl.start({"url": site.url(0)}, CORPUS_SPOOL_DIR=tmp_path / "a", **common)
    gate.wait()
    second = crawl.run({"url": site.url(0)}, CORPUS_SPOOL_DIR=tmp_path / "b", **common)
    assert second.returncode == 1
    assert "has the name 'vm-1': give each worker a WORKER_ID of its own, or none" in second.stderr
    assert "Traceback" not in second.stderr
    gate.open()
    _, err = first.communicate(timeout=DEADLINE)
    assert first.returncode == 0, err
    assert len(site.hits) == len({hit.path for hit in site.hits})


@pytest.mark.parametrize("spool", ["kept", "lost"])
def test_a_restarted_worker_of_a_shared_server_takes_its_name_over(crawl, make_site, redis_url, store, tmp_path, spool):
    site = make_site(pages=6)
    gate = site.gate = Gate(3)
    with redis.Redis.from_url(redis_url) as client:  # of what was fetched in its first seconds links may be lost
        while client.info("server")["uptime_in_seconds"] < 3:
            time.sleep(0.05)  # polled: the clock of another process
    common = {
        "NETWORK_PORTS": site.port,
        "REDIS_URL": redis_url,
        "WORKER_ID": "pod-0",
        "CORPUS_DIR": f"{store}/{spool}",
        "CORPUS_SPOOL_DIR": tmp_path / "spool",
        "FRONTIER_LEASE_SECONDS": 600 if spool == "kept" else 3,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "STAGE_WORKERS": 0,
    }
    first = crawl.start({"url": site.url(0)}, **common)
    gate.wait()
    end = time.monotonic() + DEADLINE
    while len(spooled(tmp_path / "spool")) < 2:
        assert first.poll() is None and time.monotonic() < end
        time.sleep(0.05)  # polled: files of another process
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    recorded = spooled(tmp_path / "spool")
    if spool == "lost":
        shutil.rmtree(tmp_path / "spool")
    gate.open()
    done = crawl.run({"url": site.url(0)}, **common)  # with its spool it waits neither for its name nor for its leases
    assert done.returncode == 0, done.stderr
    pages = [hit.path for hit in site.hits if hit.path.startswith("/p/")]
    assert set(pages) == {f"/p/{n}" for n in range(6)}
    if spool == "kept":
        twice = {path for path in pages if pages.count(path) > 1}
        assert not twice & {urlsplit(url).path for url in recorded}, "only what had no record yet is asked for again"


def test_a_worker_that_stood_still_longer_than_its_lease_sends_nothing_stale(crawl, make_site, redis_url):
    """Its leases expire while it is stopped, and another worker takes them; nobody is asked too soon."""
    site = make_site(pages=10)
    gate = site.gate = Gate(1)
    common = {
        "NETWORK_PORTS": site.port,
        "REDIS_URL": redis_url,
        "DOWNLOAD_DELAY": 0.5,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "FRONTIER_LEASE_SECONDS": 2,
        "STAGE_WORKERS": 0,
        "LOG_LEVEL": "INFO",
    }
    seeds = {"url": ",".join(sorted(site.urls()))}
    paused = crawl.start(seeds, WORKER_ID="paused", **common)
    gate.wait()
    os.kill(paused.pid, signal.SIGSTOP)
    gate.open()
    other = crawl.start(seeds, WORKER_ID="other", **common)
    time.sleep(4.0)  # the passing of time is what is tested: the other worker is in the middle of it
    os.kill(paused.pid, signal.SIGCONT)
    for process in (paused, other):
        _, err = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, err
    assert set(crawl.accounted()) == site.urls()
    arrivals = sorted(hit.at for hit in site.hits)
    gaps = [later - earlier for earlier, later in itertools.pairwise(arrivals)]
    assert min(gaps) > 0.25, gaps
