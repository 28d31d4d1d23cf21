"""Who stops a crawl twice wants it to end, whatever has become of it; one without its frontier ends by itself."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal

import pytest
import redis

from crawler.server.embedded import EmbeddedServer
from tests.support.crawl import read_until
from tests.support.serving import DEADLINE, Gate


@pytest.mark.parametrize("noticed", [False, True])
def test_a_worker_that_lost_its_folder_and_its_server_ends_when_it_is_stopped_twice(
    crawl, make_site, tmp_path, noticed
):
    site = make_site(pages=40)
    gate = site.gate = Gate(15)
    worker = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port, LOG_LEVEL="INFO")
    gate.wait()
    with contextlib.closing(redis.Redis.from_url(EmbeddedServer(crawl.folder / "frontier").url)) as client:
        server = int(client.info("server")["process_id"])
    os.kill(server, signal.SIGKILL)
    shutil.rmtree(crawl.folder.rename(tmp_path / "taken away"))  # under this name nobody writes into it meanwhile
    if noticed:
        read_until(worker, "is unreachable")
    for _ in range(2):
        worker.send_signal(signal.SIGTERM)
        read_until(worker, "Received SIGTERM")
    _, err = worker.communicate(timeout=DEADLINE)  # the gate is still shut: nothing that hangs on a page ends by itself
    assert worker.returncode != 0, err
    gate.open()


def test_a_crawl_whose_frontier_breaks_ends_by_itself_and_says_so(crawl, make_site):
    site = make_site(pages=40)
    gate = site.gate = Gate(15)
    worker = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port, FRONTIER_LEASE_SECONDS=3)
    gate.wait()
    server = EmbeddedServer(crawl.folder / "frontier")
    with contextlib.closing(redis.Redis.from_url(server.url)) as client:
        for key in client.keys("{crawl.0}:*"):
            client.set(key, "no type that a script expects")
    gate.open()
    _, err = worker.communicate(timeout=DEADLINE)
    assert worker.returncode != 0
    assert "the frontier failed: the crawl stops" in err
    with contextlib.closing(redis.Redis.from_url(server.url)) as client, pytest.raises(redis.ConnectionError):
        client.ping()  # nobody uses it any more, so it has ended, too


def test_a_crawl_whose_frontier_breaks_waits_no_longer_for_an_index_that_is_away_than_one_that_cannot_write(
    crawl, make_site, redis_url
):
    site = make_site(pages=12)
    gate = site.gate = Gate(1)
    crawl.settings |= {"DEDUP_REDIS_URL": redis_url, "YIELD_MIN_SHARE": 0}
    worker = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port, FRONTIER_LEASE_SECONDS=3)
    gate.wait(2)
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        client.config_set("maxmemory", 1)
    gate.open()
    read_until(worker, "is unreachable")  # a page waits for the index
    with contextlib.closing(redis.Redis.from_url(EmbeddedServer(crawl.folder / "frontier").url)) as client:
        for key in client.keys("{crawl.0}:*"):
            client.set(key, "no type that a script expects")
    _, err = worker.communicate(timeout=DEADLINE)
    assert worker.returncode == 1
    assert "the server is unreachable as well; rerun the same command" in err
    assert "error: the crawl was cut off" in err, err


def test_a_crawl_whose_writer_fails_unexpectedly_ends_with_the_error_and_the_same_command_does_the_rest(
    crawl, make_site, monkeypatch
):
    site = make_site(pages=12)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "tests.crawl.broken_writer")
    broken = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert broken.returncode == 1
    assert broken.stderr.splitlines()[-1].startswith("error: the corpus cannot be written: ValueError: nobody expected")
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE")
    again = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert again.returncode == 0, again.stderr
    assert set(crawl.accounted()) == site.urls()


def test_a_page_that_cannot_be_acknowledged_ends_the_crawl_with_a_sentence_and_is_not_waited_for(
    crawl, make_site, monkeypatch
):
    site = make_site(pages=12)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "tests.crawl.unsettled")
    broken = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port, timeout=DEADLINE)
    assert broken.returncode == 1
    assert broken.stderr.splitlines()[-1].startswith("error: Too many open files: this process has no file descriptor")
    assert "Traceback" not in broken.stderr, broken.stderr
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE")
    again = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert again.returncode == 0, again.stderr
    assert set(crawl.accounted()) == site.urls()


@pytest.mark.parametrize("its_server", ["of the frontier", "of the duplicate index"])
def test_a_crawl_whose_disk_is_full_for_its_server_too_ends_by_itself_and_the_same_command_does_the_rest(
    crawl, make_site, monkeypatch, tmp_path, redis_url, its_server
):
    site = make_site(pages=12)
    gate, page = Gate(1), site.answer
    site.gate, site.answer = gate, lambda path: (404, b"") if path == "/p/1" else page(path)
    full = tmp_path / "full"
    monkeypatch.setenv("FULL_DISK", str(full))
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "tests.crawl.full_disk")
    crawl.settings["YIELD_MIN_SHARE"] = 0  # or page 1 may wait until page 0 is counted on the server
    frontier = EmbeddedServer(crawl.folder / "frontier").url
    if its_server == "of the duplicate index":
        crawl.settings["DEDUP_REDIS_URL"] = redis_url
    worker = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port)
    gate.wait(2)  # both have asked the server for their turn, and can be answered without it
    full.touch()
    with contextlib.closing(redis.Redis.from_url(crawl.settings.get("DEDUP_REDIS_URL", frontier))) as client:
        client.config_set("maxmemory", 1)  # page 2 waits for it, the record of page 1 cannot be written
    gate.open()
    _, err = worker.communicate(timeout=DEADLINE)
    assert worker.returncode == 1
    assert "No space left on device" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert "counted as a failed attempt" not in err  # full disks are nobody's fault but ours
    full.unlink()
    if its_server == "of the duplicate index":
        with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
            client.config_set("maxmemory", 0)
    again = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert again.returncode == 0, again.stderr
    assert {str(r["url"]) for kind in ("shards", "rejected") for r in crawl.records(kind)} >= {
        site.url(i) for i in (0, 1, 2, 5, 6, 11)
    }
