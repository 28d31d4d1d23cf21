"""Plain Scrapy that only follows links, for `bench.speed.links`: scheduler and duplicate filter in memory."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.linkextractors import LinkExtractor


class PlainLinkSpider(scrapy.Spider):
    """Follows links inside the seeded hosts, as Scrapy's documentation does it."""

    name = "links-plain"
    links = LinkExtractor()

    def __init__(self, urls: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = urls.split(",")
        self.hosts = {urlsplit(url).netloc for url in self.start_urls}

    def parse(self, response: Any) -> Any:
        if isinstance(response, scrapy.http.HtmlResponse):
            for link in self.links.extract_links(response):
                if urlsplit(link.url).netloc in self.hosts:
                    yield scrapy.Request(link.url)
