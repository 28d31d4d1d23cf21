"""The crawls of one database. Each has a budget of its own for every domain; one that begins beside others says so."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.frontier.shared import CRAWLS
from crawler.number import number_of

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CrawlView:
    """A crawl and how many of its workers show signs of life."""

    name: str
    workers: int


async def crawls_beside(frontier: Frontier) -> tuple[CrawlView, ...]:
    """The other crawls in the database of this one, by name. Raises: RedisError."""
    redis, now = frontier.connection.redis, f"{1000 * frontier.now():.0f}"
    found = []
    for name in sorted(name.decode() for name in await redis.smembers(CRAWLS)):
        prefix = f"{{{name}.0}}:"
        if name != frontier.crawl and await redis.exists(f"{prefix}scope", f"{prefix}rules"):
            found.append(CrawlView(name, await redis.zcount(f"{prefix}workers", now, "+inf")))
    return tuple(found)


async def warn_of_crawls_beside(frontier: Frontier) -> None:
    """Name the crawls that are at work in this database, because a site of theirs and ours is asked by each."""
    crawls = await frontier.connection.patiently(lambda: crawls_beside(frontier))
    if at_work := [view for view in crawls if view.workers]:
        log.warning(
            "%s in this database of the server: a domain that several crawls have is asked by each at its own pace; "
            "give each a longer DOWNLOAD_DELAY, or pause the domain in all but one (gristmill frontier pause --domain)",
            ", ".join(f"crawl {view.name!r} has {number_of(view.workers, 'worker')} at work" for view in at_work),
        )
