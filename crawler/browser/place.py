"""A place is a browser context that draws one page after another and holds nothing of the pages before.

A context for each page would cost three renderer processes a page (`docs/benchmarks.md`). So a context stays, with a
blank page that keeps it warm; before a page is drawn, cookies and all storage of its origin are cleared. After a page
that failed, and after `MAX_USES`, the context is closed, and the next page gets a new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.async_api import Error as BrowserError

from crawler.browser.page import BEFORE_SCRIPTS, refuse

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page

    from crawler.browser.page import PageRun
    from crawler.browser.private import Browser

MAX_USES = 50
"""Pages that a context draws: what clearing does not reach, if there is anything, ends with it."""


class Place:
    """One of the places in which pages are drawn at the same time; `name` is that of its context.

    options: what the browser's `new_context` takes.
    """

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self.name, self._options = name, options
        self._context: BrowserContext | None = None
        self._keeper: Page | None = None
        self._session: CDPSession | None = None
        self._run: PageRun | None = None
        self._uses = 0

    async def take(self, browser: Browser, run: PageRun) -> None:
        """Make ready for a page: nothing of an earlier one is there. Raises what the browser raises."""
        if browser.context(self.name) is None or browser.context(self.name) is not self._context:
            await self._open(browser)
        assert self._context is not None
        assert self._session is not None
        await self._context.clear_cookies()
        stored = {"origin": _origin(run.visit.url), "storageTypes": "all"}
        await self._session.send("Storage.clearDataForOrigin", stored)
        self._run, self._uses = run, self._uses + 1

    async def leave(self, browser: Browser, *, clean: bool) -> None:
        """Close what the page has left; with all of the context where something went wrong, or after `MAX_USES`."""
        self._run = None
        if clean and self._uses < MAX_USES and await self._closes_pages():
            return
        self._context = None
        self._uses = 0
        await browser.close_context(self.name)

    async def _closes_pages(self) -> bool:
        """True where only the blank page is left. The open ones are closed one after the other."""
        if self._context is None or self._keeper is None:
            return False
        try:
            for page in self._context.pages:
                if page is not self._keeper:
                    await page.close()
        except BrowserError:
            return False
        return self._context.pages == [self._keeper]

    async def _open(self, browser: Browser) -> None:
        self._uses = 0
        await browser.close_context(self.name)  # one that could not be made ready
        self._context = context = await browser.open_context(self.name, self._options)
        await context.route("**/*", refuse)  # what windows ask for that are not the page in work
        await context.add_init_script(BEFORE_SCRIPTS)
        self._keeper = await context.new_page()
        self._session = await context.new_cdp_session(self._keeper)
        context.on("page", self._on_page)

    def _on_page(self, page: Page) -> None:
        """A second window; the page in work itself is none."""
        if self._run is not None and self._run.is_open:
            self._run.close_window(page)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
