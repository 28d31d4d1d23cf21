"""The one duplicate index of a crawler, shared by all pipeline steps that ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.dedup.index import DedupIndex
from crawler.dedup.make import make_index
from crawler.runtime import config_of, per_crawler
from crawler.scheduler.scheduler import has_frontier
from crawler.server.location import frontier_url, has_embedded_index

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


@per_crawler
def index_of(crawler: Crawler) -> DedupIndex:
    """The one index of a crawler, made on first use from its configuration and not yet open."""
    config = config_of(crawler)
    return make_index(config, frontier_url(config) if has_frontier(crawler) or has_embedded_index(config) else None)
