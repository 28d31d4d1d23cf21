"""A crawl that is to end and whose server is away: who stopped it is told what it waits for; one that failed ends."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace

from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from crawler.scheduler import ending
from crawler.scheduler.ending import Ending
from crawler.statkeys import FATAL
from tests.support.places import PROJECT


class Watched:
    """An `Ending` with what it looks at: for how long the server has been away, and whether the crawl was cut off."""

    def __init__(self) -> None:
        self.stats = MemoryStatsCollector(SimpleNamespace(settings=Settings()))
        self.away_seconds, self.cuts = 0.0, 0
        self.is_open, self.closing = True, False
        self.ending = Ending(self, self.stats, self, lambda: 3)

    def cut_off(self) -> None:
        self.cuts += 1

    def look(self, away: float) -> None:
        self.away_seconds = away
        self.ending.look()


def test_a_crawl_that_somebody_stopped_says_once_what_it_waits_for_and_goes_on_waiting(caplog):
    caplog.set_level(logging.WARNING)
    watched = Watched()
    watched.look(0.0)
    assert not caplog.messages
    for away in (1.0, ending.PATIENCE_SECONDS + 1, 10_000.0):
        watched.look(away)
    (said,) = caplog.messages
    assert "settle 3 pages" in said and "a second signal" in said
    assert watched.cuts == 0


def test_a_crawl_that_failed_is_cut_off_once_and_only_when_its_server_stays_away(caplog):
    watched = Watched()
    watched.stats.set_value(FATAL, "no space left")
    for away, cuts in ((0.0, 0), (ending.PATIENCE_SECONDS - 1, 0), (ending.PATIENCE_SECONDS + 1, 1), (20.0, 1)):
        watched.look(away)
        assert watched.cuts == cuts


def test_a_crawl_that_stops_for_its_frontier_has_no_more_patience_than_one_that_cannot_write(monkeypatch):
    monkeypatch.setattr(ending, "LOOK_SECONDS", 0)
    watched = Watched()
    watched.away_seconds = ending.PATIENCE_SECONDS + 1

    async def scenario() -> None:
        watching = asyncio.ensure_future(watched.ending.run())
        watched.ending.failed()
        for watched.closing, cuts in ((False, 0), (True, 1)):
            for _ in range(5):
                await asyncio.sleep(0)
            assert watched.cuts == cuts, "it is looked at while it closes, by nobody but itself"
        watching.cancel()

    asyncio.run(scenario())


def test_a_second_server_that_is_away_is_waited_for_no_longer(caplog):
    caplog.set_level(logging.WARNING)
    watched, index = Watched(), SimpleNamespace(away_seconds=0.0)
    watched.ending.watch(index)
    watched.look(0.0)
    assert not caplog.messages
    index.away_seconds = 2.0
    watched.look(0.0)
    assert "settle 3 pages" in caplog.messages[0]
    watched.stats.set_value(FATAL, "no space left")
    watched.look(0.0)
    assert watched.cuts == 0
    index.away_seconds = ending.PATIENCE_SECONDS + 1
    watched.look(0.0)
    assert watched.cuts == 1


def test_the_documented_patience_is_the_one_that_a_failed_crawl_has():
    assert ending.PATIENCE_SECONDS == 10
    assert "it waits for it ten seconds" in (PROJECT / "docs" / "frontier.md").read_text("utf-8")
