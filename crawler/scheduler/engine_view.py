"""The running engine as this crawler sees it: the one file that reads private parts of Scrapy's engine and scraper.

`tests/scheduler/test_engine_view.py` has a test for each private part, so that an upgrade of Scrapy that moves one
fails there by name. Those of the wire are in `crawler/downloader/private.py`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader import Downloader
    from scrapy.core.engine import ExecutionEngine
    from scrapy.core.scraper import Slot
    from scrapy.crawler import Crawler


class EngineView:
    """What scheduler, spiders and settlement want to know of a crawler's engine, before, in and after its run."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @property
    def is_open(self) -> bool:
        """True from the moment the engine has taken the spider until it has closed it."""
        return self._slot is not None

    @property
    def closing(self) -> bool:
        """True from the moment the spider begins to close."""
        slot = self._slot
        return slot is not None and slot.closing is not None

    def wake(self) -> None:
        """Let the engine ask for requests, or notice that there are none left."""
        if (slot := self._slot) is not None:
            slot.nextcall.schedule()

    def cut_off(self) -> None:
        """End the process's reactor whatever is in hand, as a second signal does: an engine that closes may wait."""
        from twisted.internet import reactor  # late: which one is decided by the settings

        self._ending = asyncio.ensure_future(
            self._crawler.stop_async()
        )  # begun; a reactor that stops waits for no other
        asyncio.get_running_loop().call_soon(lambda: reactor.stop())  # type: ignore[misc]  # noqa: PLW0108

    def works_on(self, request: Request) -> bool:
        """True while the engine has this request in hand: from `next_request` until its response was scraped."""
        slot = self._slot
        return slot is not None and request in slot.inprogress

    def room(self, most: int) -> int:
        """How many requests the engine can begin now, of `most` at a time; 0 where it is paused or has to wait."""
        engine = self._crawler.engine
        if engine is None or engine.paused or engine.scraper.slot is None or engine.needs_backout():
            return 0
        return most - len(engine.downloader.active)

    @property
    def is_scraping(self) -> bool:
        """True while a document is in the pipelines or a response waits for its callback."""
        engine = self._crawler.engine
        return engine is not None and engine.scraper.slot is not None and not engine.scraper.slot.is_idle()

    @property
    def in_pipelines(self) -> int:
        """How many documents are on their way through the pipelines."""
        return int(self._scraper_slot.itemproc_size)

    async def scrape(self, item: Any) -> None:
        """Send an item through the pipelines without a response.

        Scrapy 2.19 looks whether a closing spider is through only where a response ends; this may end after the last.
        `expect` has to be called first, in the same turn of the loop that learned of the item.
        """
        slot, scraper = self._scraper_slot, self._engine.scraper
        slot.itemproc_size -= 1  # counted by the scraper itself from here on
        await scraper.start_itemproc_async(item, response=None)
        if slot.closing is not None and not slot.closing.called:
            scraper._check_if_closing()

    def expect(self) -> None:
        """An item for `scrape` is on its way: a closing spider waits for it."""
        self._scraper_slot.itemproc_size += 1

    @property
    def _engine(self) -> ExecutionEngine:
        engine = self._crawler.engine
        assert engine is not None, "there is no engine before the crawl"
        return engine

    @property
    def _slot(self) -> Any:
        engine = self._crawler.engine
        return engine._slot if engine is not None else None

    @property
    def _scraper_slot(self) -> Slot:
        slot = self._engine.scraper.slot
        assert slot is not None, "the scraper is open while the spider is"
        return slot


def open_wide(downloader: Downloader) -> None:
    """Take delay, jitter and limits by domain from Scrapy's downloader, which keeps them per process."""
    downloader._delay = 0.0
    downloader._jitter = 0.0
    downloader.ip_concurrency = 0
    downloader.domain_concurrency = max(1, downloader.total_concurrency)
