"""The peer of the fault and politeness benches: a site crawled with scrapy-redis 0.9.1 as its documentation shows it.

Shared scheduler and dupefilter, a persistent queue, robots.txt obeyed, one JSON lines file a worker. Two things are in
its favour: every line is flushed to the file at once, and the queue lives on a server with an append-only file.
Run outside the project with `scrapy runspider`; arguments: `hosts` (comma-separated) and `output`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy_redis.spiders import RedisCrawlSpider


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


class PeerSpider(RedisCrawlSpider):
    """Follows every link inside the hosts and writes down the address of every page."""

    name = "peer"
    redis_key = "peer:start_urls"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)
    custom_settings = {  # noqa: RUF012  # Scrapy's own interface
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_PERSIST": True,
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "ITEM_PIPELINES": {Lines: 300},
        "ROBOTSTXT_OBEY": True,
        "TELNETCONSOLE_ENABLED": False,
    }

    def __init__(self, *args: Any, hosts: str, output: str, **kwargs: Any) -> None:
        self.allowed_domains = hosts.split(",")
        self.output = output
        super().__init__(*args, **kwargs)

    def parse_start_url(self, response: Response, **_: Any) -> Iterator[dict[str, str]]:
        return self.parse_page(response)

    def parse_page(self, response: Response) -> Iterator[dict[str, str]]:
        yield {"url": response.url}
