"""Scrapy's downloader as the frontier needs it: the frontier alone decides when a host is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader import Downloader

from crawler.scheduler.engine_view import open_wide

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class OpenDownloader(Downloader):
    """Scrapy's downloader without its per-process delays and per-domain limits: those belong to all workers together.

    `DOWNLOAD_DELAY` and `CONCURRENT_REQUESTS_PER_DOMAIN` are kept by the frontier; applied here a second time they
    would only make every page wait twice.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        open_wide(self)
