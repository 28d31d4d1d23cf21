"""What a crawler has one of: made on first use, shared by all components of that crawler, gone with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from scrapy.settings import SETTINGS_PRIORITIES, default_settings

from crawler import config
from crawler.config import Config, ConfigError
from crawler.config.environment import from_environment, problems_of_environment

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

T = TypeVar("T")


class PerCrawler(Generic[T]):
    """`made(crawler)` is the one `T` of that crawler; `made.existing(crawler)` is None before anybody has asked."""

    def __init__(self, make: Callable[[Crawler], T]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[Crawler, T] = WeakKeyDictionary()
        self.__doc__ = make.__doc__

    def __call__(self, crawler: Crawler) -> T:
        """The crawler's own, made now where it has none. Raises what making it raises."""
        if crawler not in self._made:
            self._made[crawler] = self._make(crawler)
        return self._made[crawler]

    def existing(self, crawler: Crawler) -> T | None:
        """The crawler's own; None where nobody has asked for it."""
        return self._made.get(crawler)


def per_crawler(make: Callable[[Crawler], T]) -> PerCrawler[T]:
    """Decorator: call `make` once a crawler."""
    return PerCrawler(make)


@per_crawler
def config_of(crawler: Crawler) -> Config:
    """The crawl's configuration; every component of one crawler gets the same object.

    Raises: ConfigError listing all problems at once.
    """
    return load(crawler.settings)


ENVIRONMENT_PRIORITY = SETTINGS_PRIORITIES["project"] + 5
"""Above `settings.py`, below what a spider or the command line says."""


@cache
def known_settings() -> frozenset[str]:
    """What may be set from outside: every setting of the project, and Scrapy's own that are one value each."""
    plain = (str, int, float, bool, type(None))
    scrapy = {name for name, value in vars(default_settings).items() if name.isupper() and isinstance(value, plain)}
    return frozenset(config.declared()) | scrapy


def apply_environment(settings: BaseSettings) -> None:
    """Take over what the environment says (`CRAWLER_<NAME>`). Does nothing to settings that are in use already."""
    if not settings.frozen:
        for name, value in from_environment(os.environ, known_settings()).items():
            settings.set(name, value, priority=ENVIRONMENT_PRIORITY)


def load(settings: BaseSettings) -> Config:
    """Read Scrapy's settings, and before them the environment. What nobody set is our default, not Scrapy's.

    Raises: ConfigError, also where the environment names a setting that does not exist.
    """
    apply_environment(settings)
    unknown = problems_of_environment(os.environ, known_settings())

    def getter(name: str) -> Any:
        priority = settings.getpriority(name)
        return None if priority is None or priority <= SETTINGS_PRIORITIES["default"] else settings.get(name)

    try:
        found = config.load(getter)
    except ConfigError as error:
        raise ConfigError([*unknown, *error.problems], rest=error.rest) from None
    if unknown:
        raise ConfigError(unknown, rest=found)
    return found
