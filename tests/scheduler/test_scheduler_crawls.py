"""Real Scrapy crawls of a real local site through the scheduler, each worker a process of its own."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections import Counter

import redis

from crawler.server.embedded import EmbeddedServer
from tests.support.linked_web import Web
from tests.support.serving import DEADLINE, Gate
from tests.support.worker import Worker


def assert_every_page_once(web: Web, pages: int, *workers: Worker) -> None:
    kept = Counter(url for worker in workers for url in worker.kept())
    assert kept == Counter(f"{web.url}/{i}" for i in range(pages))


def test_a_crawl_fetches_every_page_once_and_ends(tmp_path):
    with Web(30) as web:
        worker = Worker(tmp_path, web)
        stats = worker.wait()
        assert_every_page_once(web, 30, worker)
        assert sorted(web.paths()) == sorted(f"/{i}" for i in range(30))
        assert stats["finish_reason"] == "finished"
        assert "Traceback" not in worker.log


def test_seeds_that_come_after_a_long_start_are_crawled(tmp_path):
    with Web(5) as web:
        worker = Worker(tmp_path, web, spider={"late": True})
        worker.wait()
        assert_every_page_once(web, 5, worker)


def test_run_again_it_fetches_nothing(tmp_path):
    with Web(5) as web:
        Worker(tmp_path, web).wait()
        again = Worker(tmp_path, web, "again")
        again.wait()
        assert len(web.log) == 5
        assert again.kept() == []


def test_a_failing_page_is_tried_again_and_then_lost_with_its_record(tmp_path):
    with Web(3) as web:
        web.behaviour["/1"] = lambda times: (500, b"") if times == 0 else (200, b"fine")
        web.behaviour["/2"] = lambda times: (500, b"")
        worker = Worker(tmp_path, web)
        worker.wait()
        assert sorted(worker.kept()) == [f"{web.url}/0", f"{web.url}/1"]
        assert worker.noted("lost") == [f"{web.url}/2"]
        assert Counter(web.paths()) == {"/0": 1, "/1": 2, "/2": 2}


def test_a_callback_that_raises_costs_tries_and_ends_recorded(tmp_path):
    with Web(3) as web:
        worker = Worker(tmp_path, web, spider={"broken": f"{web.url}/1"})
        stats = worker.wait()
        assert sorted(worker.kept()) == [f"{web.url}/0", f"{web.url}/2"]
        assert worker.noted("exhausted") == [f"{web.url}/1"]
        assert stats["frontier/orphaned"] == 2


def assert_distance(web: Web, delay: float, of_others: float) -> None:
    """From the first request to the last; with `of_others` of that time the requests were not kept apart.

    The distance of two neighbours in the log says little on a busy machine: each may have waited for the processor.
    """
    arrivals = sorted(arrived for _, arrived, _ in web.log)
    kept_apart = delay * (len(arrivals) - 1)
    assert arrivals[-1] - arrivals[0] > kept_apart * (1 + of_others) / 2, arrivals


def test_two_workers_keep_the_distance_to_one_host_in_the_servers_own_log(tmp_path):
    delay, begin = 0.25, tmp_path / "begin"
    with Web(500) as web:
        spider = {"start_when": str(begin)}
        workers = [Worker(tmp_path, web, name, spider=spider, DOWNLOAD_DELAY=delay) for name in ("a", "b")]
        for worker in workers:
            worker.until_noted("ready", 1)
        begin.touch()
        for worker in workers:
            worker.until_kept(5)
        for worker in workers:
            worker.process.send_signal(signal.SIGTERM)
        for worker in workers:
            worker.wait()
        assert_distance(web, delay, of_others=0.5)


def test_two_workers_together_keep_to_one_request_at_a_time(tmp_path):
    with Web(20, answer_seconds=0.05) as web:
        workers = [Worker(tmp_path, web, name, CONCURRENT_REQUESTS_PER_DOMAIN=1) for name in ("a", "b")]
        for worker in workers:
            worker.wait()
        assert_every_page_once(web, 20, *workers)
        spans = sorted((arrived, left) for _, arrived, left in web.log)
        assert all(left <= arrived for (_, left), (arrived, _) in itertools.pairwise(spans))


def test_a_worker_stopped_with_sigterm_leaves_its_pages_to_the_other_at_once(tmp_path):
    with Web(300, answer_seconds=0.25) as web:
        settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 2, "FRONTIER_LEASE_SECONDS": 3600}
        leaving = Worker(tmp_path, web, "leaving", **settings)
        leaving.until_kept(1)
        staying = Worker(tmp_path, web, "staying", **settings)
        staying.until_kept(1)
        leaving.process.send_signal(signal.SIGTERM)
        leaving.wait()
        web.answer_seconds = 0.0
        staying.wait()  # it does not wait an hour for leases
        assert_every_page_once(web, 300, leaving, staying)
        assert len(web.log) == 300


def test_a_killed_workers_pages_come_back_when_its_leases_expire(tmp_path):
    with Web(30) as web:
        gate = web.gate = Gate(5)
        settings = {"FRONTIER_LEASE_SECONDS": 2, "CONCURRENT_REQUESTS_PER_DOMAIN": 2}
        killed = Worker(tmp_path, web, "killed", **settings)
        gate.wait()
        killed.process.kill()
        killed.process.communicate()
        gate.open()
        heir = Worker(tmp_path, web, "heir", **settings)
        heir.wait()
        assert {*killed.kept(), *heir.kept()} == {f"{web.url}/{i}" for i in range(30)}


def test_after_a_kill_the_same_command_resumes_without_waiting_for_leases(tmp_path):
    with Web(20) as web:
        gate = web.gate = Gate(5)
        killed = Worker(tmp_path, web, "killed", FRONTIER_LEASE_SECONDS=3600)
        gate.wait()
        killed.process.kill()
        killed.process.communicate()
        gate.open()
        resumed = Worker(tmp_path, web, "resumed", FRONTIER_LEASE_SECONDS=3600)
        resumed.wait()
        assert {*killed.kept(), *resumed.kept()} == {f"{web.url}/{i}" for i in range(20)}


def test_the_server_is_killed_in_mid_crawl_and_the_crawl_goes_on_without_loss(tmp_path):
    with Web(60) as web:
        gate = web.gate = Gate(8)
        worker = Worker(tmp_path, web, CONCURRENT_REQUESTS_PER_DOMAIN=2, FRONTIER_LEASE_SECONDS=4)
        gate.wait()
        with contextlib.closing(redis.Redis.from_url(EmbeddedServer(tmp_path / "corpus/frontier").url)) as client:
            os.kill(int(client.info("server")["process_id"]), signal.SIGKILL)
        gate.open()
        worker.wait()
        assert set(worker.kept()) == {f"{web.url}/{i}" for i in range(60)}
        assert "frontier server is back" in worker.log


def test_without_a_server_the_crawl_ends_with_a_sentence_before_any_request(tmp_path):
    with Web(1) as web:
        worker = Worker(tmp_path, web, REDIS_URL="redis://127.0.0.1:1/0")
        _, log = worker.process.communicate(timeout=DEADLINE)
        assert worker.process.returncode == 1
        assert "no Redis or Valkey answers at redis://127.0.0.1:1/0" in log
        assert web.log == []


def test_the_gate_is_not_optional(tmp_path):
    with Web(1) as web:
        worker = Worker(tmp_path, web, DOWNLOADER_MIDDLEWARES_BASE={})
        _, log = worker.process.communicate(timeout=DEADLINE)
        assert worker.process.returncode == 1
        assert "PolitenessGate" in log
        assert web.log == []


def test_what_a_component_downloads_on_its_own_keeps_the_distance_too(tmp_path):
    delay = 0.5
    with Web(4) as web:
        Worker(tmp_path, web, spider={"extra": f"{web.url}/robots.txt"}, DOWNLOAD_DELAY=delay).wait()
        assert sorted(web.paths()) == ["/0", "/1", "/2", "/3", "/robots.txt", "/robots.txt?again"]
        assert_distance(web, delay, of_others=0.6)  # the four pages alone


def test_seeds_that_come_through_the_door_are_crawled_once_and_strangers_are_refused(tmp_path):
    with Web(1) as web, EmbeddedServer(tmp_path / "server") as url:
        with contextlib.closing(redis.Redis.from_url(url)) as client:
            entries = [f"{web.url}/7", f'{{"url": "{web.url}/8", "priority": 3}}', f"{web.url}/7", "ftp://x/"]
            entries += [f'{{"url": "{web.url}/9", "meta": {{"proxy": "http://evil"}}}}', f"{web.url}/forbidden"]
            client.rpush("follow:start_urls", *entries)
            worker = Worker(tmp_path, web, spider={"door": True}, REDIS_URL=url)
            worker.wait()
            assert sorted(web.paths()) == ["/0", "/7", "/8"]
            assert client.llen("follow:start_urls") == 0
        assert "no other field" in worker.log
        assert "evil" not in worker.log


def test_a_host_that_only_fails_is_left_alone_and_does_not_keep_the_crawl_from_ending(tmp_path):
    with Web(30) as web:
        for i in range(1, 30):
            web.behaviour[f"/{i}"] = lambda times: (500, b"")
        settings = {"FRONTIER_BREAKER_FAILURES": 3, "FRONTIER_BREAKER_SECONDS": 60, "FRONTIER_PATIENCE_SECONDS": 10}
        settings["FRONTIER_RETRY_BACKOFF_SECONDS"] = 600
        worker = Worker(tmp_path, web, **settings)
        stats = worker.wait()
        assert stats["finish_reason"] == "finished"
        assert web.paths()[0] == "/0"
        # instead of 29 pages, twice each; one may be under way while the word of the third goes to the server
        assert 1 + 3 <= len(web.log) <= 1 + 3 + 1 + 3  # and each of the three may come back before the third failed
        assert worker.noted("lost") == []


def test_a_host_that_comes_back_is_found_by_one_probe_and_loses_nothing(tmp_path):
    with Web(12) as web:

        def recovering(times: int) -> tuple[int, bytes]:
            return (500, b"") if len(web.log) < 7 else (200, b"fine")

        for i in range(1, 12):
            web.behaviour[f"/{i}"] = recovering
        settings = {
            "FRONTIER_BREAKER_FAILURES": 3,
            "FRONTIER_BREAKER_SECONDS": 0.2,
            "FRONTIER_BREAKER_MAX_SECONDS": 0.4,
            "FRONTIER_RETRY_BACKOFF_SECONDS": 2,
        }
        worker = Worker(tmp_path, web, **settings)
        worker.wait()
        assert_every_page_once(web, 12, worker)
        assert worker.noted("lost") == []
