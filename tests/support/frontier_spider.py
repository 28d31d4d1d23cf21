"""The smallest spider that keeps the frontier's rules, as a process of its own: `python frontier_spider.py JSON`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import scrapy
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import CrawlerProcess

from crawler.frontier.model import Fault
from crawler.urls.canonicalize import canonicalize
from crawler.urls.link import Link


class FollowSpider(scrapy.Spider):
    name = "follow"
    seeds: tuple[str, ...] = ()
    broken = ""
    record = ""
    extra = ""  # downloaded beside the first page, as robots.txt is
    door = False
    start_when = ""  # a file whose appearance begins the crawl; "ready" is noted before
    late = False  # sows only after the scheduler has noticed that there is nothing to do

    def admits_seed(self, url: str) -> bool:
        return bool(self.door) and "forbidden" not in url

    def note(self, kind: str, url: str) -> None:
        with open(self.record, "a") as out:  # noqa: PTH123
            out.write(f"{kind} {url}\n")

    @property
    def scheduler(self) -> Any:
        return self.crawler.engine.scheduler

    async def start(self):
        while self.late and self.scheduler.has_pending_requests():
            await asyncio.sleep(0.02)
        if self.start_when:
            self.note("ready", self.start_when)
        while self.start_when and not os.path.exists(self.start_when):  # noqa: PTH110
            await asyncio.sleep(0.02)
        await self.scheduler.put([Link(canonicalize(seed)) for seed in self.seeds])
        return
        yield

    async def parse(self, response):
        lease = response.meta["lease"]
        if self.extra:
            extra, self.extra = self.extra, ""
            await self.scheduler.wait_turn(extra)
            await self.crawler.engine.download_async(scrapy.Request(extra))
            await self.crawler.engine.download_async(scrapy.Request(extra + "?again"))
        if response.url == self.broken:
            raise RuntimeError("a callback that fails")
        if response.status != 200:
            if not await self.scheduler.retry(lease.token, None, f"HTTP {response.status}", fault=Fault.HOST):
                self.note("lost", lease.url)
                await self.scheduler.settle(lease.token)
            return
        links = (canonicalize(href, lease.url) for href in response.css("a::attr(href)").getall())
        await self.scheduler.put([Link(link, depth=lease.link.depth + 1) for link in links if link])
        self.note("kept", lease.url)
        await self.scheduler.settle(lease.token)

    async def failed(self, failure):
        lease = failure.request.meta["lease"]
        if lease.exhausted:
            self.note("exhausted", lease.url)
            await self.scheduler.settle(lease.token)
        elif not await self.scheduler.retry(lease.token, None, type(failure.value).__name__, fault=Fault.HOST):
            self.note("lost", lease.url)
            await self.scheduler.settle(lease.token)


BASE = {
    "SCHEDULER": "crawler.scheduler.scheduler.Scheduler",
    "DOWNLOADER": "crawler.downloader.open.OpenDownloader",
    "DOWNLOADER_MIDDLEWARES_BASE": {"crawler.scheduler.gate.PolitenessGate": 900},
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "HTTPERROR_ALLOW_ALL": True,
    "LOG_LEVEL": "INFO",
    "RETRY_TIMES": 1,
    "FRONTIER_RETRY_BACKOFF_SECONDS": 0.05,
    "FRONTIER_IDLE_SECONDS": 0.3,
    "DOWNLOAD_DELAY": 0.0,
}


def main() -> int:
    job = json.loads(sys.argv[1])
    if "heartbeat" in job:
        ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = job["heartbeat"]  # seconds
    process = CrawlerProcess({**BASE, **job["settings"]})
    crawler = process.create_crawler(FollowSpider)
    process.crawl(crawler, **job["spider"])
    process.start()
    print(json.dumps({k: v for k, v in crawler.stats.get_stats().items() if isinstance(v, (int, str))}))
    return 1 if process.bootstrap_failed else 0


if __name__ == "__main__":
    sys.exit(main())
