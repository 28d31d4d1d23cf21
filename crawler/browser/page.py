"""One page in the browser: every request it makes is answered or refused here, until it is quiet.

The page's own response is the one that the crawler has fetched and judged; the browser gets it from us and never asks
the site for a document. A script that leads elsewhere is a redirect: its target is an entry of the frontier.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

from playwright.async_api import Error as BrowserError
from playwright.async_api import TimeoutError as BrowserTimeoutError

from crawler.browser.capture import Captures
from crawler.browser.fetch import Fetched, PageFetcher, RefusedError
from crawler.browser.requests import EMPTY, METHODS, refusal

if TYPE_CHECKING:
    from playwright.async_api import Page, Request, Route, WebSocketRoute

QUIET_SECONDS = 0.4
"""Without a request or a change: nothing more is to come."""
LOOK_SECONDS = 0.2
_SHOWN = """const roots = [], frames = [], look = within => {
        for (const e of within.querySelectorAll('*')) {
            if (e.shadowRoot) { roots.push(e.shadowRoot); look(e.shadowRoot); }
            else if (e.localName === 'iframe' && (e.hasAttribute('srcdoc') || !/^https?:/.test(e.src))
                && e.contentDocument?.body) { frames.push(e); look(e.contentDocument.body); } } };
    if (!document.documentElement) return %s;
    look(document);"""
"""Open shadow roots, and frames that a script has written or that stand in the page, each within others, too.

Here and below lists are only filled and walked: what else they can do a page's own library may have changed.
"""
_MEASURE = f"""() => {{ {_SHOWN % "[0, 0]"}
    let length = document.documentElement.textContent.length;
    for (const root of roots) length += root.textContent.length;
    for (const frame of frames) length += frame.contentDocument.body.textContent.length;
    return [document.getElementsByTagName('*').length + roots.length + frames.length, length]; }}"""
_HTML = f"""most => {{ {_SHOWN % "''"}
    for (let at = frames.length - 1; at >= 0; at--) {{  // those within others first
        const shown = document.createElement('div'), body = frames[at].contentDocument.body;
        while (body.firstChild) shown.appendChild(body.firstChild);
        frames[at].replaceWith(shown);
    }}
    const whole = document.documentElement, end = '</html>';
    let html = whole.outerHTML;
    if (roots.length && html.endsWith(end))
        html = whole.cloneNode(false).outerHTML.slice(0, -end.length) + whole.getHTML({{shadowRoots: roots}}) + end;
    const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '';
    return html.length > most ? null : type + html; }}"""
"""The document with its open shadow roots as `<template shadowrootmode>` (HTML standard, 8.4.2: getHTML) and with what
its frames without an address show in their place; null where it has more characters than `most`."""
_SCROLL = """() => { const e = document.scrollingElement; if (!e) return false;
    window.scrollTo(0, e.scrollHeight); window.dispatchEvent(new Event('scroll')); return true; }"""
BEFORE_SCRIPTS = """window.open = () => null; window.print = history.back = history.go = () => undefined;
    window.navigation?.addEventListener('navigate', e => {
        if (e.cancelable && !/^https?:/.test(e.destination.url)) e.preventDefault(); });"""
"""Run before the page's own scripts: nobody is there to look at a second window, to go back or to write a mail.

An address for which the browser makes no request (`mailto:`, `about:`, `blob:`, another program's scheme) is not led
to; all others `PageRun` answers.
"""
STAY = 204
"""The status that a browser answers by showing what it showed (RFC 9110, 15.3.5)."""


class TooLargeError(Exception):
    """The document has grown beyond the limit of a body."""


class DrawnError(Exception):
    """The page is drawn, and `PageRun.html` has it: nothing of the browser is waited for any more."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What is to be rendered. timeout, wait: seconds by the clock; selector: CSS, of what has to be there.

    wait: before the page is looked at. wants: is the JSON at this URL to be captured?
    """

    url: str
    response: Fetched
    timeout: float
    selector: str | None = None
    wants: Callable[[str], bool] = lambda _: False
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class PageLimits:
    """How far one page may go: requests, scrolls, seconds without quiet, characters, bytes of JSON that are kept."""

    requests: int
    scrolls: int
    settle_seconds: float
    characters: int
    capture_bytes: int = 0


@dataclass
class PageRun:
    """The life of one page; scrapy-playwright calls `prepare` and `settle`. No slots: Playwright notes listeners."""

    visit: Visit
    limits: PageLimits
    fetcher: PageFetcher
    clock: Callable[[], float] = time.monotonic
    requests: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    moved_to: str | None = None
    renamed: str = ""  # the document's URL, where a script has changed it (`history.pushState`)
    html: bytes = b""
    crashed: bool = False
    settled: bool = False
    scrolls: int = 0
    download: bool = False
    captures: Captures = field(default_factory=Captures)
    _page: Page | None = None
    _served: bool = False
    _pending: int = 0
    _latest: float = 0.0  # when the latest request ended
    _strays: set[asyncio.Task[None]] = field(default_factory=set)

    async def prepare(self, page: Page, _request: object) -> None:
        """Before the page is opened: all that it asks for comes here."""
        self._page, self._latest = page, self.clock()
        page.on("crash", self._on_crash)
        page.on("dialog", lambda dialog: self._spawn(dialog.dismiss(), "dialog"))
        page.on("download", lambda download: self._spawn(download.cancel(), "download"))
        await page.route("**/*", self._on_request)
        await page.route_web_socket("**/*", self._on_web_socket)

    @property
    def is_open(self) -> bool:
        """True once the page is there: every other one of its context is a second window."""
        return self._page is not None

    def close_window(self, window: Page) -> None:
        """Nobody is there to look at it."""
        self._spawn(window.close(), "popup")

    async def settle(self, page: Page) -> None:
        """Wait until the page has what it is going to have.

        Raises: DrawnError then, because a page whose load was broken off (`window.stop()`) never says that it has
        ended; TooLargeError, and what the browser raises.
        """
        end = self.clock() + 0.8 * self.visit.timeout
        if self.visit.selector:
            with suppress(BrowserTimeoutError):
                await page.wait_for_selector(self.visit.selector, state="attached", timeout=1000 * (end - self.clock()))
        await asyncio.sleep(min(self.visit.wait, max(0.0, end - self.clock())))
        await self._quiet(page, end)
        before = await page.evaluate(_MEASURE)
        while self.scrolls < self.limits.scrolls and self.clock() < end and await page.evaluate(_SCROLL):
            await self._quiet(page, end)
            after = await page.evaluate(_MEASURE)
            if after[1] <= before[1]:
                break
            self.scrolls, before = self.scrolls + 1, after
        html = await page.evaluate(_HTML, self.limits.characters)
        if html is None:
            raise TooLargeError
        self.html = html.encode("utf-8", "replace")
        address = urldefrag(page.url)[0]
        self.renamed = address[:2083] if address != urldefrag(self.visit.url)[0] else ""
        raise DrawnError

    def facts(self) -> dict[str, Any]:
        """How it went, for the record and the archive."""
        found: dict[str, Any] = {"requests": self.requests, "settled": self.settled, "scrolls": self.scrolls}
        found |= {"refused": dict(sorted(self.refused.items()))} if self.refused else {}
        found |= self.captures.facts()
        found |= {"renamed": self.renamed} if self.renamed else {}
        return found | ({"moved_to": self.moved_to} if self.moved_to else {})

    async def _quiet(self, page: Page, end: float) -> None:
        """Wait until nothing is under way and nothing changes, at most until a time by the clock."""
        seen, since = None, self.clock()
        while self.clock() < end:
            found = await page.evaluate(_MEASURE)
            now = self.clock()
            if found != seen:
                seen, since = found, now
            if not self._pending and now - max(since, self._latest) >= QUIET_SECONDS:
                self.settled = True
                return
            if not self._pending and now - self._latest > self.limits.settle_seconds:
                break
            await asyncio.sleep(LOOK_SECONDS)
        self.settled = False

    # --- what the page asks for ----------------------------------------------------------------------------------
    async def _on_request(self, route: Route, request: Request) -> None:
        if self._leads_elsewhere(request):  # not awaited: a page that tries again and again is quiet, too
            with suppress(BrowserError):
                await route.fulfill(status=STAY)
            return
        self._pending += 1
        try:
            answer = await self._answer(request)
            await route.fulfill(status=answer.status, headers=answer.headers, body=answer.body)
        except RefusedError as error:
            self.refused[error.name] += 1
            with suppress(BrowserError):
                await route.abort("blockedbyclient")
        except BrowserError:
            pass  # the page is gone
        finally:
            self._pending -= 1
            self._latest = self.clock()

    async def _answer(self, request: Request) -> Fetched:
        """Raises: RefusedError."""
        if request.is_navigation_request():
            if not self._is_main(request):
                raise RefusedError("frame")
            self._served = True
            return self.visit.response
        if why := refusal(request.resource_type, request.method, request.url):
            raise RefusedError(why)
        if request.resource_type in EMPTY:
            return Fetched(200, {"content-type": "text/css"}, b"")
        if self.requests >= self.limits.requests:
            raise RefusedError("too_many")
        self.requests += 1
        wanted = request.method == "GET" and request.resource_type != "script" and self.visit.wants(request.url)
        headers = _passed_on(request.headers)
        found = await self.fetcher.get(request.url, request.resource_type, headers, captured=wanted)
        if found.capture is not None and self.visit.wants(found.capture.url):
            self.captures.add(found.capture, self.limits.capture_bytes)
        return found

    def _is_main(self, request: Request) -> bool:
        return self._page is not None and request.frame == self._page.main_frame

    def _leads_elsewhere(self, request: Request) -> bool:
        """True where the page is left for another one, which is noted; a form that would be sent is no address."""
        if not (self._served and request.is_navigation_request() and self._is_main(request)):
            return False
        reads = request.method in METHODS
        self.refused["navigation" if reads else "method"] += 1
        target = urldefrag(request.url)[0]
        if reads and target != urldefrag(self.visit.url)[0] and self.moved_to is None:
            self.moved_to = target[:2083]
        return True

    async def _on_web_socket(self, socket: WebSocketRoute) -> None:
        self.refused["websocket"] += 1
        with suppress(BrowserError):
            await socket.close()

    def _on_crash(self, _page: Page) -> None:
        self.crashed = True

    def _spawn(self, work: Any, name: str) -> None:
        """Do away with something that the page has opened."""
        self.refused[name] += 1
        self.download = self.download or name == "download"

        async def quietly() -> None:
            with suppress(BrowserError):
                await work

        task = asyncio.ensure_future(quietly())
        self._strays.add(task)
        task.add_done_callback(self._strays.discard)


async def refuse(route: Route) -> None:
    """Answer to a request of no page that is in work."""
    with suppress(BrowserError):
        await route.abort("blockedbyclient")


def _passed_on(headers: dict[str, str]) -> dict[str, str]:
    """Of a page's own request headers those that say what it wants; none that say who is there."""
    return {name: value for name, value in headers.items() if name in {"accept", "accept-language", "origin"}}
