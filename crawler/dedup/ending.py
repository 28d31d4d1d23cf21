"""A crawl that has failed waits for the server of its duplicate index no longer than for that of its frontier.

The index may have a server of its own (DEDUP_REDIS_URL), and a replay has no frontier that looks after it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from crawler.dedup.of_crawler import index_of
from crawler.runtime import per_crawler
from crawler.scheduler.ending import Ending
from crawler.scheduler.engine_view import EngineView
from crawler.scheduler.scheduler import frontier_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_LOOK_SECONDS = 1.0


class IndexWatch:
    """Looks at the index's server while the spider closes. Steps that share an index share it, too."""

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
