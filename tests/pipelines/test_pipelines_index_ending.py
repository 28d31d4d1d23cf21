"""A replay has no frontier that looks after it: the index's server is looked at all the same."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from crawler.pipelines import duplicate_index
from crawler.pipelines.duplicate_index import IndexWatch
from crawler.scheduler.ending import PATIENCE_SECONDS
from crawler.scheduler.engine_view import EngineView
from crawler.statkeys import FATAL


def test_a_replay_that_failed_is_cut_off_where_the_server_of_its_index_stays_away(monkeypatch: Any) -> None:
    cut = asyncio.Event()
    monkeypatch.setattr(duplicate_index, "_LOOK_SECONDS", 0)
    monkeypatch.setattr(duplicate_index, "index_of", lambda crawler: index)
    monkeypatch.setattr(EngineView, "cut_off", lambda view: cut.set())
    index, slot = SimpleNamespace(away_seconds=PATIENCE_SECONDS + 1), SimpleNamespace(closing=None)
    scraper = SimpleNamespace(slot=SimpleNamespace(itemproc_size=2))
    settings = Settings({"SCHEDULER": "scrapy.core.scheduler.Scheduler"})
    stats = MemoryStatsCollector(SimpleNamespace(settings=settings))  # type: ignore[arg-type]
    crawler: Any = SimpleNamespace(settings=settings, stats=stats, engine=SimpleNamespace(_slot=slot, scraper=scraper))

    async def scenario() -> None:
        watch = IndexWatch(crawler)
        watch.begin()
        watch.begin()
        stats.set_value(FATAL, "no space left")
        for _ in range(5):
            await asyncio.sleep(0)
        assert not cut.is_set()  # it does not close yet
        slot.closing = object()
        await asyncio.wait_for(cut.wait(), 60)
        watch.end()

    asyncio.run(scenario())
