"""Several workers on one server: one frontier, one politeness, one outcome for each URL."""

import signal
import time

import pytest

from crawler.frontier.server import EmbeddedServer


@pytest.fixture
def redis_url(tmp_path):
    server = EmbeddedServer(tmp_path / "server")
    yield server.start()
    server.stop()


def wait_until(condition, seconds=40):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.02)


def test_when_one_of_two_workers_is_stopped_the_other_finishes_the_site(crawl, make_site, redis_url):
    site = make_site(pages=60, latency=0.05)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url}
    first = crawl.start({"url": site.url(0)}, WORKER_ID="one", **common)
    second = crawl.start({"url": site.url(0)}, WORKER_ID="two", **common)
    wait_until(lambda: len(site.hits) >= 20)
    first.send_signal(signal.SIGTERM)
    _, err_one = first.communicate(timeout=60)
    _, err_two = second.communicate(timeout=90)
    assert (first.returncode, second.returncode) == (0, 0), err_one + err_two
    assert crawl.urls() == sorted(site.urls())
    pages = [hit.path for hit in site.hits if hit.path.startswith("/p/")]
    assert len(pages) == len(set(pages)), "a page was fetched twice"


def test_the_delay_holds_over_all_workers_together(crawl, make_site, redis_url):
    site = make_site(pages=16)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "DOWNLOAD_DELAY": 0.2}
    workers = [crawl.start({"url": site.url(0)}, WORKER_ID=name, **common) for name in ("one", "two", "three")]
    for worker in workers:
        _, err = worker.communicate(timeout=90)
        assert worker.returncode == 0, err
    times = [hit.at for hit in site.hits]
    assert min(b - a for a, b in zip(times, times[1:], strict=False)) > 0.17
    assert crawl.urls() == sorted(site.urls())


def test_a_killed_worker_loses_nothing(crawl, make_site, redis_url):
    site = make_site(pages=40, latency=0.05)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "FRONTIER_LEASE_SECONDS": 3}
    first = crawl.start({"url": site.url(0)}, WORKER_ID="one", **common)
    wait_until(lambda: len(site.hits) >= 15)
    first.kill()
    first.communicate()
    done = crawl.run({"url": site.url(0)}, WORKER_ID="one", **common)
    assert done.returncode == 0, done.stderr
    assert set(crawl.urls()) | set(crawl.urls("rejected")) == site.urls()
