"""The frontier is lost while the documents are there: nothing is fetched or kept twice, and nothing is forgotten."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import time
from collections import Counter

import pytest
import redis

from crawler.config import from_mapping
from crawler.dataset.merge.corpus import merge_corpora
from crawler.frontier.adopt import adopt
from crawler.frontier.client import Frontier
from crawler.frontier.seeding import seed_server
from crawler.observe.report.summary import summarise
from crawler.seeds.arguments import plan_of
from crawler.spiders.behind import finished_records
from crawler.storage.files.place import Place
from crawler.urls.canonicalize import Address
from tests.support.changing_site import ChangingSite, Page
from tests.support.process import scrapy
from tests.support.serving import DEADLINE, Gate, article


def pages(site) -> Counter[str]:
    return Counter(hit.path for hit in site.hits if hit.path.startswith("/p/"))


def test_a_crawl_whose_frontier_was_deleted_keeps_and_fetches_nothing_twice(crawl, make_site):
    site = make_site(pages=20)
    first = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert first.returncode == 0, first.stderr
    kept, texts = crawl.urls(), len(crawl.records())
    shutil.rmtree(crawl.folder / "frontier")
    again = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert again.returncode == 0, again.stderr
    assert "that its frontier does not know (was it emptied or lost?): rebuilding it" in again.stderr
    assert f"{len(crawl.accounted())} finished URLs, {texts} texts in the duplicate index, 0 links" in again.stderr
    assert crawl.urls() == kept
    assert set(pages(site).values()) == {1}


def test_a_crawl_that_was_stopped_and_lost_its_frontier_goes_on_where_its_pages_led(crawl, make_site):
    site = make_site(pages=30)
    site.gate = Gate(9)
    first = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port, CONCURRENT_REQUESTS=2)
    site.gate.wait()
    first.send_signal(signal.SIGTERM)
    site.gate.open()
    _, log = first.communicate(timeout=DEADLINE)
    assert first.returncode == 0, log
    done = set(crawl.accounted())
    assert 0 < len(done) < 30
    shutil.rmtree(crawl.folder / "frontier")
    before = pages(site)
    again = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert again.returncode == 0, again.stderr
    assert crawl.accounted() == sorted(site.urls())
    asked_again = pages(site) - before
    assert not {url for url in done if url.removeprefix(site.url(0).removesuffix("/p/0")) in asked_again}


def test_a_rebuild_that_was_killed_half_way_is_begun_again(crawl, make_site, redis_url):
    site = make_site(pages=8)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url}
    assert crawl.run({"url": site.url(0)}, **common).returncode == 0
    kept = crawl.urls()

    async def half_way():
        frontier = Frontier(redis_url, "crawl")
        await frontier.connection.redis.flushall()
        await frontier.shared.put_blob("rebuild", b"1", 999.0)
        await adopt(frontier, [(Address(site.url(3)), b"")])
        assert (await frontier.counts()).seen == 1
        await frontier.close()

    asyncio.run(half_way())
    again = crawl.run({"url": site.url(0)}, **common)
    assert again.returncode == 0, again.stderr
    assert "the frontier is rebuilt: 7 finished URLs" in again.stderr
    assert crawl.urls() == kept
    assert set(pages(site).values()) == {1}


def test_two_workers_on_a_server_that_was_emptied_keep_nothing_twice(crawl, make_site, redis_url):
    site = make_site(pages=20)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url}
    assert crawl.run({"url": site.url(0)}, WORKER_ID="one", **common).returncode == 0
    kept = crawl.urls()
    with contextlib.closing(redis.Redis.from_url(redis_url)) as server:
        server.flushall()
    workers = [crawl.start({"url": site.url(0)}, WORKER_ID=name, **common) for name in ("one", "two")]
    logs = [worker.communicate(timeout=DEADLINE)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], logs
    assert sum("the frontier is rebuilt" in log for log in logs) == 1
    assert crawl.urls() == kept
    assert set(pages(site).values()) == {1}


def test_seeds_that_were_put_into_the_empty_frontier_first_hide_nothing(crawl, make_site, redis_url):
    site = make_site(pages=6)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url}
    assert crawl.run({"url": site.url(0)}, **common).returncode == 0
    kept = crawl.urls()
    with contextlib.closing(redis.Redis.from_url(redis_url)) as server:
        server.flushall()
    seeded = seed_server(from_mapping({"REDIS_URL": redis_url}), plan_of({"url": site.url(0)}))
    assert seeded.added == 1
    again = crawl.run({}, **common)
    assert again.returncode == 0, again.stderr
    assert crawl.urls() == kept
    assert set(pages(site).values()) == {1}


def test_what_a_machine_lost_with_its_folder_had_is_fetched_again_into_the_merged_rest(crawl, make_site, redis_url):
    site = make_site(pages=6)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url}
    machines = {name: crawl.folder.parent / name for name in "abc"}

    def listed(*numbers: int) -> dict[str, str]:
        return {"url": ",".join(map(site.url, numbers)), "discovery": "sitemap"}

    for at, (name, folder) in enumerate(machines.items()):
        done = crawl.run(listed(2 * at, 2 * at + 1), CORPUS_DIR=folder, WORKER_ID=name, **common)
        assert done.returncode == 0, done.stderr
    shutil.rmtree(machines["b"])
    places = [Place(str(machines[name])) for name in "ac"]
    merge_corpora(places, Place(str(crawl.folder)), from_mapping({}), now=time.time())
    with contextlib.closing(redis.Redis.from_url(redis_url)) as server:
        server.flushall()
    again = crawl.run(listed(*range(6)), **common)
    assert again.returncode == 0, again.stderr
    assert crawl.accounted() == sorted(site.urls())
    assert pages(site) == Counter({f"/p/{n}": 2 if n in (2, 3) else 1 for n in range(6)})


def test_without_seeds_nobody_knows_what_may_be_fetched(crawl, make_site, redis_url):
    site = make_site(pages=3)
    common = {"NETWORK_PORTS": site.port, "REDIS_URL": redis_url}
    assert crawl.run({"url": site.url(0)}, **common).returncode == 0
    with contextlib.closing(redis.Redis.from_url(redis_url)) as server:
        server.flushall()
    done = crawl.run({}, **common)
    assert done.returncode == 1
    assert "and nothing says what the crawl may fetch: give the seeds again" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_of_a_lost_frontier_is_visited_again_when_it_is_due(crawl, make_site):
    site = make_site(pages=4)
    common = {"NETWORK_PORTS": site.port, "RECRAWL_INTERVAL_SECONDS": 0, "RECRAWL_MIN_SECONDS": 0}
    assert crawl.run({"url": site.url(0)}, **common).returncode == 0
    shutil.rmtree(crawl.folder / "frontier")
    again = crawl.run({"url": site.url(0)}, RECRAWL=True, **common)
    assert again.returncode == 0, again.stderr
    assert set(pages(site).values()) == {2}
    assert crawl.urls() == sorted(set(crawl.urls()))


LOST, REQUEUED = "lost", "requeued"


@pytest.mark.parametrize(
    ("why", "second"),
    [(LOST, {}), (LOST, {"RECRAWL": True}), (LOST, {"RECRAWL": True, "WORKER_ID": "two"}), (REQUEUED, {})],
)
def test_a_failed_visit_that_a_frontier_makes_again_counts_once(crawl, why, second):
    """The record of the first visit counted as a rejection of a page that is kept, or as a second one."""
    ways = tuple(f"/{name}" for name in ("back", "broken", "short", "gone"))
    start, back = (Page(article(name, links=ways)) for name in ("start", "back"))
    short = Page(b"<html><body><p>Short.</p></body></html>")
    site = ChangingSite(pages={"/": start, "/back": Page(status=500), "/broken": Page(status=500), "/short": short})
    site.start()
    common = {"NETWORK_PORTS": site.port, "PROGRESS": "on", "RETRY_TIMES": 0, "RECRAWL_INTERVAL_SECONDS": 10**6}
    try:
        assert crawl.run({"url": f"{site.base}/"}, **common).returncode == 0
        before = summarise(str(crawl.folder))
        site.pages["/back"] = back
        if why == LOST:
            shutil.rmtree(crawl.folder / "frontier")
        else:
            assert "URLs went back" in scrapy("frontier", "requeue", "dead", "-s", f"CORPUS_DIR={crawl.folder}").stdout
        again = crawl.run({"url": f"{site.base}/"}, **common, **second)
    finally:
        site.stop()
    assert again.returncode == 0, again.stderr
    after = summarise(str(crawl.folder))
    assert (before.kept, before.rejected) == (1, 4)
    assert (after.kept, after.rejected) == (2, 3)
    assert {verdict.reason for verdict in after.rejections} == {"http_error", "too_short", "gone"}
    assert "2 kept   3 rejected" in again.stdout
    assert "5 records, each page exactly once" in scrapy("dataset", "verify", crawl.folder).stdout


def test_a_crawl_whose_frontier_lost_the_end_of_its_file_says_so_and_fix_leaves_each_page_once(crawl, make_site):
    site = make_site(pages=30)
    site.gate = Gate(9)
    first = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port, CONCURRENT_REQUESTS=2)
    site.gate.wait()
    first.send_signal(signal.SIGTERM)
    site.gate.open()
    _, log = first.communicate(timeout=DEADLINE)
    assert first.returncode == 0, log
    (grown,) = (crawl.folder / "frontier" / "appendonlydir").glob("*.incr.aof")
    before = grown.stat().st_size
    for _ in range(2):
        whole = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
        assert whole.returncode == 0 and "the frontier of crawl" not in whole.stderr
    grown.write_bytes(grown.read_bytes()[:before])
    again = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert again.returncode == 0, again.stderr
    assert "holds 30 records of finished pages and the frontier of crawl 'crawl' knows " in again.stderr
    assert f"`gristmill dataset verify --fix {crawl.folder}` leaves each of them once" in again.stderr
    assert scrapy("dataset", "verify", "--fix", crawl.folder).returncode == 0
    assert crawl.accounted() == sorted(site.urls())


def test_verdicts_that_a_page_may_get_again_do_not_count_as_finished():
    files = [
        {"kind": "shards", "documents": 2},
        {"kind": "rejected", "documents": 9, "reasons": {"fetch/download_failed": 4, "policy/hold_rate_limited": 4,
                                                         "quality/low_quality": 1}},
    ]  # fmt: skip
    assert finished_records(files) == 3
