"""Seeds for a crawl that runs: `RPUSH <spider>:start_urls …` on the frontier's server, as scrapy-redis has it.

Where the key holds a stream, its entries are read with acknowledgement (`seed_stream.py`).

A crawl whose CRAWL_ID is not the default has a list of its own (`start_urls_key`), so that crawls which share a server
do not take each other's seeds. An entry is a bare URL or a JSON object `{"url": …, "priority": …}`; anything else in it
is refused, because whoever can write to the list must not steer requests. The spider says which URLs it admits. An
entry leaves the list after its URL is in the frontier: a crash in between costs nothing, two workers at the same entry
do no harm.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from redis.exceptions import ResponseError
from scrapy_redis.defaults import START_URLS_KEY

from crawler.config import CrawlConfig
from crawler.frontier.model import PutStatus
from crawler.scheduler.seed_stream import SeedStream
from crawler.scheduler.spider import AdmitsSeeds
from crawler.seeds.seed_file import behind_url
from crawler.urls.canonicalize import Address, address
from crawler.urls.link import Link, link_to

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.frontier.client import Frontier
    from crawler.server.connection import Connection

log = logging.getLogger(__name__)

_BATCH = 64
_EVERY_SECONDS = 1.0
_LONGEST_ENTRY = 10_000  # bytes


class StartUrls:
    """Takes entries of one list. `admits` is asked with each URL by its canonical name."""

    def __init__(
        self,
        connection: Connection,
        key: str,
        admits: Callable[[str], bool],
        put: Callable[[list[Link]], Awaitable[list[PutStatus]]],
        named: Callable[[str], Address | None] = address,
    ) -> None:
        self._named = named
        self._open = True
        self._connection = connection
        self._key = key
        self._admits = admits
        self._put = put
        self._looked = -_EVERY_SECONDS
        self._stream: SeedStream | None = None

    async def take(self) -> int:
        """Move what waits into the frontier, at most once a second. Returns how many entries left the list."""
        if not self._open or time.monotonic() - self._looked < _EVERY_SECONDS:
            return 0
        self._looked = time.monotonic()
        redis = self._connection.redis
        try:
            if self._stream is not None:
                return await self._take_of(self._stream)
            entries = await self._connection.patiently(lambda: redis.lrange(self._key, 0, _BATCH - 1))
        except ResponseError as error:
            kind = await self._connection.patiently(lambda: redis.type(self._key))
            if self._stream is None and kind == b"stream":
                self._stream = SeedStream(self._connection, self._key)
                return await self._take_of(self._stream)
            if kind in (b"none", b"list", b"stream"):  # it is another one by now
                self._stream = None
                return 0
            log.warning("Redis key %s is neither list nor stream (%s); ignored", self._key, error)
            self._open = False
            return 0
        found = [self._link(bytes(entry)) for entry in entries]
        await self._put([link for link in found if link is not None])
        for entry in entries:
            await self._connection.patiently(lambda entry=entry: redis.lrem(self._key, 1, entry))  # type: ignore[misc]
        return len(entries)

    async def _take_of(self, stream: SeedStream) -> int:
        entries = await stream.read(_BATCH)
        found = [self._link(entry) for _, entry in entries]
        await self._put([link for link in found if link is not None])
        await stream.done([name for name, _ in entries])
        return len(entries)

    def _link(self, entry: bytes) -> Link | None:
        try:
            to, priority = parse_entry(entry, self._named)
        except ValueError as error:
            log.warning("refused an entry of %s: %s", self._key, error)
            return None
        if not self._admits(to.name):
            log.warning("refused an entry of %s: %s is outside the crawl's scope", self._key, to.name[:200])
            return None
        return link_to(to, priority=priority)


def start_urls_of(
    crawler: Crawler,
    frontier: Frontier,
    put: Callable[[list[Link]], Awaitable[list[PutStatus]]],
    named: Callable[[str], Address | None],
) -> StartUrls | None:
    """The list of a crawl whose spider says which seeds it admits (`admits_seed(url) -> bool`); None for any other."""
    spider: object = crawler.spider
    if not isinstance(spider, AdmitsSeeds):
        return None
    key = key_in(crawler.settings, spider.name, frontier.crawl)
    return StartUrls(frontier.connection, key, spider.admits_seed, put, named)


def key_in(settings: BaseSettings, spider: str, crawl: str) -> str:
    """The list of one crawl, as the settings name it."""
    return start_urls_key(settings.get("REDIS_START_URLS_KEY", START_URLS_KEY), spider, crawl)


def start_urls_key(pattern: str, spider: str, crawl: str) -> str:
    """The list of one crawl: `corpus:start_urls`, or `corpus:start_urls:news` for the crawl `news`.

    `pattern` is scrapy-redis' REDIS_START_URLS_KEY; one that says `%(crawl)s` itself is taken as it is.
    """
    key = pattern % {"name": spider, "crawl": crawl}
    return key if crawl == CrawlConfig().crawl_id or "%(crawl)s" in pattern else f"{key}:{crawl}"


def parse_entry(entry: bytes, named: Callable[[str], Address | None] = address) -> tuple[Address, int]:
    """Address and priority of one entry. Raises: ValueError saying what was expected."""
    if len(entry) > _LONGEST_ENTRY:
        raise ValueError(f"expected at most {_LONGEST_ENTRY} bytes, found {len(entry)}")
    text = entry.decode("utf-8", "strict").strip()
    fields = _fields(text) if text.startswith("{") else {"url": text}
    if not {"url"} <= fields.keys() <= {"url", "priority"}:
        raise ValueError('expected a URL or {"url": …, "priority": …} and no other field')
    url, priority = fields["url"], fields.get("priority", 0)
    if not isinstance(url, str) or type(priority) is not int:
        raise ValueError("expected a text as url and a whole number as priority")
    if problem := behind_url(url.strip(), 'expected a URL or {"url": …, "priority": …}'):
        raise ValueError(problem)
    to = named(url)
    if to is None:
        raise ValueError("expected an http(s) URL")
    return to, priority


def _fields(text: str) -> dict[str, object]:
    try:
        pairs: list[tuple[str, object]] = json.loads(text, object_pairs_hook=list)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if len(dict(pairs)) != len(pairs):
        raise ValueError("expected each field once")
    return dict(pairs)
