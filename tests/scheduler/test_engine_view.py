"""Each private part of Scrapy's engine that `scheduler/engine_view.py` relies on, under its own name."""

from __future__ import annotations

import asyncio
import inspect
import logging
from types import SimpleNamespace

import pytest
from scrapy import Request, Spider
from scrapy.core.downloader import Downloader
from scrapy.core.engine import ExecutionEngine, _Slot
from scrapy.core.scraper import Scraper, Slot

from crawler.scheduler.engine_view import EngineView, open_wide


def slot() -> _Slot:
    """Scrapy's own, made inside an event loop as it wants to be."""

    async def made() -> _Slot:
        return _Slot(True, SimpleNamespace(schedule=lambda: None, cancel=lambda: None), SimpleNamespace())

    return asyncio.run(made())


def seen(**engine: object) -> EngineView:
    return EngineView(SimpleNamespace(engine=SimpleNamespace(**engine)))


def test_engine_slot_is_none_until_the_spider_is_opened_and_after_it_was_closed() -> None:
    source = inspect.getsource(ExecutionEngine)
    assert "self._slot: _Slot | None = None" in source
    assert "self._slot = _Slot(" in inspect.getsource(ExecutionEngine.open_spider_async)
    assert not seen(_slot=None).is_open
    assert seen(_slot=object()).is_open


def test_engine_slot_closing_is_none_until_the_spider_begins_to_close() -> None:
    async def scenario(mine: _Slot) -> None:
        assert mine.closing is None
        assert not seen(_slot=mine).closing
        mine.inprogress.add(Request("http://a.example/"))  # type: ignore[arg-type]
        waiting = asyncio.ensure_future(mine.close())
        await asyncio.sleep(0)
        assert seen(_slot=mine).closing
        waiting.cancel()

    asyncio.run(scenario(slot()))


def test_engine_slot_inprogress_has_the_very_request_from_its_start_to_its_end() -> None:
    request, other = Request("http://a.example/"), Request("http://a.example/")
    mine = slot()
    mine.add_request(request)
    assert seen(_slot=mine).works_on(request)
    assert not seen(_slot=mine).works_on(other)
    mine.remove_request(request)
    assert not seen(_slot=mine).works_on(request)
    assert "add_request(request)" in inspect.getsource(ExecutionEngine)


def test_engine_slot_nextcall_makes_the_engine_ask_again() -> None:
    asked = []
    mine = slot()
    mine.nextcall = SimpleNamespace(schedule=lambda: asked.append(1))
    seen(_slot=mine).wake()
    assert asked == [1]
    assert "_start_scheduled_requests" in inspect.getsource(ExecutionEngine.open_spider_async)


def test_engine_scraper_slot_tells_responses_and_items_in_work() -> None:
    mine = Slot()
    view = seen(scraper=SimpleNamespace(slot=mine))
    assert not view.is_scraping
    view.expect()
    assert mine.itemproc_size == 1
    assert view.is_scraping
    mine.itemproc_size = 0
    mine.queue.append((None, None, None))  # type: ignore[arg-type]
    assert view.is_scraping


def test_engine_room_is_what_the_downloader_has_free_and_nothing_while_it_waits() -> None:
    def room(**changes: object) -> int:
        engine = {
            "paused": False,
            "scraper": SimpleNamespace(slot=Slot()),
            "needs_backout": lambda: False,
            "downloader": SimpleNamespace(active={1, 2}),
        }
        return seen(**{**engine, **changes}).room(5)

    assert room() == 3
    assert room(paused=True) == 0
    assert room(needs_backout=lambda: True) == 0
    assert room(scraper=SimpleNamespace(slot=None)) == 0
    source = inspect.getsource(ExecutionEngine)
    assert all(f"self.{name}" in source for name in ("paused", "scraper", "downloader"))
    assert callable(ExecutionEngine.needs_backout)


def test_scraper_check_if_closing_fires_the_slot_that_a_closing_spider_waits_for() -> None:
    from twisted.internet.defer import Deferred

    fired = []
    scraper = Scraper.__new__(Scraper)
    scraper.slot, scraper.crawler = Slot(), SimpleNamespace(spider="spider")
    scraper.slot.closing = Deferred()
    scraper.slot.closing.addCallback(fired.append)
    scraper.slot.itemproc_size = 1
    scraper._check_if_closing()
    assert not fired
    scraper.slot.itemproc_size = 0
    scraper._check_if_closing()
    assert fired == ["spider"]


@pytest.mark.parametrize("closing", [False, True])
def test_scraper_counts_an_item_itself_and_does_not_look_whether_the_spider_closes(closing: bool) -> None:
    """Where Scrapy looks by itself some day, `EngineView.scrape` need not any more."""
    from twisted.internet.defer import Deferred

    sizes, fired = [], []

    class Processors:
        async def process_item_async(self, item: object) -> object:
            sizes.append(scraper.slot.itemproc_size)
            return item

    async def quiet(*_: object, **__: object) -> None:
        pass

    async def scenario() -> None:
        view = seen(scraper=scraper)
        view.expect()
        await view.scrape("item")

    scraper = Scraper.__new__(Scraper)
    scraper.slot = Slot()
    scraper.crawler = SimpleNamespace(spider=Spider("x"))
    scraper.itemproc, scraper._itemproc_has_async = Processors(), {"process_item": True}
    scraper.signals = SimpleNamespace(send_catch_log_async=quiet)
    scraper.logformatter = SimpleNamespace(scraped=lambda *_: {"level": logging.DEBUG, "msg": "", "args": {}})
    if closing:
        scraper.slot.closing = Deferred()
        scraper.slot.closing.addCallback(fired.append)
    asyncio.run(scenario())
    assert sizes == [1]
    assert scraper.slot.itemproc_size == 0
    assert bool(fired) is closing
    assert "_check_if_closing" not in inspect.getsource(Scraper.start_itemproc_async)


def test_downloader_delay_jitter_and_limits_by_domain_are_what_its_slots_are_made_of() -> None:
    downloader = Downloader.__new__(Downloader)
    downloader.slots, downloader.per_slot_settings = {}, {}
    downloader.total_concurrency, downloader.domain_concurrency, downloader.ip_concurrency = 7, 2, 1
    downloader._delay, downloader._jitter = 3.0, 0.5
    downloader._start_slot_gc = lambda: None  # type: ignore[method-assign]
    open_wide(downloader)
    _, mine = downloader._get_slot(Request("http://a.example/", meta={"download_slot": "a"}))
    assert (mine.delay, mine.jitter, mine.concurrency) == (0.0, 0.0, 7)
    source = inspect.getsource(Downloader.__init__)
    assert all(f"self.{name}" in source for name in ("_delay", "_jitter", "ip_concurrency", "domain_concurrency"))
