"""A crawl into an object store acknowledges a page when its record is in the store; a lost spool loses no page."""

import asyncio
import os
import shutil
import signal
import time

import pytest

from crawler.dataset.verify import verify
from crawler.frontier.client import Frontier
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_lines, read_records
from tests.support.serving import DEADLINE, Gate
from tests.support.site import Site

PAGES = 12
BEFORE = 6  # requests that are answered before the worker is killed


class Forbidding(Site):
    """robots.txt forbids every second page: it is refused without a request."""

    def answer(self, path):
        if path == "/robots.txt":
            lines = [f"Disallow: /p/{number}$" for number in range(1, self.pages, 2)]
            return 200, "\n".join(["User-agent: *", *lines]).encode()
        return super().answer(path)


def wait_until(condition, process):
    end = time.monotonic() + DEADLINE
    while not condition():
        assert process.poll() is None and time.monotonic() < end, "nothing happened in time"
        time.sleep(0.05)  # polled: files and a server of other processes


def spooled(spool):
    """Records that are synced to the spool."""
    parts = [path for folder in ("shards", "rejected") for path in (spool / folder).glob("*.part")]
    return sum(1 for path in parts for _ in read_lines(path))


def counts(url):
    async def ask():
        frontier = Frontier(url, "crawl")
        await frontier.open()
        try:
            return await frontier.counts()
        finally:
            await frontier.close()

    return asyncio.run(ask())


def killed_and_run_again(crawl, make_site, redis_url, url, spool, ready, **settings):
    """A worker dies with its spool when `ready` says so; the same command runs to its end. The site, and the place."""
    site = make_site(pages=PAGES)
    gate = site.gate = Gate(BEFORE)
    common = {
        "NETWORK_PORTS": site.port,
        "REDIS_URL": redis_url,
        "WORKER_ID": "pod-0",
        "CORPUS_DIR": url,
        "CORPUS_SPOOL_DIR": spool,
        "FRONTIER_LEASE_SECONDS": 3,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        **settings,
    }
    first = crawl.start({"url": ",".join(site.urls())}, **common)
    gate.wait()
    wait_until(lambda: ready(spool, redis_url), first)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    shutil.rmtree(spool)
    gate.open()
    done = crawl.run({"url": ",".join(site.urls())}, **common)
    assert done.returncode == 0, done.stderr
    return site, Place(url)


def urls_in(place):
    paths = [entry["path"] for entry in place.manifest()["files"] if entry["kind"] != "archive"]
    return sorted(record["url"] for path in paths for record in read_records(place, path))


def test_pages_of_a_worker_that_died_with_its_spool_are_fetched_again(crawl, make_site, redis_url, store, tmp_path):
    def ready(spool, redis_url):
        return spooled(spool) >= BEFORE - 1 and counts(redis_url).done == 0

    site, place = killed_and_run_again(
        crawl, make_site, redis_url, f"{store}/{tmp_path.name}", tmp_path / "spool", ready
    )
    assert urls_in(place) == sorted(site.urls())
    assert verify(place).damage == []
    assert [run["ended"] is not None for run in place.manifest()["runs"]] == [True, True]
    records = [r for e in place.manifest()["files"] if e["kind"] != "archive" for r in read_records(place, e["path"])]
    assert not [r["url"] for r in records if r.get("dup_of") == r["url"]], "a page is a duplicate of its lost self"


def test_with_ack_after_spool_a_page_is_done_before_it_is_in_the_store(crawl, make_site, redis_url, store, tmp_path):
    def ready(spool, redis_url):
        return counts(redis_url).done >= BEFORE - 1

    site, place = killed_and_run_again(
        crawl, make_site, redis_url, f"{store}/{tmp_path.name}", tmp_path / "spool", ready, ACK_AFTER="spool"
    )
    assert len(urls_in(place)) < len(site.urls())


def test_a_worker_that_is_stopped_uploads_and_acknowledges_what_it_has(crawl, make_site, redis_url, store, tmp_path):
    site, url = make_site(pages=PAGES), f"{store}/{tmp_path.name}"
    gate = site.gate = Gate(BEFORE)
    process = crawl.start(
        {"url": ",".join(site.urls())},
        NETWORK_PORTS=site.port,
        REDIS_URL=redis_url,
        CORPUS_DIR=url,
        CORPUS_SPOOL_DIR=tmp_path / "spool",
        CONCURRENT_REQUESTS_PER_DOMAIN=1,
    )
    gate.wait()
    wait_until(lambda: spooled(tmp_path / "spool") >= BEFORE - 1, process)
    process.send_signal(signal.SIGTERM)
    gate.open()
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    told = counts(redis_url)
    assert told.done == len(urls_in(Place(url))) >= BEFORE - 1 and told.leased == 0


def test_pages_that_wait_for_their_upload_leave_the_host_free(crawl, store, redis_url, tmp_path):
    site = Forbidding(pages=PAGES).start()
    try:
        done = crawl.run(
            {"url": ",".join(site.urls())},
            NETWORK_PORTS=site.port,
            REDIS_URL=redis_url,
            CORPUS_DIR=f"{store}/{tmp_path.name}",
            CORPUS_SPOOL_DIR=tmp_path / "spool",
            CONCURRENT_REQUESTS_PER_DOMAIN=1,
            timeout=120,  # every page would wait for UPLOAD_SECONDS, 300, if the one before it kept its place
        )
    finally:
        site.stop()
    assert done.returncode == 0, done.stderr
    place = Place(f"{store}/{tmp_path.name}")
    assert urls_in(place) == sorted(site.urls())
    files = [entry for entry in place.manifest()["files"] if entry["kind"] == "rejected"]
    assert sum(entry["documents"] for entry in files) >= PAGES // 2
    assert len(files) == 1, "one upload at the end of the crawl, when nothing else is left to do"


@pytest.mark.parametrize("removed", [".", "shards"])
def test_a_spool_that_is_removed_before_its_upload_loses_no_page_and_the_error_says_so(
    crawl, make_site, redis_url, store, tmp_path, removed
):
    gate, spool, url = Gate(BEFORE), tmp_path / "spool", f"{store}/{tmp_path.name}-{removed}"
    site = make_site(pages=PAGES)
    site.gate = gate
    common = {
        "NETWORK_PORTS": site.port,
        "REDIS_URL": redis_url,
        "CORPUS_DIR": url,
        "CORPUS_SPOOL_DIR": spool,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    }
    first = crawl.start({"url": ",".join(site.urls())}, **common)
    gate.wait()
    wait_until(lambda: spooled(spool) >= BEFORE - 1, first)
    shutil.rmtree(spool / removed)
    gate.open()
    _, err = first.communicate(timeout=DEADLINE)
    assert first.returncode == 1
    (error,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert "no page is lost: the same command makes the folder again and fetches what was not in the store" in error
    assert "another CRAWL_ID" not in err and "put it back" not in err
    again = crawl.run({"url": ",".join(site.urls())}, **common)
    assert again.returncode == 0, again.stderr
    assert urls_in(Place(url)) == sorted(site.urls())
