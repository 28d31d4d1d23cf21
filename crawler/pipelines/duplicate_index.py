"""The one duplicate index of a crawler: all steps share it, it is told what is free again, and watched at the end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from crawler.dedup.index import DedupIndex
from crawler.dedup.make import make_index
from crawler.runtime import config_of, per_crawler
from crawler.scheduler.ending import Ending
from crawler.scheduler.engine_view import EngineView
from crawler.scheduler.scheduler import frontier_of, has_frontier
from crawler.server.location import frontier_url, has_embedded_index

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawler.document import Document

_LOOK_SECONDS = 1.0


@per_crawler
def index_of(crawler: Crawler) -> DedupIndex:
    """The one index of a crawler, made on first use from its configuration and not yet open."""
    config = config_of(crawler)
    return make_index(config, frontier_url(config) if has_frontier(crawler) or has_embedded_index(config) else None)


async def release(crawler: Crawler, doc: Document) -> None:
    """Free the earlier text of a page that changed, moved or disappeared: what `doc.former_text` stands for.

    Else a page with that text would be a duplicate of what is gone. Only where this URL still owns it; harmless when
    repeated. Where other pages were turned away for the text, they are judged again at their next visit: one of them
    gets it.
    """
    digest, doc.former_text = doc.former_text, b""
    index = index_of.existing(crawler)  # None where the duplicate steps are switched off
    if not digest or index is None:
        return
    turned_away = await index.release(digest, doc.canonical_url or doc.url)
    frontier = frontier_of(crawler)
    if turned_away and frontier is not None:
        await frontier.texts_freed()


class IndexWatch:
    """A crawl that has failed waits for the server of its index no longer than for that of its frontier.

    The index may have a server of its own (DEDUP_REDIS_URL), and a replay has no frontier that looks after it. So this
    looks at the index's server while the spider closes. Steps that share an index share it, too.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._begun = False
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """The index is open. Harmless when repeated."""
        if self._begun:
            return
        self._begun = True
        index, scheduler = index_of(self._crawler), frontier_of(self._crawler)
        if scheduler is not None:
            scheduler.ending.watch(index)
        else:
            engine, stats = EngineView(self._crawler), self._crawler.stats
            assert stats is not None
            ending = Ending(engine, stats, index, lambda: engine.in_pipelines)
            self._task = asyncio.ensure_future(_look(engine, ending))

    def end(self) -> None:
        """Nobody asks the index any more."""
        if self._task is not None:
            self._task.cancel()


async def _look(engine: EngineView, ending: Ending) -> None:
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if engine.closing:
            ending.look()


@per_crawler
def watch_of(crawler: Crawler) -> IndexWatch:
    """The one watch of a crawler."""
    return IndexWatch(crawler)
