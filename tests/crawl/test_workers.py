"""Several workers on one server: one frontier, one politeness, one outcome for each URL."""

import signal
import time

from tests.support.serving import DEADLINE, Gate


def wait_until(condition, seconds=DEADLINE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.02)


def test_when_one_of_two_workers_is_stopped_the_other_finishes_the_site(crawl, make_site, redis_url):
    site = make_site(pages=60)
    gate = site.gate = Gate(5)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "CONCURRENT_REQUESTS": 2}  # of four at a time
    first = crawl.start({"url": site.url(0)}, WORKER_ID="one", CRAWLER_PRODUCT_TOKEN="One", **common)
    gate.wait()
    second = crawl.start({"url": site.url(0)}, WORKER_ID="two", CRAWLER_PRODUCT_TOKEN="Two", **common)
    wait_until(lambda: any(hit.agent.startswith("Two") for hit in site.hits))
    first.send_signal(signal.SIGTERM)
    gate.open()
    _, err_one = first.communicate(timeout=DEADLINE)
    _, err_two = second.communicate(timeout=DEADLINE)
    assert (first.returncode, second.returncode) == (0, 0), err_one + err_two
    assert crawl.accounted() == sorted(site.urls())
    pages = [hit.path for hit in site.hits if hit.path.startswith("/p/")]
    assert len(pages) == len(set(pages)), "a page was fetched twice"


def test_the_delay_holds_over_all_workers_together(crawl, make_site, redis_url):
    site = make_site(pages=16)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "DOWNLOAD_DELAY": 0.2}
    workers = [crawl.start({"url": site.url(0)}, WORKER_ID=name, **common) for name in ("one", "two", "three")]
    for worker in workers:
        _, err = worker.communicate(timeout=DEADLINE)
        assert worker.returncode == 0, err
    # three workers that know nothing of each other would need a third of the time; a late entry in the log says nothing
    assert site.hits[-1].at - site.hits[0].at > 0.6 * 0.2 * (len(site.hits) - 1)
    assert crawl.accounted() == sorted(site.urls())


def test_a_killed_worker_loses_nothing(crawl, make_site, redis_url):
    site = make_site(pages=40)
    gate = site.gate = Gate(15)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "FRONTIER_LEASE_SECONDS": 3}
    first = crawl.start({"url": site.url(0)}, WORKER_ID="one", **common)
    gate.wait()
    first.kill()
    first.communicate()
    gate.open()
    done = crawl.run({"url": site.url(0)}, WORKER_ID="one", **common)
    assert done.returncode == 0, done.stderr
    assert set(crawl.accounted()) == site.urls()
