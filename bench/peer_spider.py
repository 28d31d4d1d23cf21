"""The peer of three benches: a site crawled with scrapy-redis 0.9.1 as its documentation shows it.

Shared scheduler and duplicate filter, a persistent queue, robots.txt obeyed. Run outside the project with `scrapy
runspider`. Arguments: `hosts` (comma-separated); `output`, a file that takes one JSON line a page, flushed at once
(without it only links are followed); `ends=idle`, to end as soon as nothing is left to do (else: what
MAX_IDLE_TIME_BEFORE_CLOSE says).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy_redis.spiders import RedisSpider

SEEDS = "peer:start_urls"


class Lines:
    """Item pipeline: one JSON object a line."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Lines:
        return cls(Path(crawler.spider.output))  # type: ignore[union-attr]

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(item) + "\n")
        return item


class PeerSpider(RedisSpider):
    """Follows every link inside the hosts and, where asked to, writes down the address of every page."""

    name = "peer"
    redis_key = SEEDS
    links = LinkExtractor()
    custom_settings = {  # noqa: RUF012  # Scrapy's own interface
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_PERSIST": True,
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "ITEM_PIPELINES": {Lines: 300},
        "ROBOTSTXT_OBEY": True,
        "TELNETCONSOLE_ENABLED": False,
    }

    def __init__(self, *args: Any, hosts: str, output: str = "", ends: str = "", **kwargs: Any) -> None:
        self.allowed_domains = hosts.split(",")
        self.output, self.ends_when_idle = output, ends == "idle"
        super().__init__(*args, **kwargs)

    def parse(self, response: Response, **_: Any) -> Iterator[Request | dict[str, str]]:
        if self.output:
            yield {"url": response.url}
        if isinstance(response, HtmlResponse):
            for link in self.links.extract_links(response):
                if urlsplit(link.url).hostname in self.allowed_domains:
                    yield Request(link.url)

    def spider_idle(self) -> None:
        """Everything is in the queue after the seeds: an idle spider may be done."""
        with contextlib.suppress(*([DontCloseSpider] if self.ends_when_idle else [])):
            super().spider_idle()
