"""scrapy-redis that only follows links, for `bench.linkcrawl`: its scheduler, queue and duplicate filter."""

from __future__ import annotations

import contextlib
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.exceptions import DontCloseSpider
from scrapy.linkextractors import LinkExtractor
from scrapy_redis.spiders import RedisSpider


class RedisLinkSpider(RedisSpider):
    """Follows links inside the seeded hosts; seeds come through `redis_key`."""

    name = "links-redis"
    redis_key = "links-redis:start_urls"
    links = LinkExtractor()

    def __init__(self, urls: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.hosts = {urlsplit(url).netloc for url in urls.split(",")}

    def parse(self, response: Any) -> Any:
        if isinstance(response, scrapy.http.HtmlResponse):
            for link in self.links.extract_links(response):
                if urlsplit(link.url).netloc in self.hosts:
                    yield scrapy.Request(link.url)

    def spider_idle(self) -> None:
        """Everything is in the queue after the seeds: an idle spider is done."""
        with contextlib.suppress(DontCloseSpider):
            super().spider_idle()
