"""The private parts of scrapy-playwright that the renderer stands on: the one file that names them.

`tests/browser/test_browser_private.py` has a test for each, so that an upgrade that moves one fails there by name.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as BrowserError
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class Browser(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]  # ships no types
    """scrapy-playwright's handler, started when first needed and not with the engine; one for http and https."""

    def __init__(self, crawler: Crawler, launch: dict[str, Any], pages: int) -> None:
        super().__init__(crawler)
        self.config.launch_options = launch
        self.config.max_pages_per_context = pages
        self.config.target_closed_max_retries = 0  # a page that kills its browser gets no second one
        self.config.restart_disconnected_browser = True

    async def open(self) -> None:
        """Start Playwright, which starts the browser."""
        await self._launch()

    async def ensure_running(self) -> None:
        """Start the browser where it does not run: at first, when it was recycled, when it died."""
        await self._maybe_launch_browser()

    async def load(self, request: Request) -> Response:
        """Open a page as `request.meta` says. Raises what Playwright and the page's callbacks raise."""
        response: Response = await self._download_request(request)
        return response

    def context(self, name: str) -> BrowserContext | None:
        """The context of a name, where it is open."""
        wrapper = self.context_wrappers.get(name)
        return None if wrapper is None else wrapper.context

    async def open_context(self, name: str, options: dict[str, Any]) -> BrowserContext:
        """A new context under a name that none has. Raises what Playwright raises."""
        wrapper = await self._create_browser_context(name, options, self._crawler.spider)
        context: BrowserContext = wrapper.context
        return context

    async def close_context(self, name: str) -> None:
        """Close the pages of a context and forget all that they left."""
        wrapper = self.context_wrappers.get(name)
        if wrapper is not None:
            with suppress(BrowserError):
                await wrapper.context.close()

    async def close_browser(self) -> None:
        """End the browser; the next page starts another."""
        browser = getattr(self, "browser", None)
        if browser is not None:
            with suppress(BrowserError):
                await browser.close()
