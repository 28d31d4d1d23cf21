"""Several workers on one server: one frontier, one politeness, one outcome for each URL."""

import asyncio
import signal
import time

import redis

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.storage.files.place import Place
from crawler.urls.link import Link
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
    first = crawl.start({"url": site.url(0)}, WORKER_ID="one", **common)
    gate.wait()
    second = crawl.start({"url": site.url(0)}, WORKER_ID="two", **common)
    wait_until(lambda: gate.standing > 2)  # more than the first may have under way
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


def test_no_page_is_fetched_before_a_worker_knows_what_all_workers_agreed_on(crawl, make_site, redis_url):
    """Another worker is at work on the scope, which takes long: so it is after an outage that ends at that moment."""
    site, looks = make_site(pages=3), redis.Redis.from_url(redis_url)
    settings = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "CRAWL_ID": "main"}

    async def meanwhile():
        frontier = Frontier(redis_url, "main", Limits())
        await frontier.open()
        await frontier.put([Link(url) for url in site.urls()])
        async with frontier.shared.single_flight("scope"):
            looks.config_resetstat()
            worker = crawl.start({"url": site.url(0)}, **settings)
            while looks.info("commandstats").get("cmdstat_get", {}).get("calls", 0) < 10:  # it waits, and looks again
                assert worker.poll() is None
                await asyncio.sleep(0.02)
            assert (await frontier.counts()).leased == 0
            assert site.hits == []
        await frontier.close()
        return worker

    worker = asyncio.run(meanwhile())
    looks.close()
    _, err = worker.communicate(timeout=DEADLINE)
    assert worker.returncode == 0, err
    assert set(crawl.accounted()) == site.urls()


def test_of_two_workers_with_different_delays_the_site_meets_the_longer_one(crawl, make_site, redis_url):
    site = make_site(pages=14)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    first = crawl.start({"url": site.url(0)}, WORKER_ID="one", DOWNLOAD_DELAY=0.5, **common)
    wait_until(lambda: site.hits)
    second = crawl.start({"url": site.url(0)}, WORKER_ID="two", DOWNLOAD_DELAY=0, **common)
    logs = [worker.communicate(timeout=DEADLINE)[1] for worker in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), logs
    assert "DOWNLOAD_DELAY=0.5 holds for this crawl, not 0.0" in logs[1]
    assert site.hits[-1].at - site.hits[0].at > 0.8 * 0.5 * (len(site.hits) - 1)
    assert crawl.accounted() == sorted(site.urls())


def test_a_worker_that_would_judge_otherwise_is_refused_until_somebody_says_so_on_purpose(crawl, make_site, redis_url):
    site = make_site(pages=3)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url}
    done = crawl.run({"url": site.url(0)}, WORKER_ID="one", **common)
    assert done.returncode == 0, done.stderr
    asked = len(site.hits)
    other = crawl.run({"url": site.url(0)}, WORKER_ID="two", OPTOUT_PROFILE="minimal", **common)
    assert other.returncode == 1
    assert "OPTOUT_PROFILE: the crawl has strict, this worker minimal" in other.stderr
    assert "Traceback" not in other.stderr
    assert len(site.hits) == asked
    changed = crawl.run(
        {"url": site.url(0)}, WORKER_ID="two", OPTOUT_PROFILE="minimal", CRAWL_RULES="replace", **common
    )
    assert changed.returncode == 0, changed.stderr
    assert "the rules of this crawl are replaced: OPTOUT_PROFILE=minimal" in changed.stderr


def test_the_pace_that_a_run_records_is_the_one_in_force_and_not_the_one_of_the_worker(crawl, make_site):
    site = make_site(pages=3)
    common = {"NETWORK_PORTS": site.port, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    for delay, rules in ((0.2, "keep"), (0.01, "keep"), (0.01, "replace")):
        done = crawl.run({"url": site.url(0)}, DOWNLOAD_DELAY=delay, CRAWL_RULES=rules, **common)
        assert done.returncode == 0, done.stderr
    runs = Place(str(crawl.folder)).manifest()["runs"]
    assert [run["policy"]["delay_seconds"] for run in runs] == [0.2, 0.2, 0.01]
