"""A crawl that cannot go on stops with one sentence, and with what it has in hand given back."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scrapy import signals

from crawler.statkeys import FATAL

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

log = logging.getLogger(__name__)
_stopping: set[asyncio.Task[None]] = set()  # held here, or they would be collected


def stop_crawl(crawler: Crawler, sentence: str, reason: str = "own_trouble") -> None:
    """Say it once, and close the spider: exit code 1. `reason` is Scrapy's name of the end. Harmless when repeated."""
    stats = crawler.stats
    assert stats is not None
    if stats.get_value(FATAL):
        return
    stats.set_value(FATAL, sentence)
    log.error("the crawl stops: %s", sentence)
    close_soon(crawler, reason)


def close_soon(crawler: Crawler, reason: str) -> None:
    """Close the spider without waiting for it; one that is being opened as soon as it is open.

    Scrapy tells its components of the end of a spider of whose beginning they have not heard, and they raise.
    """
    engine, stats = crawler.engine, crawler.stats
    if engine is None or engine.spider is None or stats is None:
        return
    if "start_time" in stats.get_stats():
        _close(engine, reason)
    else:
        crawler.signals.connect(lambda: _close(engine, reason), signals.spider_opened, weak=False)


def _close(engine: ExecutionEngine, reason: str) -> None:
    if engine.spider is not None:
        # none of the scheduler's tasks: they are cancelled meanwhile, and a close that is cancelled leaves the engine
        task = asyncio.ensure_future(engine.close_spider_async(reason=reason))
        _stopping.add(task)
        task.add_done_callback(_closed)


def _closed(task: asyncio.Task[None]) -> None:
    _stopping.discard(task)
    _ = task.cancelled() or task.exception()
