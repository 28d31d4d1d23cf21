"""Renders pages in Chromium through scrapy-playwright: started when first needed, bounded, started anew after a while.

The browser has no network: its proxy is a port that this process keeps closed, and what a page asks for is answered by
`page.py`. So a request that nobody intercepts (WebRTC, a worker's, a prefetch) reaches nothing.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as BrowserError
from playwright.async_api import TimeoutError as BrowserTimeoutError
from scrapy import Request, signals
from scrapy_playwright.page import PageMethod

from crawler.browser import driver
from crawler.browser.fetch import PageFetcher, download_of
from crawler.browser.find import HOW_TO
from crawler.browser.page import DrawnError, PageLimits, PageRun, TooLargeError, Visit
from crawler.browser.place import Place
from crawler.browser.private import Browser
from crawler.browser.watch import Watch
from crawler.document import DropReason, Reason, Rendering
from crawler.policy.facts import user_agent
from crawler.policy.headers import escaped
from crawler.runtime import config_of
from crawler.scheduler.scheduler import frontier_of
from crawler.statkeys import BROWSER_MS
from crawler.version import __version__

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

QUEUE = 4
"""Pages for each place in the browser that may wait for it; further ones of such domains are not fetched yet."""
CLOSE_SECONDS = 10.0
"""How long the browser may take to close a page or itself, before it is killed."""
_ARGUMENTS = (
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",  # WebRTC goes over UDP, past a proxy
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # what older versions call it
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-gpu",
    "--disable-features=SpareRendererForSitePerProcess",  # a process for a page that may come: it costs one a page
    "--no-pings",
    "--no-first-run",
)


class BrowserMissingError(Exception):
    """The browser does not start. `how_to`: what can be done about it."""

    def __init__(self, what: str, how_to: str = HOW_TO) -> None:
        super().__init__(what)
        self.how_to = how_to


class Renderer:
    """The one browser of a worker. Playwright speaks of it in milliseconds, everything here in seconds."""

    def __init__(self, crawler: Crawler, path: str) -> None:
        config = config_of(crawler)
        self._config, self._path = config.browser, path
        self._crawler = crawler
        self._identity = user_agent(config.crawl.product_token, __version__, config.crawl.contact)
        policy = config.policy
        self._fetcher = PageFetcher(
            download_of(crawler), policy.download_timeout_seconds, policy.max_body_bytes, policy.optout_profile
        )
        self._limits = PageLimits(
            self._config.max_requests,
            self._config.max_scrolls,
            self._config.settle_seconds,
            config.policy.max_body_bytes,
            self._config.capture_bytes,
        )
        self._room = asyncio.Semaphore(self._config.concurrency)
        self._starting = asyncio.Lock()
        self._watch = Watch(self._config.cpu_seconds, self._config.memory_mb)
        self._free = [Place(f"place-{number}", self._context_options()) for number in range(self._config.concurrency)]
        self._since_start = self._active = 0
        self._asked = 0  # pages that are drawn or wait for it
        self._page_seconds = 1.0  # what a page takes, of late
        self._idle = asyncio.Event()
        self._browser: Browser | None = None
        self._nowhere: socket.socket | None = None
        self._watching: asyncio.Task[None] | None = None
        self._resting: asyncio.Task[None] | None = None
        crawler.signals.connect(self.close, signals.spider_closed)

    async def render(self, visit: Visit) -> Rendering:
        """What the browser makes of a page; `facts["failed"]` says why there is nothing.

        Raises: BrowserMissingError where no browser starts.
        """
        self._asked += 1
        if self._resting is not None:
            self._resting.cancel()
        try:
            async with self._room:
                return await self._in_room(visit)
        finally:
            self._asked -= 1
            if not self._asked and self._config.idle_seconds:
                self._resting = asyncio.ensure_future(self._rest())

    def wait(self) -> float:
        """Seconds until a further page had its turn; 0 while so few wait that it may as well be fetched now."""
        full = self._asked >= QUEUE * self._config.concurrency
        return self._asked * self._page_seconds / self._config.concurrency if full else 0.0

    async def _in_room(self, visit: Visit) -> Rendering:
        browser = await self._started()
        self._active += 1
        self._idle.clear()
        place, start, run = self._free.pop(), time.monotonic(), PageRun(visit, self._limits, self._fetcher)
        clean = False
        try:
            rendering = await self._rendered(browser, run, place)
            clean = "failed" not in rendering.facts
            return rendering
        finally:
            await self._within(place.leave(browser, clean=clean))
            self._free.append(place)
            seconds = time.monotonic() - start
            self._page_seconds += 0.2 * (seconds - self._page_seconds)
            if self._crawler.stats is not None:
                self._crawler.stats.inc_value(BROWSER_MS, round(1000 * seconds))
            if (scheduler := frontier_of(self._crawler)) is not None:
                scheduler.charge(visit.url, browser_ms=1000 * seconds)
            self._active -= 1
            self._since_start += 1
            if not self._active:
                self._idle.set()

    async def _rendered(self, browser: Browser, run: PageRun, place: Place) -> Rendering:
        try:
            async with asyncio.timeout(run.visit.timeout):
                await place.take(browser, run)
                await browser.load(_request(run, place.name))
        except DrawnError:
            pass
        except Exception as error:
            reason, detail = self._failure(run, error)
            return Rendering(b"", run.facts() | {"failed": [reason.value, detail]})
        return Rendering(run.html, run.facts(), run.captures.kept)

    def _failure(self, run: PageRun, error: Exception) -> tuple[Reason, str]:
        if isinstance(error, TooLargeError):
            return DropReason.TOO_LARGE, f"more than {self._limits.characters} characters in the browser"
        if run.crashed or not self._is_running():
            return self._watch.why()
        if run.download:
            return DropReason.NOT_TEXT, "it starts a download"
        if isinstance(error, (TimeoutError, BrowserTimeoutError)):
            return DropReason.BROWSER_TIMEOUT, f"longer than {run.visit.timeout:g} s"
        if not isinstance(error, BrowserError):
            logger.warning("rendering %s failed", run.visit.url, exc_info=error)
        return DropReason.BROWSER_CRASHED, escaped(str(error).partition("\n")[0], 200)

    def _context_options(self) -> dict[str, Any]:
        return {"user_agent": self._identity, "service_workers": "block", "accept_downloads": False}

    # --- life ------------------------------------------------------------------------------------------------------
    async def _started(self) -> Browser:
        async with self._starting:
            if self._since_start >= self._config.recycle_pages:
                await self._recycle()
            if self._browser is None:
                self._browser = await self._start()
            try:
                await self._browser.ensure_running()
            except BrowserError as error:
                raise BrowserMissingError(f"{self._path} does not start ({error.message.splitlines()[0]})") from error
            return self._browser

    async def _start(self) -> Browser:
        if fault := await asyncio.to_thread(driver.driver_fault):
            raise BrowserMissingError(fault, driver.HOW_TO)
        self._nowhere = _closed_port()
        browser = Browser(self._crawler, self._launch_options(self._nowhere.getsockname()[1]), 1)
        try:
            await browser.open()
        except Exception as error:
            raise BrowserMissingError(f"Playwright does not start ({error})") from error
        self._watching = asyncio.ensure_future(self._watch.run())
        return browser

    def _launch_options(self, port: int) -> dict[str, Any]:
        heap = f"--js-flags=--max-old-space-size={self._config.memory_mb}"
        return {
            "executable_path": self._path,
            "chromium_sandbox": self._config.sandbox,
            "args": [*_ARGUMENTS, heap, self._watch.mark],
            "proxy": {"server": f"http://127.0.0.1:{port}", "bypass": "<-loopback>"},
        }

    async def _recycle(self) -> None:
        """A new browser: what the old one has gathered is given back. Pages that are in work end first."""
        while self._active:
            await self._idle.wait()
        self._since_start = 0
        if self._browser is not None:
            await self._within(self._browser.close_browser())

    async def _rest(self) -> None:
        """Close the browser after a while in which no page comes; who comes later starts it again."""
        await asyncio.sleep(self._config.idle_seconds)
        async with self._starting:
            if not self._asked and self._browser is not None and self._is_running():
                self._since_start = 0
                await self._within(self._browser.close_browser())

    async def _within(self, work: Any) -> None:
        """Wait for the browser, or kill it where it does not answer."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                with suppress(BrowserError):
                    await work
        except TimeoutError:
            logger.warning("the browser does not answer; restarting it")
            await asyncio.to_thread(self._watch.kill)

    def _is_running(self) -> bool:
        browser = getattr(self._browser, "browser", None)
        return browser is not None and browser.is_connected()

    async def close(self) -> None:
        """End the browser, and whatever is left of it."""
        browser, self._browser = self._browser, None
        for task in (self._watching, self._resting):
            if task is not None:
                task.cancel()
        if browser is not None:
            await self._within(browser.close())
            await asyncio.to_thread(self._watch.kill)
        if self._nowhere is not None:
            self._nowhere.close()


def _request(run: PageRun, context: str) -> Request:
    meta = {
        "playwright": True,
        "playwright_context": context,
        "playwright_page_init_callback": run.prepare,
        "playwright_page_methods": [PageMethod(run.settle)],
        "playwright_page_goto_kwargs": {"wait_until": "commit", "timeout": 1000 * run.visit.timeout},
        "playwright_include_page": True,  # the page is closed here, whatever became of it
    }
    return Request(run.visit.url, dont_filter=True, meta=meta)


def _closed_port() -> socket.socket:
    """A port that is taken and never listened on: whoever connects to it is refused."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    return taken
