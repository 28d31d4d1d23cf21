"""Several workers on one server: one frontier, one politeness, one outcome for each URL."""

import signal
import time
from itertools import pairwise


def wait_until(condition, seconds=40):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.02)


def test_when_one_of_two_workers_is_stopped_the_other_finishes_the_site(crawl, make_site, redis_url):
    site = make_site(pages=160)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "DOWNLOAD_DELAY": 0.15}
    first = crawl.start({"url": site.url(0)}, WORKER_ID="one", CRAWLER_PRODUCT_TOKEN="One", **common)
    wait_until(lambda: len(site.hits) >= 5)
    second = crawl.start({"url": site.url(0)}, WORKER_ID="two", CRAWLER_PRODUCT_TOKEN="Two", **common)
    wait_until(lambda: any(hit.agent.startswith("Two") for hit in site.hits))
    first.send_signal(signal.SIGTERM)
    _, err_one = first.communicate(timeout=60)
    _, err_two = second.communicate(timeout=90)
    assert (first.returncode, second.returncode) == (0, 0), err_one + err_two
    assert crawl.accounted() == sorted(site.urls())
    pages = [hit.path for hit in site.hits if hit.path.startswith("/p/")]
    assert len(pages) == len(set(pages)), "a page was fetched twice"


def test_the_delay_holds_over_all_workers_together(crawl, make_site, redis_url):
    site = make_site(pages=16)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "DOWNLOAD_DELAY": 0.2}
    workers = [crawl.start({"url": site.url(0)}, WORKER_ID=name, **common) for name in ("one", "two", "three")]
    for worker in workers:
        _, err = worker.communicate(timeout=90)
        assert worker.returncode == 0, err
    gaps = [b.at - a.at for a, b in pairwise(site.hits)]
    assert min(gaps) > 0.15, "more than the jitter of a busy machine below the delay of 0.2 s"
    assert crawl.accounted() == sorted(site.urls())


def test_a_killed_worker_loses_nothing(crawl, make_site, redis_url):
    site = make_site(pages=40, latency=0.05)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "FRONTIER_LEASE_SECONDS": 3}
    first = crawl.start({"url": site.url(0)}, WORKER_ID="one", **common)
    wait_until(lambda: len(site.hits) >= 15)
    first.kill()
    first.communicate()
    done = crawl.run({"url": site.url(0)}, WORKER_ID="one", **common)
    assert done.returncode == 0, done.stderr
    assert set(crawl.accounted()) == site.urls()
