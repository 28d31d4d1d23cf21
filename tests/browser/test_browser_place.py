"""A place keeps its context from page to page, and gives it up after a page that failed and after so many pages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from playwright.async_api import BrowserContext, async_playwright

from crawler.browser.fetch import Fetched
from crawler.browser.page import Visit
from crawler.browser.place import MAX_USES, Place
from tests.browser.conftest import crawl, drawn, page, prose
from tests.browser.test_browser_kills import until
from tests.support.loopback_web import Answer, PolicyWeb

RUN: Any = SimpleNamespace(visit=Visit("http://127.0.0.2:1/page", Fetched(200, {}, b""), 1.0), is_open=False)


class Contexts:
    """The named contexts of a real browser, as `private.Browser` has them."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self.open: dict[str, BrowserContext] = {}

    def context(self, name: str) -> BrowserContext | None:
        return self.open.get(name)

    async def open_context(self, name: str, options: dict[str, Any]) -> BrowserContext:
        self.open[name] = await self._browser.new_context(**options)
        return self.open[name]

    async def close_context(self, name: str) -> None:
        if (context := self.open.pop(name, None)) is not None:
            await context.close()


def with_a_browser(chromium: str, test: Callable[[Any], Awaitable[None]]) -> None:
    async def body() -> None:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium, chromium_sandbox=False)
            await test(Contexts(browser))
            await browser.close()

    asyncio.run(body())


def test_a_place_keeps_its_context_until_a_page_fails(chromium: str) -> None:
    async def test(browser: Any) -> None:
        place = Place("place-0", {})
        await place.take(browser, RUN)
        first = browser.context("place-0")
        await place.leave(browser, clean=True)
        await place.take(browser, RUN)
        assert browser.context("place-0") is first
        await place.leave(browser, clean=False)
        assert browser.open == {}
        await place.take(browser, RUN)
        assert browser.context("place-0") is not first

    with_a_browser(chromium, test)


def test_a_place_gives_its_context_up_after_so_many_pages(chromium: str) -> None:
    async def test(browser: Any) -> None:
        place = Place("place-0", {})
        for _ in range(MAX_USES):
            assert browser.context("place-0") is not None or not browser.open
            await place.take(browser, RUN)
            await place.leave(browser, clean=True)
        assert browser.open == {}

    with_a_browser(chromium, test)


def test_windows_that_a_page_leaves_open_are_closed_with_it(chromium: str) -> None:
    async def test(browser: Any) -> None:
        place = Place("place-0", {})
        await place.take(browser, RUN)
        context = browser.context("place-0")
        for _ in range(3):
            await context.new_page()
        await place.leave(browser, clean=True)
        assert browser.context("place-0") is context
        assert len(context.pages) == 1

    with_a_browser(chromium, test)


def test_a_browser_that_was_started_anew_gets_a_new_context(chromium: str) -> None:
    async def test(browser: Any) -> None:
        place = Place("place-0", {})
        await place.take(browser, RUN)
        await place.leave(browser, clean=True)
        await browser.close_context("place-0")
        await place.take(browser, RUN)
        assert len(browser.context("place-0").pages) == 1

    with_a_browser(chromium, test)


BUSY = "const until = performance.now() + 500; while (performance.now() < until) Math.sqrt(until); fetch('/drawn');"
BURN = "const r = new XMLHttpRequest(); r.open('GET', '/burning', false); r.send(); for (;;) {}"
TRADES = ("ferry", "windmill", "quarry", "forge", "bakery", "tannery", "harbour", "orchard")
CPU_SECONDS = 3.0


def test_a_page_late_in_the_life_of_a_context_that_burns_cpu_is_ended_and_only_it(
    tmp_path: Path, web: PolicyWeb
) -> None:
    """The pages before it need more than the limit together: it is a limit of each page."""

    def when(condition: Callable[[], bool], answer: Answer) -> Callable[[Any], None]:
        def respond(handler: Any) -> None:
            until(condition)
            handler.send_response(200)
            handler.send_header("Content-Type", "text/html")
            handler.send_header("Content-Length", str(len(answer.body)))
            handler.end_headers()
            handler.wfile.write(answer.body)

        return respond

    asked = web.asked
    burning = page(f"<div id=root></div><script>{BURN}</script>")
    here = web.site("127.0.0.2", {f"/{trade}": drawn(prose(trade), more=BUSY) for trade in TRADES})
    burns = web.site("127.0.0.3", {"/": when(lambda: asked["127.0.0.2"].count("/drawn") == len(TRADES), burning)})
    after = web.site("127.0.0.4", {"/": when(lambda: "/burning" in asked["127.0.0.3"], drawn(prose("foundry")))})
    seeds = [f"{burns}/", f"{after}/", *(f"{here}/{trade}" for trade in TRADES)]
    settings = {"BROWSER_CONCURRENCY": 1, "BROWSER_CPU_SECONDS": CPU_SECONDS, "LOG_LEVEL": "DEBUG"}
    done = crawl(tmp_path / "corpus", web, seeds, timeout=300, **settings, DOWNLOAD_TIMEOUT=120)
    assert done.returncode == 0, done.log[-3000:]
    (burnt,) = done.rejected.values()
    assert burnt["url"] == f"{burns}/"
    assert (burnt["reason"], burnt["detail"]) == ("browser_timeout", f"more than {CPU_SECONDS:g} s of CPU time")
    assert sorted(done.kept) == sorted(seeds[1:])
    assert done.log.count("Browser context started") == 2  # one until it, one after it
