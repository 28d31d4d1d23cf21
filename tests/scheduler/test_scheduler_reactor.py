"""The event loop never waits for the server, links known lately stay at home, and the engine is woken in time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading

import redis

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, PutStatus
from crawler.scheduler.put_queue import PutQueue, RecentUrls
from crawler.server.embedded import EmbeddedServer
from crawler.urls.link import Link
from tests.support.linked_web import Web
from tests.support.worker import Worker

QUEUED, SEEN = PutStatus.QUEUED, PutStatus.SEEN


def test_a_server_that_stands_still_does_not_stop_the_event_loop(tmp_path):
    async def scenario(url: str, pid: int) -> None:
        frontier = Frontier(url, "still", Limits())
        await frontier.open()
        put_queue = PutQueue(frontier, lambda: None)
        await put_queue.put([Link("https://a.example/first")])
        os.kill(pid, signal.SIGSTOP)
        rescue = threading.Timer(20.0, os.kill, (pid, signal.SIGCONT))  # or a blocked loop would wait for ever
        rescue.start()
        try:
            links = [Link(f"https://a.example/{i}") for i in range(2000)]
            calls = [
                put_queue.put(links),
                frontier.lease(9),
                frontier.politeness.block("b.example", frontier.now() + 9, "x"),
            ]
            work = asyncio.ensure_future(asyncio.gather(*calls, frontier.shared.get_blob("robots"), frontier.counts()))
            for _ in range(200):
                await asyncio.sleep(0.005)  # other work of the loop, a second of it
            assert not work.done()
        finally:
            rescue.cancel()
            os.kill(pid, signal.SIGCONT)
        answers, *_ = await work
        assert answers == [QUEUED] * 2000
        await frontier.close()

    with EmbeddedServer(tmp_path / "server") as url:
        with contextlib.closing(redis.Redis.from_url(url)) as client:
            pid = int(client.info("server")["process_id"])
        asyncio.run(scenario(url, pid))


def test_links_put_lately_are_not_sent_again_and_the_oldest_are_forgotten(frontier_run):
    async def scenario(frontier):
        stirred = []
        put_queue = PutQueue(frontier, lambda: stirred.append(1), RecentUrls(3))
        links = [Link(f"https://a.example/{i}") for i in range(5)]
        assert await put_queue.put(links) == [QUEUED] * 5
        await frontier.connection.redis.flushdb()  # who answers "seen" now has not asked the server
        assert await put_queue.put(links) == [QUEUED, QUEUED, SEEN, SEEN, SEEN]
        assert len(stirred) == 2
        assert await put_queue.put(links[:2]) == [SEEN, SEEN]
        assert len(stirred) == 2

    frontier_run(scenario)


def test_what_was_refused_is_not_remembered(frontier_run):
    async def scenario(frontier):
        put_queue = PutQueue(frontier, lambda: None)
        deep = Link("https://a.example/deep", depth=9)
        assert await put_queue.put([deep]) == [PutStatus.CAPPED]
        assert await put_queue.put([Link(deep.url)]) == [QUEUED]

    frontier_run(scenario, depth=3)


def test_the_engine_is_woken_when_a_host_may_be_asked_not_at_scrapys_heartbeat(tmp_path):
    with Web(6) as web:
        Worker(tmp_path, web, heartbeat=3600.0, DOWNLOAD_DELAY=0.3).wait()
        assert len(web.log) == 6  # who waited for the heartbeat would wait for an hour
