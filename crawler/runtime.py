"""Between Scrapy and the rooms: the crawl's typed configuration, read once per crawler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from scrapy.settings import SETTINGS_PRIORITIES

from crawler import config
from crawler.config import Config

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


def config_of(crawler: Crawler) -> Config:
    """The crawl's configuration; every component of one crawler gets the same object.

    Raises: ConfigError listing all problems at once.
    """
    cached = crawler.__dict__.get("_corpus_config")
    if cached is None:
        cached = crawler.__dict__["_corpus_config"] = load(crawler.settings)
    return cast("Config", cached)


def load(settings: BaseSettings) -> Config:
    """Read Scrapy's settings. What nobody set is our default, not Scrapy's. Raises: ConfigError."""

    def getter(name: str) -> Any:
        priority = settings.getpriority(name)
        return None if priority is None or priority <= SETTINGS_PRIORITIES["default"] else settings.get(name)

    return config.load(getter)
