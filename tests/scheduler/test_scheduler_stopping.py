"""A crawl that cannot go on is closed, and never before it is open: Scrapy's components would raise."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from scrapy import signals
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import MemoryStatsCollector

from crawler.scheduler.stopping import stop_crawl
from crawler.statkeys import FATAL


class Opening:
    """A crawler whose spider is being opened; `closed` has the reasons for which it was closed."""

    def __init__(self) -> None:
        self.engine, self.spider, self.closed = self, object(), list[str]()
        self.stats = MemoryStatsCollector(SimpleNamespace(settings=Settings()))
        self.signals = SignalManager(self)

    async def close_spider_async(self, reason: str) -> None:
        self.closed.append(reason)

    def open(self) -> None:
        self.stats.set_value("start_time", 1)  # as Scrapy's own extension does at this signal
        self.signals.send_catch_log(signals.spider_opened, spider=self.spider)


def test_a_spider_that_is_being_opened_is_closed_once_it_is_open_and_an_open_one_at_once() -> None:
    async def scenario() -> None:
        crawler = Opening()
        stop_crawl(crawler, "the name is taken", "storage_error")
        await asyncio.sleep(0)
        assert crawler.closed == []
        crawler.open()
        await asyncio.sleep(0)
        assert crawler.closed == ["storage_error"]
        assert crawler.stats.get_value(FATAL) == "the name is taken"
        opened = Opening()
        opened.open()
        stop_crawl(opened, "the disk is full")
        await asyncio.sleep(0)
        assert opened.closed == ["own_trouble"]

    asyncio.run(scenario())
